"""Whether the camera moves: the flow of what lies behind the person, by two small pictures a moment apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array

WIDTH = 160  # px of the longer side of the small pictures
TILE = 16
TEXTURE = 4.0  # of 255, mean slope that a tile needs for its flow to be told
LEAST_TILES = 6


def small(picture: NDArray[np.uint8]) -> Array:
    """Return (h, w) the green of a picture (H, W, 3), with means over squares as pixels, 160 along its longer side."""
    step = max(1, max(picture.shape[:2]) // WIDTH)
    height, width = (n // step for n in picture.shape[:2])
    green = picture[: height * step, : width * step, 1]
    rows = green.reshape(height, step, width * step).mean(axis=1, dtype=np.float32)
    return rows.reshape(height, width, step).mean(axis=2)


def flow(before: Array, after: Array, hidden: NDArray[np.bool_]) -> float | None:
    """Return how far the background moved between two small pictures, as a share of their longer side.

    `hidden` is where people are, in either. A median over tiles is taken, so that leaves in the wind and passers-by
    do not matter. None if there is too little to see.
    """
    dx, dy = _whole_shift(
        np.where(hidden, before[~hidden].mean(), before), np.where(hidden, after[~hidden].mean(), after)
    )
    moved, seen = np.roll(after, (-dy, -dx), axis=(0, 1)), ~hidden & ~np.roll(hidden, (-dy, -dx), axis=(0, 1))
    for axis, shift in ((0, dy), (1, dx)):  # what came in at the edge is of the other side
        index = np.arange(before.shape[axis])
        inside = (index + shift >= 0) & (index + shift < before.shape[axis])
        seen &= inside[:, None] if axis == 0 else inside[None, :]
    rest = _tile_shifts(before, moved, seen)
    if len(rest) < LEAST_TILES:
        return None
    return float(np.median(np.linalg.norm(rest + [dx, dy], axis=1)) / max(before.shape))


def _whole_shift(before: Array, after: Array) -> tuple[int, int]:
    """Return the shift right and down in whole px, by phase correlation."""
    window = np.hanning(before.shape[0])[:, None] * np.hanning(before.shape[1])
    a, b = (np.fft.rfft2((p - p.mean()) * window) for p in (before, after))
    cross = b * a.conj()
    peaks = np.fft.irfft2(cross / np.maximum(np.abs(cross), 1e-6), before.shape)
    row, col = (int(i) for i in np.unravel_index(int(peaks.argmax()), peaks.shape))
    height, width = before.shape
    return col - width * (col > width // 2), row - height * (row > height // 2)


def _tile_shifts(before: Array, after: Array, seen: NDArray[np.bool_]) -> Array:
    """Return (tiles, 2) px by which what is in each tile moved right and down, if less than about one, by least squares
    of the brightness that slopes explain (Lucas and Kanade); tiles that are hidden or smooth are left out."""
    mean = (before + after) / 2
    down, along = np.gradient(mean)
    change: Array = after - before
    height, width = (n // TILE for n in before.shape)

    def tiles(values: Array) -> Array:
        cut = values[: height * TILE, : width * TILE].reshape(height, TILE, width, TILE)
        return cut.swapaxes(1, 2).reshape(height * width, -1)

    x, y, d = (tiles(np.asarray(values)) for values in (along, down, change))
    xx, xy, yy = (x * x).sum(1), (x * y).sum(1), (y * y).sum(1)
    weakest = (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy**2)  # the smaller eigenvalue: slopes in all directions
    good = tiles(seen).all(axis=1) & (weakest > TILE**2 * TEXTURE**2 / 4)
    det = (xx * yy - xy * xy)[good]
    xd, yd = -(x * d).sum(1)[good], -(y * d).sum(1)[good]
    return np.stack([(yy[good] * xd - xy[good] * yd) / det, (xx[good] * yd - xy[good] * xd) / det], axis=1)
