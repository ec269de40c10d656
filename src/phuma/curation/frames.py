"""The filters' numbers of a stored clip, frame by frame, and which frames it was rejected for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phuma.clip import Measure
from phuma.contact import FootContacts
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.metrics import contact_score, root_jerk, support_distance
from phuma.curation.paper import FrameMetrics
from phuma.curation.pipeline import SUPPORT
from phuma.motion import HumanMotion
from phuma.rotations import Array

SERIES = {"pelvis_min": "pelvis_height", "pelvis_max": "pelvis_height", "sole_slide": "sliding"}
"""Measures that are not called like the numbers that they are taken from"""


def clip_frames(motion: HumanMotion, contact: FootContacts) -> FrameMetrics:
    """The numbers of a curated motion, a clip's or a whole recording's, ground at z = 0, as `curate` had them.

    Files hold single precision, so they are the same to about 1e-6 m, and the jerk to about 0.1 m/s^3 at 30 Hz.
    """
    base = motion.pose.position[:, SUPPORT, :2]
    return FrameMetrics(
        root_jerk=root_jerk(motion.root_pos, motion.fps),
        contact_score=contact_score(contact.ratio),
        pelvis_height=motion.root_pos[:, 2],
        pelvis_support=support_distance(motion.root_pos[:, :2], base),
        spine_support=support_distance(motion.body.lumbar_position(motion.pose)[:, :2], base),
    )


def causes(frames: FrameMetrics | FrameDynamics, measures: Sequence[Measure]) -> dict[str, Array]:
    """(T,) bool for every measure that failed: the frames that are on the wrong side of its limit by themselves.

    At least one is: where single precision leaves none, the worst. A number that is computed from several frames, as
    the jerk is from four, belongs to all of them. A clip that is too short is so in all its frames; a measure without
    a number a frame, or one that `frames` do not have, has none.
    """
    return {m.name: _causes(frames, m) for m in measures if not m.passed}


def _causes(frames: FrameMetrics | FrameDynamics, measure: Measure) -> Array:
    if measure.name == "duration":
        return np.ones(len(frames), dtype=bool)
    values = getattr(frames, SERIES.get(measure.name, measure.name), np.empty(0))
    out = np.zeros(len(frames), dtype=bool)
    if not np.ndim(values) or not np.isfinite(values).any():
        return out
    if measure.bound == "below":
        wrong = values >= min(measure.limit, np.nanmax(values))
    else:
        wrong = values <= max(measure.limit, np.nanmin(values))
    for later in range(len(frames) - len(values) + 1):
        out[later : later + len(values)] |= wrong
    return out
