"""Foot contacts: which parts of the soles are at the ground, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.core.arrays import checked, checked_fps
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
    """Contact ratios: the share of each region's sole points that lie within the band around the ground; by preset
    `dynamic` 0 where the region swings."""

    ratio: Array
    """(T, 4) in [0, 1]: left heel, left toe, right heel, right toe"""
    fps: float

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ratio", checked("contact ratio", self.ratio, ("frames", len(REGIONS))))
        put(self, "fps", checked_fps(self.fps))
        if len(self.ratio) and not (self.ratio.min() >= 0 and self.ratio.max() <= 1):
            raise PhumaError(f"contact ratios run from {self.ratio.min():g} to {self.ratio.max():g}; expected 0 to 1")

    def __len__(self) -> int:
        return len(self.ratio)

    def __repr__(self) -> str:
        return f"FootContacts({len(self)} frames at {self.fps:g} Hz)"

    @property
    def mask(self) -> Array:
        """Return (T, 4) bool: whether the region is in contact."""
        return in_contact(self.ratio)

    @property
    def airborne(self) -> Array:
        """Return (T,) bool: whether not one point of either sole is at the ground."""
        return self.ratio.max(axis=1) <= 0.0

    def frames(self, first: int, last: int) -> FootContacts:
        """Return frames first to last - 1, as views."""
        return replace(self, ratio=self.ratio[first:last])

    def mirror(self) -> FootContacts:
        """Return the contacts with left and right exchanged."""
        return replace(self, ratio=self.ratio[:, MIRROR_REGIONS])
