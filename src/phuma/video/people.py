"""The people in a picture: it is searched as a whole and in squares, and who is found is looked at closely.

The detector alone misses people in whole pictures, in which they are small or stand close together, and takes other
things for people in squares. The landmarker knows better, and sees whether two finds are one person.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.detector import Detection, Detector
from phuma.video.landmarker import Landmarker, Pose
from phuma.video.landmarks import NAMES
from phuma.video.region import Region

LEAST_PRESENCE = 0.5
NEAR = 0.15
"""Of the side of a region: finds with hips nearer than this are looked at once"""
SAME = 0.1
"""Of the side of a region: poses whose landmarks lie nearer than this on average are one person"""
SQUARES = 3  # along the longer side
MOST = 8  # finds that are looked at; nobody counts crowds
HIPS = (NAMES.index("left_hip"), NAMES.index("right_hip"))


class Sighting(NamedTuple):
    """A person who was found."""

    region: Region
    pose: Pose


def search(
    picture: NDArray[np.uint8], detector: Detector, landmarker: Landmarker, known: Pose | None = None
) -> list[Sighting]:
    """Return the people in a picture (H, W, 3), the surest first, but for one who is known already."""
    finds = sorted((d for part in _parts(picture) for d in detector(picture, part)), key=lambda d: -d.score)
    people: list[Sighting] = []
    seen = [] if known is None else [known]
    for region in _apart(finds)[:MOST]:
        pose = landmarker(picture, region)
        if pose.presence >= LEAST_PRESENCE and not any(_same(pose, other, region.size) for other in seen):
            people.append(Sighting(region, pose))
            seen.append(pose)
    return people


def hips(pose: Pose) -> Array:
    """Return (2,) px the middle of the hips in the picture."""
    return pose.image[list(HIPS)].mean(axis=0)


def _parts(picture: NDArray[np.uint8]) -> list[Region]:
    """Return what is searched: the whole picture, then squares as large as its shorter side that overlap."""
    height, width = picture.shape[:2]
    short, long = sorted((height, width))
    whole = Region(width / 2, height / 2, long)
    if long < 1.2 * short:
        return [whole]
    middles = np.linspace(short / 2, long - short / 2, SQUARES)
    across = width > height
    return [whole, *(Region(m, height / 2, short) if across else Region(width / 2, m, short) for m in middles)]


def _apart(finds: list[Detection]) -> list[Region]:
    """Return the regions of finds without those that lie on a surer one."""
    kept: list[Region] = []
    for region in (d.region for d in finds):
        if all(math.hypot(region.x - k.x, region.y - k.y) > NEAR * k.size for k in kept):
            kept.append(region)
    return kept


def _same(one: Pose, other: Pose, size: float) -> bool:
    return float(np.linalg.norm(one.image - other.image, axis=1).mean()) < SAME * size
