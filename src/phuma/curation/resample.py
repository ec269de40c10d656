"""Bring a motion to another frame rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion


def resample(motion: HumanMotion, rate: float) -> HumanMotion:
    """Return the motion at `rate` Hz: positions along lines, rotations along great arcs."""
    if motion.fps == rate:
        return motion
    # As long as before: beyond the last frame that frame is held, for less than its own duration.
    count = max(1, round(len(motion) / motion.fps * rate))
    time = np.minimum(np.arange(count) * (motion.fps / rate), len(motion) - 1)
    before = np.minimum(time.astype(int), max(len(motion) - 2, 0))
    share = time - before
    if np.all(share == 0):
        return replace(motion, root_pos=motion.root_pos[before], joint_quat=motion.joint_quat[before], fps=rate)
    after = np.minimum(before + 1, len(motion) - 1)
    root = motion.root_pos[before] * (1 - share[:, None]) + motion.root_pos[after] * share[:, None]
    quat = rot.slerp(motion.joint_quat[before], motion.joint_quat[after], share[:, None])
    return replace(motion, root_pos=root, joint_quat=quat, fps=rate)
