"""Find the frames in which a network took left for right: somebody who turns their back is easily seen from the front.

The upper and the lower body are looked at by themselves. That a half is exchanged costs EXCHANGED per second, and every
step from frame to frame the way that landmarks make in it, in heights of the person; the cheapest course is found by
Viterbi's algorithm. So a jump and the jump back are explained by an exchange, while one that lasts is taken for a turn.
"""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.video.landmarks import NAMES

EXCHANGED = 0.2
"""Cost of a second in which left and right are exchanged, in heights of the person"""
FAR = 0.3
"""Way of a landmark in a frame beyond which it costs no more, in heights of the person"""


def _other(name: str) -> str:
    return name.replace("left", "#").replace("right", "left").replace("#", "right")


OTHER = np.array([NAMES.index(_other(name)) for name in NAMES])
"""The landmark of the other side"""
LOWER = np.array([name.split("_", 1)[-1] in ("hip", "knee", "ankle", "heel", "foot_index") for name in NAMES])

APART = np.array([not any(part in name for part in ("nose", "eye", "ear", "mouth")) for name in NAMES])
"""Landmarks that lie apart from those of the other side, as those of a face do not"""


def exchanged(image: Array, height: float, fps: float) -> Array:
    """Return (T, 33) bool: whether a landmark has the name of the other side; image (T, 33, 2) px of a person who is
    `height` px high."""
    out = np.zeros(image.shape[:2], dtype=bool)
    for half in (LOWER, ~LOWER):
        own = np.flatnonzero(half & APART)
        now, other = image[:, own], image[:, OTHER[own]]
        stays = _way(now[1:] - now[:-1], height)
        swaps = _way(other[1:] - now[:-1], height)
        out[:, half] = _cheapest(stays, swaps, EXCHANGED / fps)[:, None]
    return out


def _way(step: Array, height: float) -> Array:
    return np.minimum(np.linalg.norm(step, axis=-1) / height, FAR).mean(axis=1)


def _cheapest(stays: Array, swaps: Array, price: float) -> Array:
    """Return (T,) bool: the course of two states, the second of which costs `price` a frame, where a step costs
    `stays` if the state is the same after it and `swaps` if it is not."""
    before = np.zeros((len(stays) + 1, 2), dtype=int)
    cost = np.array([0.0, price])
    for t in range(len(stays)):
        ways = cost[:, None] + np.array([[stays[t], swaps[t]], [swaps[t], stays[t]]])
        before[t + 1] = ways.argmin(axis=0)
        cost = ways.min(axis=0) + np.array([0.0, price])
    course = np.zeros(len(stays) + 1, dtype=int)
    course[-1] = int(cost.argmin())
    for t in range(len(stays), 0, -1):
        course[t - 1] = before[t, course[t]]
    return course.astype(bool)
