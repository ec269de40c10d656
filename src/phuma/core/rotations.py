"""Rotations as unit quaternions `wxyz`, batched over any leading axes.

A quaternion `q` and `-q` are the same rotation. `a * b` applies `b` first. Vectors are `(..., 3)`, quaternions
`(..., 4)`, matrices `(..., 3, 3)`, rotation vectors `(..., 3)` in radians. Functions of `Tensor` serve numpy arrays and
torch tensors alike and keep their precision; functions of `Array` serve numpy alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phuma.core.tensors import Tensor, empty, namespace

Array = NDArray[Any]
"""A numpy array, of floats unless said otherwise; docstrings give the shape."""

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Return the Hamilton product: the rotation `b` followed by `a`."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    w = aw * bw - ax * bx - ay * by - az * bz
    out = empty((*w.shape, 4), w)
    out[..., 0] = w
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def conjugate(q: Tensor) -> Tensor:
    """Return the inverse of a unit quaternion."""
    out = -q
    out[..., 0] = q[..., 0]
    return out


def normalize(q: Array) -> Array:
    """Return `q` with length 1."""
    return q / np.sqrt(np.einsum("...i,...i->...", q, q))[..., None]


def rotate(q: Tensor, v: Tensor) -> Tensor:
    """Return `v` rotated by `q`: v + 2 w (u x v) + 2 u x (u x v) with q = (w, u)."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    a, b, c = v[..., 0], v[..., 1], v[..., 2]
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    parts = [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
    return namespace(q).stack(parts, -1)


def rotate_back(q: Tensor, v: Tensor) -> Tensor:
    """Return (..., 3) v rotated by the inverse of q: v as seen from a frame that is rotated by q."""
    return rotate(conjugate(q), v)


def squared_angle(a: Tensor, b: Tensor) -> Tensor:
    """Return (...) rad^2: the squared angle between a and b, the short way:  (4 atan(|a - b| / |a + b|))^2.

    Not by the arc cosine, which in single precision is off by 1e-3 rad at small angles."""
    xp = namespace(a)
    apart, together = _square(a - b), _square(a + b)
    ratio = xp.minimum(apart, together) / xp.maximum(apart, together)
    return 16 * xp.arctan(xp.sqrt(ratio)) ** 2


def heading(q: Tensor) -> Tensor:
    """Return (..., 4) the part of q that rotates about the vertical: yaw of roll-pitch-yaw."""
    xp = namespace(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    return _about_vertical(0.5 * xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def twist(q: Tensor) -> Tensor:
    """Return (..., 4) the rotation about the vertical that is nearest to q: (w, 0, 0, z) made a unit.

    For what lies between two rotations: whichever way both are turned, it is the same, which their yaw is not."""
    return _about_vertical(namespace(q).arctan2(q[..., 3], q[..., 0]))


def roll_pitch(q: Tensor) -> Tensor:
    """Return (..., 2) rad: roll and pitch of roll-pitch-yaw."""
    xp = namespace(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    roll = xp.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = xp.arcsin(xp.clip(2 * (w * y - z * x), -1.0, 1.0))
    return xp.stack([roll, pitch], -1)


def two_columns(q: Tensor) -> Tensor:
    """Return (..., 6) the first two columns of the rotation's matrix, side by side: continuous, unlike angles."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    parts = [
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
    ]  # fmt: skip
    return namespace(q).stack(parts, -1)


def x_and_z(q: Tensor) -> Tensor:
    """Return (..., 6) the turned x axis, then the turned z axis: first and third column of the rotation's matrix."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    parts = [
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return namespace(q).stack(parts, -1)


def up_component(q: Tensor) -> Tensor:
    """Return (...) z of the vertical seen from a frame rotated by q: 1 upright, -1 upside down."""
    return 1 - 2 * (q[..., 1] ** 2 + q[..., 2] ** 2)


def _about_vertical(half: Tensor) -> Tensor:
    """Return (..., 4) a rotation by twice the angle about the vertical."""
    xp = namespace(half)
    zero = xp.zeros_like(half)
    return xp.stack([xp.cos(half), zero, zero, xp.sin(half)], -1)


def _square(q: Tensor) -> Tensor:
    """Return (...) |q|^2; four terms, because a sum over an axis as short as this one is slow."""
    s = q * q
    return s[..., 0] + s[..., 1] + s[..., 2] + s[..., 3]


def from_rotvec(v: ArrayLike) -> Array:
    """Return the rotation of a rotation vector, by the exponential map; it is smooth at zero."""
    v = np.asarray(v, dtype=float)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * angle
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * v], axis=-1)


def to_rotvec(q: Tensor) -> Tensor:
    """Return the rotation vector by the logarithm map, the short way round: the angle is in [0, pi]."""
    xp = namespace(q)
    q = xp.where(q[..., :1] < 0, -q, q)
    sin_half = xp.sqrt((q[..., 1:] * q[..., 1:]).sum(-1))[..., None]
    angle = 2 * xp.arctan2(sin_half, q[..., :1])
    scale = xp.where(sin_half > 1e-12, angle / xp.clip(sin_half, 1e-12, None), 2.0)
    return scale * q[..., 1:]


def from_axis(axis: str, angle: ArrayLike) -> Array:
    """Return the rotation by `angle` [rad] about the coordinate axis "x", "y" or "z"."""
    half = 0.5 * np.asarray(angle, dtype=float)
    q = np.zeros((*half.shape, 4))
    q[..., 0] = np.cos(half)
    q[..., 1 + "xyz".index(axis)] = np.sin(half)
    return q


def to_matrix(q: Array) -> Array:
    """Return the rotation matrix of a unit quaternion."""
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3))
    m[..., 0, 0] = 1 - 2 * (y * y + z * z)
    m[..., 0, 1] = 2 * (x * y - w * z)
    m[..., 0, 2] = 2 * (x * z + w * y)
    m[..., 1, 0] = 2 * (x * y + w * z)
    m[..., 1, 1] = 1 - 2 * (x * x + z * z)
    m[..., 1, 2] = 2 * (y * z - w * x)
    m[..., 2, 0] = 2 * (x * z - w * y)
    m[..., 2, 1] = 2 * (y * z + w * x)
    m[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m: Array) -> Array:
    """Return the quaternion of a rotation matrix, by its largest component (Shepperd): never ill-conditioned."""
    d = np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]], axis=-1)
    trace = d.sum(-1)
    # Four times the square of each component, and the products that give the other three.
    square = np.concatenate([(1 + trace)[..., None], 1 + 2 * d - trace[..., None]], axis=-1)
    a = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    s = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    rows = np.stack(
        [
            np.stack([square[..., 0], a[0], a[1], a[2]], -1),
            np.stack([a[0], square[..., 1], s[0], s[1]], -1),
            np.stack([a[1], s[0], square[..., 2], s[2]], -1),
            np.stack([a[2], s[1], s[2], square[..., 3]], -1),
        ],
        axis=-2,
    )
    best = np.argmax(square, axis=-1)[..., None, None]
    return normalize(np.take_along_axis(rows, best, axis=-2)[..., 0, :])


