"""Lengths and rates of vectors over time, the steps of which most quantities of a motion are made.

They are what `np.linalg.norm` and `np.gradient` give, to the last bit, in a fraction of their time: sums over an axis
of two or three components are slow, and so is the care for cases that do not occur here.
"""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array


def length(v: Array) -> Array:
    """Return (...) the lengths of vectors (..., K), K at least 2."""
    squares = v * v
    total = squares[..., 0] + squares[..., 1]
    for k in range(2, v.shape[-1]):
        total += squares[..., k]
    return np.sqrt(total)


def rate(x: Array) -> Array:
    """Return (T, ...) the change of x (T, ...) per frame, T at least 2: half the way from the frame before to the next
    one, and at the ends the way to the neighbour."""
    out = np.empty_like(x)
    np.subtract(x[2:], x[:-2], out=out[1:-1])
    out[1:-1] /= 2.0
    out[0], out[-1] = x[1] - x[0], x[-1] - x[-2]
    return out
