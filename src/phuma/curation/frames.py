"""Compute the filters' values of a stored clip, frame by frame, and the frames that it was rejected for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phuma.core.clip import Measure
from phuma.core.curation_metrics import DURATION, DYNAMIC
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.curation.config import CurateCfg
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.paper import FrameMetrics, frame_metrics, posed_series
from phuma.curation.pipeline import MIN_FRAMES, dynamics_of, evidence_of


def clip_frames(
    motion: HumanMotion, contact: FootContacts, measures: Sequence[Measure] = ()
) -> FrameMetrics | FrameDynamics:
    """Return the values of a curated motion, a clip's or a whole recording's, ground at z = 0, as `curate` had them, of
    the preset that its measures are of.

    Files hold single precision, so they are the same to about 1e-6 m, and the jerk to about 0.1 m/s³ at 30 Hz. Forces
    are those of the stored motion, which is smoothed and ends where the clip does: near to those that `curate` had.
    """
    if len(motion) >= MIN_FRAMES and {m.name for m in measures} & {m.name for m in DYNAMIC}:
        return dynamics_of(evidence_of(motion, CurateCfg(preset="dynamic", rate=motion.fps, ground=0.0)))
    return frame_metrics(motion, contact.paper, posed_series(motion))


def causes(frames: FrameMetrics | FrameDynamics, measures: Sequence[Measure]) -> dict[str, Array]:
    """Return (T,) bool for every measure that failed: the frames that are beyond its limit by themselves.

    At least one is: where single precision leaves none, the worst. A number that is computed from several frames, as
    the jerk is from four, belongs to all of them. A clip that is too short is so in all its frames; a measure without
    a number for each frame, or one that `frames` do not have, has none.
    """
    return {m.name: _causes(frames, m) for m in measures if not m.passed}


def _causes(frames: FrameMetrics | FrameDynamics, measure: Measure) -> Array:
    if measure.name == DURATION.name:
        return np.ones(len(frames), dtype=bool)
    out = np.zeros(len(frames), dtype=bool)
    for series in measure.metric.series:
        values = series.factor * getattr(frames, series.name, np.empty(0))
        if not np.isfinite(values).any():
            continue
        if measure.metric.better == "low":
            wrong = values >= min(measure.limit, np.nanmax(values))
        else:
            wrong = values <= max(measure.limit, np.nanmin(values))
        for later in range(len(frames) - len(values) + 1):
            out[later : later + len(values)] |= wrong
    return out
