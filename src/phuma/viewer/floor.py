"""Find the place on the floor that is seen at a point of a picture."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.errors import ConfigError

FLATTEST = 1e-3
"""Slope below which a ray counts as one that never meets the floor"""


def floor_point(position: Array, wxyz: Array, fov: float, aspect: float, u: float, v: float) -> Array:
    """Return (3,) m: where the ray through (u, v), 0 to 1 across and down a picture, meets the floor  z = 0.

    The camera is at `position` and rotated by `wxyz`, which looks along its z axis, with y down; `fov` is its vertical
    field of view in rad and `aspect` the picture's width over its height:
    ray = R ((2 u - 1) aspect tan(fov / 2), (2 v - 1) tan(fov / 2), 1).
    """
    if not (0 <= u <= 1 and 0 <= v <= 1):
        raise ConfigError(f"no floor is seen at {u:g}, {v:g} of the picture; expected 0 to 1 across and down")
    half = np.tan(fov / 2)
    ray = rot.rotate(np.asarray(wxyz), np.array([(2 * u - 1) * half * aspect, (2 * v - 1) * half, 1.0]))
    if not (ray[2] < -FLATTEST * np.linalg.norm(ray) and position[2] > 0):
        raise ConfigError("no floor is seen there: draw below the horizon")
    out: Array = position - ray * (position[2] / ray[2])
    return out
