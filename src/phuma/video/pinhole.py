"""The camera of a film: its focal length, and how it is tilted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phuma.core.rotations import Array


@dataclass(frozen=True)
class Camera:
    """A pinhole camera that stands still. Its axes are right, down and away; the world's x is its direction along the
    ground, z is up."""

    size: tuple[int, int]
    """Width and height of the picture in pixels"""
    focal: float
    """px"""
    pitch: float
    """rad by which it looks up"""
    roll: float
    """rad by which it is turned clockwise, as the person behind it sees it"""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m in the world"""
    guessed: tuple[str, ...] = field(default=())
    """What of `focal`, `pitch` and `roll` nobody said"""

    @property
    def rotation(self) -> Array:
        """Return (3, 3) the rotation from the camera's axes to the world's."""
        return axes_of(up_of(self.pitch, self.roll))

    def project(self, points: Array) -> Array:
        """Return (..., 2) px: where points (..., 3) of the world are in the picture."""
        seen = (points - np.array(self.position)) @ self.rotation
        return self.focal * seen[..., :2] / seen[..., 2:] + 0.5 * np.array(self.size)


def up_of(pitch: float, roll: float) -> Array:
    """Return (3,) the unit vector that is up, in the axes of a camera of this pitch and roll."""
    return np.array([-np.sin(roll) * np.cos(pitch), -np.cos(roll) * np.cos(pitch), np.sin(pitch)])


def angles_of(up: Array) -> tuple[float, float]:
    """Return pitch and roll of the camera in whose axes this unit vector is up, rad."""
    return float(np.arcsin(np.clip(up[2], -1, 1))), float(np.arctan2(-up[0], -up[1]))


def axes_of(up: Array) -> Array:
    """Return (3, 3) the rotation from a camera's axes to the world's: rows are ahead, left and up in its axes."""
    ahead = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.99 else np.array([0.0, np.sign(up[2]), 0.0])
    ahead = ahead - up * (up @ ahead)
    ahead /= np.linalg.norm(ahead)
    return np.stack([ahead, np.cross(up, ahead), up])
