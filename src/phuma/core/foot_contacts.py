"""Foot contacts: which parts of the soles are at the ground, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.core.arrays import checked, checked_fps, same_length
from phuma.core.rotations import Array
from phuma.core.skeleton import MIRROR_REGIONS, REGIONS
from phuma.errors import PhumaError

IN_CONTACT = 0.5
"""Contact ratio above which a region is in contact"""


def in_contact(ratio: Array) -> Array:
    """Return which regions are in contact, as bool in the shape of `ratio`, whose values lie in [0, 1]."""
    return np.asarray(ratio) > IN_CONTACT


def feet_in_contact(ratio: Array) -> Array:
    """Return (T, 2) bool, left and right: whether the heel or the toe of the foot is in contact; ratio (T, 4)."""
    return np.asarray(in_contact(ratio).reshape(-1, 2, 2).any(axis=2))


@dataclass(frozen=True, eq=False)
class FootContacts:
    """Contacts of heels and toes as an estimator found them, and beside them those by height as in the paper.

    >>> contact = phuma.curate(phuma.generate("stand", 2.0).motion).contact
    >>> contact.ratio.mean(axis=0).tolist()  # left heel, left toe, right heel, right toe: a person who stands
    [1.0, 1.0, 1.0, 1.0]
    """

    ratio: Array
    """(T, 4) in [0, 1]: left heel, left toe, right heel, right toe; 1 or 0 where it is estimated that a region stands,
    and by height the share of its sole points that lie within the band around the ground"""
    fps: float
    by_height: Array | None = None
    """(T, 4) the ratios by height; None where `ratio` is that, or where no others are known"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ratio", _checked_ratio("contact ratios", self.ratio))
        put(self, "fps", checked_fps(self.fps))
        if self.by_height is not None:
            put(self, "by_height", _checked_ratio("contact ratios by height", self.by_height))
            same_length("foot contacts", self.ratio, self.by_height)

    def __len__(self) -> int:
        return len(self.ratio)

    def __repr__(self) -> str:
        return f"FootContacts({len(self)} frames at {self.fps:g} Hz)"

    @property
    def mask(self) -> Array:
        """Return (T, 4) bool: whether the region is in contact."""
        return in_contact(self.ratio)

    @property
    def paper(self) -> Array:
        """Return (T, 4): the paper's contact ratios, by height alone."""
        return self.ratio if self.by_height is None else self.by_height

    @property
    def airborne(self) -> Array:
        """Return (T,) bool: whether not one point of either sole is at the ground."""
        return self.paper.max(axis=1) <= 0.0

    def frames(self, first: int, last: int) -> FootContacts:
        """Return frames first to last - 1, as views."""
        return self._at((slice(first, last),))

    def mirror(self) -> FootContacts:
        """Return the contacts with left and right exchanged."""
        return self._at((slice(None), MIRROR_REGIONS))

    def _at(self, where: tuple[slice | Array, ...]) -> FootContacts:
        by_height = None if self.by_height is None else self.by_height[where]
        return replace(self, ratio=self.ratio[where], by_height=by_height)


def _checked_ratio(name: str, ratio: Array) -> Array:
    values = checked(name, ratio, ("frames", len(REGIONS)))
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise PhumaError(f"{name} run from {values.min():g} to {values.max():g}; expected 0 to 1")
    return values
