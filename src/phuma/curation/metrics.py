"""Metrics of preset `paper`, each a pure function of one frame's state, over all frames at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from phuma.core.rotations import Array


def root_jerk(pelvis: Array, fps: float) -> Array:
    """Return (T - 3,) m/s³: |x[t+3] - 3 x[t+2] + 3 x[t+1] - x[t]| fps^3 of the pelvis (T, 3)."""
    return np.linalg.norm(np.diff(pelvis, n=3, axis=0), axis=1) * fps**3


def contact_score(contact: Array) -> Array:
    """Return (T,) max(c_LH, c_LT, c_RH, c_RT): the best region's contact ratio; contact (T, 4)."""
    return contact.max(axis=1)


def support_distance(point: Array, support: Array) -> Array:
    """Return (T,) metres: the distance of point (T, 2) to the convex hull of support (T, 4, 2), 0 inside.

    Four points' hull is the union of their four triangles, and its border is among the six segments between them.
    """
    corners = support.swapaxes(0, 1)
    a, b, c = (corners[list(chosen)] for chosen in zip(*combinations(range(len(corners)), 3)))
    inside = _in_triangle(point, a, b, c).any(axis=0)
    a, b = (corners[list(chosen)] for chosen in zip(*combinations(range(len(corners)), 2)))
    return np.where(inside, 0.0, _segment_distance(point, a, b).min(axis=0))


def _cross(a: Array, b: Array) -> Array:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _in_triangle(p: Array, a: Array, b: Array, c: Array) -> Array:
    sides = np.stack([_cross(b - a, p - a), _cross(c - b, p - b), _cross(a - c, p - c)])
    # A triangle without area contains nothing that its sides do not: the segments answer for it.
    return (np.abs(_cross(b - a, c - a)) > 1e-12) & ((sides >= 0).all(axis=0) | (sides <= 0).all(axis=0))


def _segment_distance(p: Array, a: Array, b: Array) -> Array:
    along = b - a
    length2 = np.maximum(np.sum(along * along, axis=-1), 1e-18)
    t = np.clip(np.sum((p - a) * along, axis=-1) / length2, 0.0, 1.0)
    return np.linalg.norm(p - a - t[..., None] * along, axis=-1)
