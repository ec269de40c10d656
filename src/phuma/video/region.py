"""A region is the turned square of a picture that a network looks at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array

MARGIN = 1.25
"""Side of the region of a person against twice the distance from the middle of the hips to the edge of the body"""


@dataclass(frozen=True)
class Region:
    """A square of `size` px about (x, y), whose upper side is turned by `angle` rad clockwise as one sees it."""

    x: float
    y: float
    size: float
    angle: float = 0.0

    @property
    def axes(self) -> Array:
        """Return (2, 2) the unit vectors along and down the region, as rows, in the picture's axes."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        return np.array([[c, s], [-s, c]])

    def to_picture(self, points: Array) -> Array:
        """Return (..., 2) px in the picture of points in shares of the region, from its upper left corner."""
        return np.array([self.x, self.y]) + self.size * (np.asarray(points) - 0.5) @ self.axes

    def crop(self, picture: NDArray[np.uint8], pixels: int, low: float, high: float, edge: bool) -> NDArray[np.float32]:
        """Return (pixels, pixels, 3) the region of a picture (H, W, 3), with 0 to 255 as `low` to `high`.

        Beyond the picture its outermost pixels go on if `edge` is given; otherwise it is black. As in mediapipe,
        samples lie at the upper left corners of their cells and are rounded as OpenCV does: half a pixel of the crop,
        or black instead of the edge, moves landmarks by a centimetre.
        """
        out = np.empty((pixels, pixels, 3), np.float32)
        start, (along, down) = self.to_picture(np.zeros(2)), self.axes * self.size / pixels
        _warp()(picture, start[0], start[1], along[0], along[1], down[0], down[1], low, (high - low) / 255, edge, out)
        return out


def person_region(hips: Array, end: Array) -> Region:
    """Return the region of a person from two points (2,) px: the middle of the hips, and the point above it at which a
    circle about the middle that holds the body ends."""
    dx, dy = (float(v) for v in np.asarray(end) - hips)
    return Region(float(hips[0]), float(hips[1]), 2 * MARGIN * math.hypot(dx, dy), math.atan2(dx, -dy))


@cache
def _warp() -> Any:
    from phuma.runtime.numba_cache import compiled

    return compiled(_sample)


def _sample(picture, x0, y0, along_x, along_y, down_x, down_y, low, scale, edge, out):
    """Fill `out` as `crop` says, by whole numbers: places to 1/32 px, colours to 1/255."""
    height, width = picture.shape[0], picture.shape[1]
    n = out.shape[0]
    for row in range(n):
        for col in range(n):
            across = int(np.rint((x0 + col * along_x + row * down_x) * 32))
            down = int(np.rint((y0 + col * along_y + row * down_y) * 32))
            left, top = across >> 5, down >> 5
            fx, fy = across & 31, down & 31
            w00, w01, w10, w11 = (32 - fx) * (32 - fy), fx * (32 - fy), (32 - fx) * fy, fx * fy
            if not edge:  # what is not there weighs nothing, so that it is black
                above, below = 0 <= top < height, 0 <= top + 1 < height
                before, after = 0 <= left < width, 0 <= left + 1 < width
                w00, w01 = w00 * (above and before), w01 * (above and after)
                w10, w11 = w10 * (below and before), w11 * (below and after)
            l0, l1 = min(max(left, 0), width - 1), min(max(left + 1, 0), width - 1)
            t0, t1 = min(max(top, 0), height - 1), min(max(top + 1, 0), height - 1)
            for k in range(3):
                value = (
                    w00 * picture[t0, l0, k]
                    + w01 * picture[t0, l1, k]
                    + w10 * picture[t1, l0, k]
                    + w11 * picture[t1, l1, k]
                )
                out[row, col, k] = low + scale * ((value + 512) >> 10)
