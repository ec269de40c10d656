"""The landmarker finds 33 landmarks of the one person in a region of a picture: BlazePose GHUM, 256 x 256 pixels."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.landmarks import NAMES
from phuma.video.network import Floats, Network, sigmoid
from phuma.video.region import Region

SIZE = 256
POINTS = 39
"""The landmarks, two points of the next region, and four which nobody uses"""
MAP = 64  # px of the map of each point
KERNEL = 9  # px of the map about a point by which it is refined
LEAST_PEAK = 0.5  # of the map, for a point to be refined
OUTPUTS = ((1, POINTS * 5), (1, 1), (1, SIZE, SIZE, 1), (1, MAP, MAP, POINTS), (1, POINTS * 3))


@dataclass(frozen=True, eq=False)
class Pose:
    """A pose is what the network sees of a person in one picture."""

    image: Array
    """(33, 2) px in the picture"""
    world: Array
    """(33, 3) m about the middle of the hips: right, down and away in the picture"""
    visibility: Array
    """(33,) from 0 to 1"""
    presence: float
    """From 0 to 1: that there is a person in the region"""
    aux: Array
    """(2, 2) px: middle of the hips and end of the body, which say where to look in the next picture"""


class Landmarker:
    """A landmarker is made from its model file, and finds the landmarks in one region at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.network = Network(path, SIZE, OUTPUTS)
        """Takes a crop, and returns what `decode` understands"""

    def __call__(self, picture: NDArray[np.uint8], region: Region) -> Pose:
        """Return what is seen in a region of a picture (H, W, 3)."""
        points, presence, _, maps, world = self.network(region.crop(picture, SIZE, 0.0, 1.0, edge=True))
        return decode(points, presence, maps, world, region)


def decode(points: Floats, presence: Floats, maps: Floats, world: Floats, region: Region) -> Pose:
    """Return the pose that the network's outputs mean.

    `points` are x, y, z in pixels of the input and logits of visibility and presence; `world` is turned as the region
    is; z of `points` is not used, as `world` has it in metres.
    """
    values = points.reshape(POINTS, 5).astype(float)
    places = region.to_picture(refined(values[:, :2] / SIZE, maps))
    flat = world.reshape(POINTS, 3)[: len(NAMES)].astype(float)
    turned = np.concatenate([flat[:, :2] @ region.axes, flat[:, 2:]], axis=1)
    n = len(NAMES)
    return Pose(places[:n], turned, sigmoid(values[:n, 3]), float(presence[0]), places[n : n + 2])


def refined(places: Array, maps: Floats) -> Array:
    """Return points (39, 2) in shares of the input at the centre of gravity of their map (64, 64, 39) of logits nearby.

    A point outside, and one whose map has no peak within 4 px, stays.
    """
    reach = np.arange(KERNEL) - KERNEL // 2
    cell = np.trunc(places * MAP).astype(int)
    cols, rows = cell[:, :1] + reach, cell[:, 1:] + reach
    inside = ((cols >= 0) & (cols < MAP))[:, None, :] & ((rows >= 0) & (rows < MAP))[:, :, None]
    there = rows.clip(0, MAP - 1)[:, :, None], cols.clip(0, MAP - 1)[:, None, :], np.arange(len(places))[:, None, None]
    weight = np.where(inside, sigmoid(maps[there].astype(float)), 0.0)
    total = np.maximum(weight.sum(axis=(1, 2)), 1e-12)
    centre = np.stack([np.einsum("prc,pc->p", weight, cols), np.einsum("prc,pr->p", weight, rows)], axis=1)
    peak = (weight.max(axis=(1, 2)) >= LEAST_PEAK) & ((cell >= 0) & (cell < MAP)).all(axis=1)
    return np.where(peak[:, None], centre / total[:, None] / MAP, places)
