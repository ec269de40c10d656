"""Cameras that turn on the spot, as on a tripod: when they do, and landmarks as a still camera would have seen them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.video.landmarks import Landmarks
from phuma.video.pictures import Pictures

Mask = NDArray[np.bool_]

FLOW = 0.02  # of the background, in longer sides of the picture a second: a still camera has at most 0.004, a pan 0.04
FASTEST = 0.4
"""Flow that is still followed, sides a second: about 23 degrees a second"""
EXPLAINED = 0.3
"""Share of the flow that a turn may leave unexplained: a camera that is carried leaves more, as near things move
faster, and one that zooms all of it"""
NOISE = 0.008  # sides a second that are always left unexplained
EVEN = 0.03  # sides a second, and 0.3 of the flow: how far the speed may change within a moment, else it shakes
FARTHEST = 1.2  # sides, about 70 degrees in all
MEDIAN = 9  # measurements, about a second
GONE = 0.4  # seconds without a measurement


def moves(pictures: Pictures, fps: float) -> Mask:
    """Return (T,) whether the camera moves in a way that cannot be taken out."""
    return _lasting(pictures, np.where(_even(pictures, fps), 0.0, pictures.flow))


def turns(pictures: Pictures, fps: float) -> Mask:
    """Return (T,) whether the camera turns evenly."""
    return _lasting(pictures, pictures.flow) & ~moves(pictures, fps)


def steadied(
    landmarks: Landmarks, pictures: Pictures, spans: Sequence[tuple[int, int]], focal: float
) -> tuple[Landmarks, list[float]]:
    """Return landmarks as a camera sees them that stays in every span as it is in its middle, and by how many rad the
    camera turned in each; focal length in px. Spans in which it does not turn stay as they are."""
    turned, image, angles = turns(pictures, landmarks.fps), landmarks.image.copy(), []
    for first, last in spans:
        angles.append(0.0)
        if not turned[first:last].any():
            continue
        from_start = _orientations(pictures, landmarks.fps, max(landmarks.size) / focal)[first:last]
        to_middle = from_start[len(from_start) // 2].T @ from_start
        middle = 0.5 * np.array(landmarks.size)
        flat = (landmarks.image[first:last] - middle) / focal
        rays = np.concatenate([flat, np.ones((*flat.shape[:2], 1))], axis=-1) @ to_middle.transpose(0, 2, 1)
        image[first:last] = middle + focal * rays[..., :2] / np.maximum(rays[..., 2:], 0.1)
        ahead = to_middle[:, :, 2]
        angles[-1] = float(np.arccos(np.clip(ahead @ ahead.T, -1, 1)).max())
    return replace(landmarks, image=image), angles


def _orientations(pictures: Pictures, fps: float, sides: float) -> Array:
    """Return (T, 3, 3) the rotations from the camera's axes in each frame to those in the first; `sides` is the longer
    side of the picture over the focal length."""
    known = _known(pictures)
    speed = np.stack([pictures.down * sides, -pictures.right * sides, -pictures.clockwise], axis=1)
    after = np.searchsorted(known, np.arange(len(pictures))).clip(0, len(known) - 1)
    step = rot.to_matrix(rot.from_rotvec(speed[known][after] / fps))  # measured from the instant before to this one
    out = np.empty_like(step)
    out[0] = np.eye(3)
    for t in range(1, len(out)):
        out[t] = out[t - 1] @ step[t]
    return out


def _known(pictures: Pictures) -> NDArray[np.intp]:
    return np.flatnonzero(pictures.flow >= 0)


def _even(pictures: Pictures, fps: float) -> Mask:
    """Return (T,) whether the flow is that of a camera that turns evenly, at instants at which it is known."""
    known, out = _known(pictures), np.zeros(len(pictures), bool)
    if not len(known):
        return out
    flow, speed = pictures.flow[known], np.stack([pictures.right[known], pictures.down[known]], axis=1)
    change = np.linalg.norm(np.diff(speed, axis=0, prepend=speed[:1]), axis=1)
    change = np.maximum(change, np.append(change[1:], 0.0))
    gone = np.diff(known, prepend=known[:1]) / fps
    way = np.cumsum(speed * np.minimum(gone, GONE)[:, None], axis=0)
    good = (flow < FASTEST) & (pictures.rest[known] < EXPLAINED * flow + NOISE)
    good &= (change < EVEN + 0.3 * flow) & (gone <= GONE)
    out[known] = good & (np.ptp(way, axis=0).max() < FARTHEST)
    return out


def _lasting(pictures: Pictures, flow: Array) -> Mask:
    """Return (T,) whether a flow (T,) is more than that of a still camera, in the median of about a second."""
    known = _known(pictures)
    if not len(known):
        return np.zeros(len(pictures), bool)
    padded = np.pad(flow[known], MEDIAN // 2, mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, MEDIAN), axis=1)
    near = np.searchsorted(known, np.arange(len(pictures))).clip(0, len(known) - 1)
    return np.asarray(middle[near] > FLOW)
