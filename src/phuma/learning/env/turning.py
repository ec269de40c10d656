"""Rotations of many bodies: as in `core.rotations`, but compiled for numpy arrays (E, K, ...) in single precision, in a
fifth of the time. All else, torch tensors too, is left to the functions there."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.tensors import Tensor
from phuma.runtime.numba_cache import compiled

ONE, TWO = np.float32(1), np.float32(2)
"""Beside integers, compiled code would go on in double precision"""


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """Return the Hamilton product: the rotation `b` followed by `a`."""
    if not _of_bodies(a, b):
        return rot.multiply(a, b)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=np.float32)
    multiply_bodies(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    return out


def rotate(q: Tensor, v: Tensor) -> Tensor:
    """Return `v` rotated by `q`."""
    if not _of_bodies(q, v):
        return rot.rotate(q, v)
    out = np.empty((*np.broadcast_shapes(q.shape[:2], v.shape[:2]), 3), dtype=np.float32)
    rotate_bodies(np.ascontiguousarray(q), np.ascontiguousarray(v), out)
    return out


def rotate_back(q: Tensor, v: Tensor) -> Tensor:
    """Return `v` rotated by the inverse of `q`: as seen from a frame that is rotated by `q`."""
    return rotate(rot.conjugate(q), v)


def two_columns(q: Tensor) -> Tensor:
    """Return (..., 6) the first two columns of the rotation's matrix, side by side."""
    if not _of_bodies(q):
        return rot.two_columns(q)
    out = np.empty((*q.shape[:2], 6), dtype=np.float32)
    two_columns_of_bodies(np.ascontiguousarray(q), out)
    return out


def _of_bodies(*tensors: Tensor) -> bool:
    """Return whether these are what compiled functions are for, (E, K, ...) in single precision."""
    return all(isinstance(x, np.ndarray) and x.ndim == 3 and x.dtype == np.float32 for x in tensors)


@compiled
def multiply_bodies(a, b, out):
    """Fill out (E, K, 4) with  a b;  either may have one row for all environments, or one for all bodies."""
    for e in range(out.shape[0]):
        f, g = min(e, a.shape[0] - 1), min(e, b.shape[0] - 1)
        for k in range(out.shape[1]):
            i, j = min(k, a.shape[1] - 1), min(k, b.shape[1] - 1)
            aw, ax, ay, az = a[f, i, 0], a[f, i, 1], a[f, i, 2], a[f, i, 3]
            bw, bx, by, bz = b[g, j, 0], b[g, j, 1], b[g, j, 2], b[g, j, 3]
            out[e, k, 0] = aw * bw - ax * bx - ay * by - az * bz
            out[e, k, 1] = aw * bx + ax * bw + ay * bz - az * by
            out[e, k, 2] = aw * by - ax * bz + ay * bw + az * bx
            out[e, k, 3] = aw * bz + ax * by - ay * bx + az * bw


@compiled
def rotate_bodies(q, v, out):
    """Fill out (E, K, 3) with  v + 2 w (u x v) + 2 u x (u x v)  with q = (w, u), either as in `multiply_bodies`."""
    for e in range(out.shape[0]):
        f, g = min(e, q.shape[0] - 1), min(e, v.shape[0] - 1)
        for k in range(out.shape[1]):
            i, j = min(k, q.shape[1] - 1), min(k, v.shape[1] - 1)
            w, x, y, z = q[f, i, 0], q[f, i, 1], q[f, i, 2], q[f, i, 3]
            a, b, c = v[g, j, 0], v[g, j, 1], v[g, j, 2]
            tx, ty, tz = TWO * (y * c - z * b), TWO * (z * a - x * c), TWO * (x * b - y * a)
            out[e, k, 0] = a + w * tx + y * tz - z * ty
            out[e, k, 1] = b + w * ty + z * tx - x * tz
            out[e, k, 2] = c + w * tz + x * ty - y * tx


@compiled
def two_columns_of_bodies(q, out):
    """Fill out (E, K, 6) with the first two columns of matrices."""
    for e in range(out.shape[0]):
        for k in range(out.shape[1]):
            w, x, y, z = q[e, k, 0], q[e, k, 1], q[e, k, 2], q[e, k, 3]
            out[e, k, 0], out[e, k, 3] = ONE - TWO * (y * y + z * z), TWO * (x * y - w * z)
            out[e, k, 1], out[e, k, 4] = TWO * (x * y + w * z), ONE - TWO * (x * x + z * z)
            out[e, k, 2], out[e, k, 5] = TWO * (x * z - w * y), TWO * (y * z + w * x)
