"""Bring a motion to another frame rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion


def frames_at(motion: HumanMotion, rate: float) -> int:
    """Return how many frames the motion has at `rate` Hz, at which it is as long as before."""
    return len(motion) if motion.fps == rate else max(1, round(len(motion) / motion.fps * rate))


def resample(motion: HumanMotion, rate: float, first: int = 0, last: int | None = None) -> HumanMotion:
    """Return the motion at `rate` Hz: positions along lines, rotations along great arcs.

    Of these, frames first to last - 1, by default all of them.
    """
    count = frames_at(motion, rate)
    last = count if last is None else last
    if motion.fps == rate:
        return motion if (first, last) == (0, count) else motion.frames(first, last)
    # Beyond the last frame that frame is held, for less than its own duration.
    time = np.minimum(np.arange(first, last) * (motion.fps / rate), len(motion) - 1)
    before = np.minimum(time.astype(int), max(len(motion) - 2, 0))
    share = time - before
    origin = replace(motion.provenance, start=motion.provenance.start + first / rate)
    if np.all(share == 0):
        root, quat = motion.root_pos[before], motion.joint_quat[before]
    else:
        after = np.minimum(before + 1, len(motion) - 1)
        root = motion.root_pos[before] * (1 - share[:, None]) + motion.root_pos[after] * share[:, None]
        quat = rot.slerp(motion.joint_quat[before], motion.joint_quat[after], share[:, None])
    return replace(motion, root_pos=root, joint_quat=quat, fps=rate, provenance=origin)
