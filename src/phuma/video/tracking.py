"""Tracking follows one person from picture to picture, and counts the others.

The landmarks of one picture say where to look in the next one. The whole picture is searched when the person is lost,
and once in a while to see who else is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.detector import Detector
from phuma.video.landmarker import Landmarker, Pose
from phuma.video.people import LEAST_PRESENCE, Sighting, hips, search
from phuma.video.region import MARGIN, Region, person_region

LOOK_AROUND = 1.0  # seconds between two searches of the whole picture
WHEN_LOST = 0.1
LEAST_CUTOFF, BETA, SPEED_CUTOFF = 0.01, 10.0, 1.0
"""Of the filter of the regions: Hz at rest, Hz for each region's size a second, Hz of the speed itself"""


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen in one picture."""

    pose: Pose | None
    """The person who is followed, if seen"""
    people: int | None
    """How many people were found, in pictures that were searched at all"""


class Tracker:
    """A tracker is shown the pictures of a film in their order."""

    def __init__(self, detector: Detector, landmarker: Landmarker, fps: float, person: int | None = None) -> None:
        """Follow the largest person, or the one who is number `person` from the left, counted from 1, when first that
        many are seen."""
        self._detector, self._landmarker, self._fps, self._person = detector, landmarker, fps, person
        self._steady = SteadyRegion(fps)
        self._region: Region | None = None
        self._last: Pose | None = None
        self._since = math.inf  # pictures since the last search

    def __call__(self, picture: NDArray[np.uint8]) -> Sight:
        """Return what is seen in the next picture (H, W, 3)."""
        self._since += 1
        pose = self._landmarker(picture, self._region) if self._region is not None else None
        if pose is not None and pose.presence < LEAST_PRESENCE:
            pose = None
        if self._since < self._fps * (WHEN_LOST if pose is None else LOOK_AROUND):
            people = None
        else:
            self._since = 0
            found = search(picture, self._detector, self._landmarker, pose)
            people = len(found) + (pose is not None)
            if pose is None:
                pose = self._choose(found)
                self._steady = SteadyRegion(self._fps)
        self._region = None if pose is None else self._steady(pose.aux)
        self._last = pose or self._last
        return Sight(pose, people)

    def cut(self) -> None:
        """Forget where the person was: the next picture is of another shot, and is searched."""
        self._region = self._last = None
        self._since = math.inf

    def _choose(self, found: list[Sighting]) -> Pose | None:
        """Return the person to follow: who was followed before, else as it was asked for."""
        if self._last is not None and found:
            before = hips(self._last)
            near = min(found, key=lambda s: float(np.linalg.norm(hips(s.pose) - before)))
            far = np.linalg.norm(hips(near.pose) - before) > near.region.size
            return None if far and self._person is not None else near.pose
        if self._person is None:
            return max(found, key=lambda s: s.region.size).pose if found else None
        if len(found) < self._person:
            return None
        return sorted(found, key=lambda s: hips(s.pose)[0])[self._person - 1].pose


class SteadyRegion:
    """A filter of the two points that make the next region: still when the person is, quick when the person moves.

    It is mediapipe's "one euro" filter, whose cut-off rises with speed. The networks see even half a pixel, so that
    a region that trembles makes landmarks tremble.
    """

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._raw: Array | None = None

    def __call__(self, points: Array) -> Region:
        """Return the next region from the middle of the hips and the end of the body (2, 2) px."""
        if self._raw is None:
            self._smooth, self._speed = points, np.zeros_like(points)
        else:
            size = person_region(points[0], points[1]).size / MARGIN
            speed = (points - self._raw) * self._fps / max(size, 1.0)
            self._speed = self._speed + self._share(SPEED_CUTOFF) * (speed - self._speed)
            share = self._share(LEAST_CUTOFF + BETA * np.abs(self._speed))
            self._smooth = self._smooth + share * (points - self._smooth)
        self._raw = points
        return person_region(self._smooth[0], self._smooth[1])

    def _share(self, cutoff: Array | float) -> Array:
        """Return what a low-pass filter takes of a new value, by its cut-off in Hz."""
        return 1.0 / (1.0 + self._fps / (2 * np.pi * np.asarray(cutoff)))
