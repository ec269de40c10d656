"""Foot contacts: which parts of the soles are at the ground, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phuma.arrays import checked, checked_fps
from phuma.errors import PhumaError
from phuma.rotations import Array
from phuma.skeleton import MIRROR_REGIONS, REGIONS


@dataclass(frozen=True, eq=False)
class FootContacts:
    """Share of each region's sole points that lie within the band around the ground; by preset `dynamic` 0 where the
    region swings."""

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

    def frames(self, first: int, last: int) -> FootContacts:
        return replace(self, ratio=self.ratio[first:last])

    def mirror(self) -> FootContacts:
        return replace(self, ratio=self.ratio[:, MIRROR_REGIONS])
