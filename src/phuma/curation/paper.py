"""Preset `paper`: the quantities that its six filters judge in every frame, and their verdict on a clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phuma.core.clip import Verdict
from phuma.core.curation_metrics import PAPER
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX
from phuma.curation.metrics import contact_score, root_jerk, support_distance

SUPPORT = [INDEX[j] for j in ("left_foot", "right_foot", "left_ankle", "right_ankle")]
POSED = ("pelvis_support", "spine_support")
"""Quantities that need the whole pose, which is computed for a few frames at a time"""


@dataclass(frozen=True, eq=False)
class FrameMetrics:
    """Quantities that preset `paper` judges, frame by frame, over a whole recording."""

    root_jerk: Array
    """(T - 3,) m/s³, jerk of the pelvis"""
    contact_score: Array
    """(T,) 0 to 1, contact ratio of the best region"""
    pelvis_height: Array
    """(T,) m, height of the pelvis"""
    pelvis_support: Array
    """(T,) m, distance of the pelvis from the base of support"""
    spine_support: Array
    """(T,) m, distance of spine1 from the base of support"""

    def __len__(self) -> int:
        return len(self.contact_score)

    def __repr__(self) -> str:
        return f"FrameMetrics({len(self)} frames)"

    def frames(self, first: int, last: int) -> FrameMetrics:
        """Return the quantities of frames first to last - 1."""
        own = slice(first, last)
        posed = self.pelvis_support[own], self.spine_support[own]
        return FrameMetrics(self.root_jerk[first : last - 3], self.contact_score[own], self.pelvis_height[own], *posed)

    def judge(self, first: int, last: int, limits: Mapping[str, float]) -> Verdict:
        """Return the verdict on frames first to last - 1."""
        clip = slice(first, last)
        values = {
            "root_jerk": self.root_jerk[first : last - 3].mean(),
            "contact_score": self.contact_score[clip].mean(),
            "pelvis_min": self.pelvis_height[clip].min(),
            "pelvis_max": self.pelvis_height[clip].max(),
            "pelvis_support": self.pelvis_support[clip].mean(),
            "spine_support": self.spine_support[clip].mean(),
        }
        return Verdict.of(PAPER, values, limits)


def posed_series(motion: HumanMotion) -> Array:
    """Return (len(POSED), T) m: the distances of the pelvis and of spine1 from the base of support."""
    base = motion.pose.position[:, SUPPORT, :2]
    lumbar = motion.body.lumbar_position(motion.pose)
    return np.stack([support_distance(point[:, :2], base) for point in (motion.root_pos, lumbar)])


def frame_metrics(motion: HumanMotion, contact: Array, posed: Array) -> FrameMetrics:
    """Return what the filters judge, from a motion on z = 0 with contact ratios (T, 4) and its `posed_series`."""
    return FrameMetrics(
        root_jerk=root_jerk(motion.root_pos, motion.fps),
        contact_score=contact_score(contact),
        pelvis_height=motion.root_pos[:, 2],
        **dict(zip(POSED, posed)),
    )
