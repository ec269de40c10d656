"""Find the floor under the feet where a recording tilts, drifts or floats: its height over time."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from phuma.core.rotations import Array

BAND = 0.015
"""Distance in m from the floor within which heights count for it"""
WINDOW = 0.5
"""Standard deviation in s of the weights of neighbouring times"""
AT_LEVEL, AT_REST = 0.3, 1.0
"""Weights, in samples, of the common floor and of a floor that does not rise or sink"""


def common_floor(heights: Array, weight: Array) -> float:
    """Return the height in m with the most weight within BAND; heights and weight of one shape."""
    order = np.argsort(heights, axis=None)
    h = heights.ravel()[order]
    total = np.concatenate([[0.0], np.cumsum(weight.ravel()[order])])
    end = np.searchsorted(h, h + 2 * BAND, side="left")
    i = int(np.argmax(total[end] - total[:-1]))
    return float(0.5 * (h[i] + h[end[i] - 1]))


def local_floor(heights: Array, weight: Array, floor: float, fps: float) -> Array:
    """Return (T,) m: the floor over time, a line through the heights (T, 4) around each frame.

    The line a + b s, s the time from the frame in units of WINDOW, minimises sum w k(s) (h - a - b s)^2 + AT_LEVEL
    (a - floor)^2 + AT_REST b^2 with k(s) = exp(-s^2 / 2), and a is returned; where nothing stands, it is the common
    `floor`.
    """
    kernels = _kernels(fps)
    half = len(kernels[0]) // 2
    one, above = weight.sum(axis=1), (weight * (heights - floor)).sum(axis=1)

    def around(x: Array, power: int) -> Array:
        return np.convolve(x, kernels[power], mode="full")[half : half + len(x)]

    s0, s1, s2 = around(one, 0) + AT_LEVEL, around(one, 1), around(one, 2) + AT_REST
    return np.asarray(floor + (s2 * around(above, 0) - s1 * around(above, 1)) / (s0 * s2 - s1**2))


@lru_cache(maxsize=8)
def _kernels(fps: float) -> tuple[Array, Array, Array]:
    """Return k(s) (-s)^n at the frames around one, for n = 0, 1, 2."""
    width = WINDOW * fps
    s = np.arange(-int(3 * width), int(3 * width) + 1) / width
    kernel = np.exp(-0.5 * s**2)
    return kernel * (-s) ** 0, kernel * (-s) ** 1, kernel * (-s) ** 2
