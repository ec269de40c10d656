"""How long steps take: a leg swings past the other in a sixth of a second, in slow motion in a second or more.

No film says how fast it plays, but legs are pendulums, and few people move them several times slower than they swing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.landmarks import NAMES, Landmarks

Mask = NDArray[np.bool_]

APART = 0.2
"""Of a leg's length: how far an ankle is ahead of the other before and after a step"""
SLOW = 0.5
"""Seconds from one to the other beyond which a step is slow: recorded people take 0.17 in the median"""
STEPS = 3  # slow ones on end, so that nobody who only puts a foot elsewhere is taken for slow motion
PAUSE = 0.6
"""Share of the time that a step which does not halt spends in any third of its way at most"""
SMOOTH, TURN = 0.1, 0.3  # s, of what is ahead, and of where ahead is


def slow_steps(landmarks: Landmarks) -> Mask:
    """Return (T,) whether the person takes steps as slow as in slow motion, one after another."""
    out = np.zeros(len(landmarks), bool)
    run: list[tuple[int, int]] = []
    for first, last, slow in _steps(_ahead(landmarks), landmarks.fps):
        run = [*run, (first, last)] if slow else []
        if len(run) >= STEPS:
            out[run[0][0] : last + 1] = True
    return out


def _steps(ahead: Array, fps: float) -> list[tuple[int, int, bool]]:
    """Return the frames in which each step begins and ends that goes on without a halt, and whether it is slow."""
    out, side, left = [], 0, 0
    for at in np.flatnonzero(np.abs(ahead) > APART).tolist():
        now = 1 if ahead[at] > 0 else -1
        if side == -now:
            third = np.floor(1.5 * (ahead[left : at + 1] / APART + 1)).clip(0, 2)
            if at - left <= 3 or max(np.mean(third == k) for k in range(3)) < PAUSE:
                out.append((left, at, at - left > SLOW * fps))
        side, left = now, at
    return out


def _ahead(landmarks: Landmarks) -> Array:
    """Return (T,) how far the left ankle is ahead of the right one, in lengths of a leg, as the network sees it."""
    world, fps = landmarks.world, landmarks.fps

    def middle(part: str) -> Array:
        return np.asarray(0.5 * (world[:, NAMES.index(f"left_{part}")] + world[:, NAMES.index(f"right_{part}")]))

    def across(part: str) -> Array:
        return np.asarray(world[:, NAMES.index(f"left_{part}")] - world[:, NAMES.index(f"right_{part}")])

    ahead = np.cross(_even(across("hip"), TURN * fps), _even(middle("shoulder") - middle("hip"), SMOOTH * fps))
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    legs = np.linalg.norm(middle("hip") - middle("ankle"), axis=1)[landmarks.presence > 0]
    leg = float(np.median(legs)) if len(legs) else 1.0
    return _even((across("ankle") * ahead).sum(axis=1), SMOOTH * fps) / max(leg, 1e-9)


def _even(values: Array, frames: float) -> Array:
    """Return values (T, ...) as means over about so many frames to each side."""
    reach = min(max(1, round(frames)), max(1, len(values) // 2))
    padded = np.concatenate([values[:1].repeat(reach, axis=0), values, values[-1:].repeat(reach, axis=0)])
    total = np.concatenate([np.zeros_like(padded[:1]), padded.cumsum(axis=0)])
    return np.asarray((total[2 * reach + 1 :] - total[: -2 * reach - 1]) / (2 * reach + 1))
