"""The detector finds the people in a picture: BlazePose's, which looks at a square in 224 x 224 pixels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.network import Floats, Network, sigmoid
from phuma.video.region import Region, person_region

SIZE = 224
STRIDES = ((8, 2), (16, 2), (32, 6))
"""Pixels of a cell of each grid, and how many anchors lie in the middle of each cell"""
VALUES = 12  # of an anchor: centre and size of the face's box, then four points: hips, end of the body, and two more
LEAST_SCORE = 0.5
OVERLAP = 0.3  # of two boxes that are taken for one person, intersection over union


@dataclass(frozen=True, eq=False)
class Detection:
    """A person who was found, where 0 to 1 is how sure that is."""

    score: float
    box: Array
    """(4,) px left, top, right, bottom of the face, roughly"""
    points: Array
    """(4, 2) px: middle of the hips, end of the body; middle of the shoulders, end of the upper body"""

    @property
    def region(self) -> Region:
        """Return the region that holds the whole person."""
        return person_region(self.points[0], self.points[1])


class Detector:
    """A detector is made from its model file, and finds people picture by picture."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        anchors = len(_anchors())
        self._network = Network(path, SIZE, ((1, anchors, VALUES), (1, anchors, 1)))

    def __call__(self, picture: NDArray[np.uint8], part: Region) -> list[Detection]:
        """Return the people in a part of a picture (H, W, 3), the surest one first; beyond the picture it is black."""
        values, logits = self._network(part.crop(picture, SIZE, -1.0, 1.0, edge=False))
        return [_in_picture(part, score, places) for score, places in decode(values, logits)]


def decode(values: Floats, logits: Floats) -> list[tuple[float, Array]]:
    """Return (score, (6, 2) places) of each person: corners of the box and four points, in shares of the input.

    Boxes that overlap one person are averaged by their scores, as the network was made for.
    """
    scores = sigmoid(logits[:, 0])
    sure = np.flatnonzero(scores >= LEAST_SCORE)
    sure = sure[np.argsort(-scores[sure], kind="stable")]
    scores, raw = scores[sure], values[sure].reshape(-1, VALUES // 2, 2).astype(float) / SIZE
    centre, half = raw[:, :1] + _anchors()[sure, None], raw[:, 1:2] / 2
    places = np.concatenate([centre - half, centre + half, raw[:, 2:] + _anchors()[sure, None]], axis=1)
    people = []
    while len(scores):
        same = _overlap(places[0], places) > OVERLAP
        same[0] = True
        people.append((float(scores[0]), np.average(places[same], axis=0, weights=scores[same])))
        scores, places = scores[~same], places[~same]
    return people


def _in_picture(part: Region, score: float, places: Array) -> Detection:
    px = part.to_picture(places)
    return Detection(score, px[:2].reshape(4), px[2:])


def _overlap(one: Array, others: Array) -> Array:
    """Return intersection over union of a box with each of several, by their corners in the first two places."""
    low, high = np.maximum(one[0], others[:, 0]), np.minimum(one[1], others[:, 1])
    shared = np.prod(np.maximum(high - low, 0), axis=-1)
    areas = np.prod(others[:, 1] - others[:, 0], axis=-1) + np.prod(one[1] - one[0])
    return shared / np.maximum(areas - shared, 1e-12)


@cache
def _anchors() -> Array:
    """Return (2254, 2) the anchors' centres, in shares of the input."""
    grids = []
    for stride, each in STRIDES:
        cells = SIZE // stride
        middle = (np.arange(cells) + 0.5) / cells
        grids.append(np.repeat(np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2), each, axis=0))
    return np.concatenate(grids)
