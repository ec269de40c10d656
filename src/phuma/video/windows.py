"""Solve a long film in windows, so that memory stays flat: what all frames share comes from parts of it first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.video.fit import State
from phuma.video.standing import camera_of, motion_of
from phuma.video.terms import Shared

WINDOW, OVERLAP = 900, 60
"""Frames that are solved at once, and frames over which neighbouring windows are blended"""
PROBES = 3
"""Parts of a long film, a third of a window each, from which the body, gravity and the ground are found"""

Solve = Callable[[Array, Shared | None], State]
"""Fits frames (F,) int, with what they share held as it is given, or found where it is None"""


def solved(
    solve: Solve,
    total: int,
    fps: float,
    provenance: Provenance,
    camera: Array | None = None,
    told: Callable[[int], object] = lambda done: None,
) -> tuple[HumanMotion, Shared, Array]:
    """Return the motion of so many frames, what they share, and where the camera is, m; `camera` (3,) puts it there.
    `told` hears after each window how many frames are done."""
    long = total > WINDOW
    starts = range(0, total - OVERLAP, WINDOW - OVERLAP) if long else range(1)
    shared = solve(_probes(total), None).shared if long else None
    motion: HumanMotion | None = None
    for first in starts:
        state = solve(np.arange(first, min(first + WINDOW, total)), shared)
        camera = camera_of(state) if camera is None else camera
        told(first + len(state.x))
        own = motion_of(state, fps, provenance, camera)
        motion = own if motion is None else _blended(motion, own, first)
    assert motion is not None
    assert camera is not None
    return motion, state.shared, camera


def _probes(total: int) -> Array:
    part = WINDOW // PROBES
    starts = np.linspace(0, total - part, PROBES).astype(int)
    return np.unique((starts[:, None] + np.arange(part)).ravel())


def _blended(before: HumanMotion, after: HumanMotion, first: int) -> HumanMotion:
    """Return two motions of one body as one, the second of which begins at frame `first` of the first one."""
    both = len(before) - first
    share = (np.arange(both) + 0.5) / both
    path = (1 - share)[:, None] * before.root_pos[first:] + share[:, None] * after.root_pos[:both]
    quat = rot.slerp(before.joint_quat[first:], after.joint_quat[:both], share[:, None])
    return replace(
        before,
        root_pos=np.concatenate([before.root_pos[:first], path, after.root_pos[both:]]),
        joint_quat=np.concatenate([before.joint_quat[:first], quat, after.joint_quat[both:]]),
    )
