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
    """(...) rad^2: the squared angle of the rotation that takes a to b, the short way:  4 atan(|a - b| / |a + b|).

    Not by the arc cosine, which in single precision is off by 1e-3 rad at small angles."""
    xp = namespace(a)
    apart, together = _square(a - b), _square(a + b)
    ratio = xp.minimum(apart, together) / xp.maximum(apart, together)
    return 16 * xp.arctan(xp.sqrt(ratio)) ** 2


def heading(q: Tensor) -> Tensor:
    """(..., 4) the part of q that turns about the vertical: yaw of roll-pitch-yaw."""
    xp = namespace(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    return _about_vertical(0.5 * xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def twist(q: Tensor) -> Tensor:
    """(..., 4) the turn about the vertical that is nearest to q: (w, 0, 0, z) made a unit.

    For what lies between two rotations: whichever way both are turned, it is the same, which their yaw is not."""
    return _about_vertical(namespace(q).arctan2(q[..., 3], q[..., 0]))


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


def like(example: Tensor, array: Tensor) -> Tensor:
    """A numpy array as a tensor of the library and device of `example`."""
    xp = namespace(example)
    return array if xp.__name__ == "numpy" else xp.as_tensor(array, device=example.device)


def _about_vertical(half: Tensor) -> Tensor:
    """(..., 4) a turn by twice the angle."""
    xp = namespace(half)
    zero = xp.zeros_like(half)
    return xp.stack([xp.cos(half), zero, zero, xp.sin(half)], -1)


def _square(q: Tensor) -> Tensor:
    """(...) |q|^2; four terms, because a sum over an axis as short as this one is slow."""
    s = q * q
    return s[..., 0] + s[..., 1] + s[..., 2] + s[..., 3]


def to_numpy(x: Tensor) -> Tensor:
    """The same numbers as a numpy array."""
    return x if namespace(x).__name__ == "numpy" else x.detach().cpu().numpy()