def between(a: Array, b: Array) -> Array:
    """Return the shortest rotation that takes direction `a` to direction `b`."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    w = 1 + np.sum(a * b, axis=-1, keepdims=True)
    # Opposite directions: any axis at right angles to `a` will do.
    helper = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    flip = np.concatenate([np.zeros_like(w), np.cross(a, helper)], axis=-1)
    return normalize(np.where(w < 1e-9, flip, np.concatenate([w, np.cross(a, b)], axis=-1)))


def continuous(q: Array, axis: int = 0) -> Array:
    """Return the rotations with signs chosen so that neighbours along `axis` lie on the same half of the sphere."""
    q = q.swapaxes(0, axis)
    products = q[1:] * q[:-1]  # four terms, because a sum over an axis as short as this one is slow
    flips = products[..., 0] + products[..., 1] + products[..., 2] + products[..., 3] < 0
    if not flips.any():
        return q.swapaxes(0, axis)
    sign = np.ones(q.shape[:-1])
    sign[1:] = np.where(np.cumsum(flips, axis=0) % 2, -1.0, 1.0)
    return (q * sign[..., None]).swapaxes(0, axis)


def slerp(a: Array, b: Array, t: ArrayLike) -> Array:
    """Return the rotation a share `t` of the way from `a` to `b`, at constant speed, the short way."""
    t = np.asarray(t, dtype=float)
    b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -b, b)
    half = np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    angle = 2 * half
    safe = np.where(angle > 1e-9, np.sin(angle), 1.0)
    wa = np.where(angle > 1e-9, np.sin((1 - t) * angle) / safe, 1 - t)
    wb = np.where(angle > 1e-9, np.sin(t * angle) / safe, t)
    return wa[..., None] * a + wb[..., None] * b
