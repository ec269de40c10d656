"""Arithmetic that is the same for numpy arrays and torch tensors, so that one code serves a CPU and a GPU.

Quaternions are `wxyz`; any leading axes. Functions that exist in both libraries under one name with the same positional
arguments are called through `namespace`.
"""

from __future__ import annotations

import sys
from typing import Any

Tensor = Any
"""A numpy array or a torch tensor; docstrings give the shape."""


def namespace(x: Tensor) -> Any:
    """The library that x is of: numpy or torch."""
    return sys.modules[type(x).__module__.partition(".")[0]]


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """(..., 4) the rotation `b` followed by `a`."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    parts = [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
    return namespace(a).stack(parts, -1)


def inverse(q: Tensor) -> Tensor:
    """(..., 4) of unit quaternions."""
    return namespace(q).concatenate([q[..., :1], -q[..., 1:]], -1)


def rotate(q: Tensor, v: Tensor) -> Tensor:
    """(..., 3) v turned by q:  v + 2 w (u x v) + 2 u x (u x v)."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    a, b, c = v[..., 0], v[..., 1], v[..., 2]
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    parts = [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
    return namespace(q).stack(parts, -1)


def rotate_back(q: Tensor, v: Tensor) -> Tensor:
    """(..., 3) v turned by the inverse of q: what is v seen from a frame that is turned by q."""
    return rotate(inverse(q), v)


def squared_angle(a: Tensor, b: Tensor) -> Tensor:
    """(...) rad^2: the squared angle of the rotation that takes a to b."""
    xp = namespace(a)
    cosine = xp.clip(xp.abs((a * b).sum(-1)), 0.0, 1.0)
    return (2 * xp.arccos(cosine)) ** 2


def heading(q: Tensor) -> Tensor:
    """(..., 4) the part of q that turns about the vertical: yaw of roll-pitch-yaw."""
    xp = namespace(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    half = 0.5 * xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    zero = xp.zeros_like(half)
    return xp.stack([xp.cos(half), zero, zero, xp.sin(half)], -1)


def roll_pitch(q: Tensor) -> Tensor:
    """(..., 2) rad, of roll-pitch-yaw."""
    xp = namespace(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    roll = xp.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = xp.arcsin(xp.clip(2 * (w * y - z * x), -1.0, 1.0))
    return xp.stack([roll, pitch], -1)


def two_columns(q: Tensor) -> Tensor:
    """(..., 6) the first two columns of the rotation's matrix, one after the other: continuous, unlike angles."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    parts = [
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
    ]  # fmt: skip
    return namespace(q).stack(parts, -1)


def up_component(q: Tensor) -> Tensor:
    """(...) z of the vertical seen from a frame turned by q: 1 upright, -1 upside down."""
    return 1 - 2 * (q[..., 1] ** 2 + q[..., 2] ** 2)
