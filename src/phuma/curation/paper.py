"""Preset `paper`: what its six filters look at."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.clip import Measure, Verdict
from phuma.curation.config import Limits
from phuma.rotations import Array


@dataclass(frozen=True, eq=False)
class FrameMetrics:
    """What preset `paper` looks at, frame by frame, over a whole recording."""

    root_jerk: Array
    """(T - 3,) m/s^3"""
    contact_score: Array
    """(T,) 0 to 1"""
    pelvis_height: Array
    """(T,) m"""
    pelvis_support: Array
    """(T,) m from the base of support"""
    spine_support: Array
    """(T,) m from the base of support"""

    def __len__(self) -> int:
        return len(self.contact_score)

    def __repr__(self) -> str:
        return f"FrameMetrics({len(self)} frames)"

    def judge(self, first: int, last: int, limits: Limits) -> Verdict:
        """The verdict on frames first to last - 1."""
        clip = slice(first, last)
        jerk = self.root_jerk[first : last - 3]
        return Verdict(
            (
                Measure("root_jerk", float(jerk.mean()), limits.root_jerk, "below", " m/s^3"),
                Measure("contact_score", float(self.contact_score[clip].mean()), limits.contact_score, "above"),
                Measure("pelvis_min", float(self.pelvis_height[clip].min()), limits.pelvis_min, "above", " m"),
                Measure("pelvis_max", float(self.pelvis_height[clip].max()), limits.pelvis_max, "below", " m"),
                Measure(
                    "pelvis_support", float(self.pelvis_support[clip].mean()), limits.pelvis_support, "below", " m"
                ),
                Measure("spine_support", float(self.spine_support[clip].mean()), limits.spine_support, "below", " m"),
            )
        )
