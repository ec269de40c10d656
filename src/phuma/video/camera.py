"""Whether the camera moves or turns: the flow of what lies behind the person, by two small pictures a moment apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from phuma.core.rotations import Array

WIDTH = 160  # px of the longer side of the small pictures
TILE = 16
TEXTURE = 4.0  # of 255, mean slope that a tile needs for its flow to be told
LEAST_TILES = 6
PASSES = 3  # in which what is left of the shifts is found


def small(picture: NDArray[np.uint8]) -> Array:
    """Return (h, w) the green of a picture (H, W, 3), with means over squares as pixels, 160 along its longer side."""
    step = max(1, max(picture.shape[:2]) // WIDTH)
    height, width = (n // step for n in picture.shape[:2])
    green = picture[: height * step, : width * step, 1]
    rows = green.reshape(height, step, width * step).mean(axis=1, dtype=np.float32)
    return rows.reshape(height, width, step).mean(axis=2)


class Flow(NamedTuple):
    """How the background moved between two small pictures, lengths as shares of their longer side."""

    length: float
    """In the median of the tiles"""
    right: float
    down: float
    """At the middle of the picture, as a camera that turns moves it"""
    clockwise: float
    """rad"""
    rest: float
    """How far tiles are, in the median, from where a camera that turns on the spot would move them"""


def flow(before: Array, after: Array, hidden: NDArray[np.bool_]) -> Flow | None:
    """Return how the background moved between two small pictures.

    `hidden` is where people are, in either. What most tiles say is taken, so that leaves in the wind and passers-by do
    not matter. None if there is too little to see. With x and y from the middle in longer sides, which is about the
    focal length, a camera that turns moves a tile by (a (1 + x^2) + b x y - c y, a x y + b (1 + y^2) + c x).
    """
    across, below = _whole_shift(
        np.where(hidden, before[~hidden].mean(), before), np.where(hidden, after[~hidden].mean(), after)
    )
    side = float(max(before.shape))
    turn = np.array([across / side, below / side, 0.0])
    for _ in range(PASSES):
        row, col = np.indices(before.shape, dtype=float)
        x, y = ((v - 0.5 * (n - 1)) / side for v, n in ((col, before.shape[1]), (row, before.shape[0])))
        moved_x, moved_y = (side * v for v in _turned(x, y) @ turn)
        at = np.stack([row + moved_y, col + moved_x])
        moved = map_coordinates(after, at, order=1, mode="nearest")
        seen = ~hidden & (map_coordinates(hidden.astype(float), at, order=1, cval=1.0) == 0)
        rest, place = _tile_shifts(before, moved, seen)
        if len(rest) < LEAST_TILES:
            return None
        model = _turned(*((place - 0.5 * (np.array(before.shape[::-1]) - 1)) / side).T).transpose(1, 0, 2)
        shifts = rest / side + model @ turn
        turn, away = _fitted(model, shifts, turn)
    right, down, clockwise = (float(v) for v in turn)
    length = float(np.median(np.linalg.norm(shifts, axis=1)))
    return Flow(length, right, down, clockwise, float(np.median(away)))


def _turned(x: Array, y: Array) -> Array:
    """Return (2, ..., 3): how what is at x and y moves right and down with each of `Flow`'s three."""
    return np.stack([np.stack([1 + x * x, x * y, -y], axis=-1), np.stack([x * y, 1 + y * y, x], axis=-1)])


def _fitted(model: Array, shifts: Array, turn: Array) -> tuple[Array, Array]:
    """Return the turn (3,) that explains shifts (N, 2) by model (N, 2, 3), those far off counting less, and how far
    each is off."""
    for _ in range(5):
        away = np.linalg.norm(shifts - model @ turn, axis=1)
        weight = 1 / (1 + (away / max(float(np.median(away)), 1e-4)) ** 2)
        left = np.einsum("n,nki,nkj->ij", weight, model, model)
        turn = np.linalg.solve(left + 1e-9 * np.eye(3), np.einsum("n,nki,nk->i", weight, model, shifts))
    return turn, np.linalg.norm(shifts - model @ turn, axis=1)


def _whole_shift(before: Array, after: Array) -> tuple[int, int]:
    """Return the shift right and down in whole px, by phase correlation."""
    window = np.hanning(before.shape[0])[:, None] * np.hanning(before.shape[1])
    a, b = (np.fft.rfft2((p - p.mean()) * window) for p in (before, after))
    cross = b * a.conj()
    peaks = np.fft.irfft2(cross / np.maximum(np.abs(cross), 1e-6), before.shape)
    row, col = (int(i) for i in np.unravel_index(int(peaks.argmax()), peaks.shape))
    height, width = before.shape
    return col - width * (col > width // 2), row - height * (row > height // 2)


def _tile_shifts(before: Array, after: Array, seen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return (tiles, 2) px by which what is in each tile moved right and down, if less than about one, by least squares
    of the brightness that slopes explain (Lucas and Kanade); tiles that are hidden or smooth are left out; and
    (tiles, 2) px right and down where the middles of the tiles are."""
    mean = (before + after) / 2
    down, along = np.gradient(mean)
    change: Array = after - before
    height, width = (n // TILE for n in before.shape)

    def tiles(values: Array) -> Array:
        cut = values[: height * TILE, : width * TILE].reshape(height, TILE, width, TILE)
        return cut.swapaxes(1, 2).reshape(height * width, -1)

    x, y, d = (tiles(np.asarray(values)) for values in (along, down, change))
    x, y, d = (v - v.mean(axis=1, keepdims=True) for v in (x, y, d))  # more or less light is no shift
    xx, xy, yy = (x * x).sum(1), (x * y).sum(1), (y * y).sum(1)
    weakest = (xx + yy) / 2 - np.sqrt(((xx - yy) / 2) ** 2 + xy**2)  # the smaller eigenvalue: slopes in all directions
    good = tiles(seen).all(axis=1) & (weakest > TILE**2 * TEXTURE**2 / 4)
    det = (xx * yy - xy * xy)[good]
    xd, yd = -(x * d).sum(1)[good], -(y * d).sum(1)[good]
    row, col = np.divmod(np.flatnonzero(good), width)
    place = (np.stack([col, row], axis=1) + 0.5) * TILE - 0.5
    return np.stack([(yy[good] * xd - xy[good] * yd) / det, (xx[good] * yd - xy[good] * xd) / det], axis=1), place
