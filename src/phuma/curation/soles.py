"""The soles as a floor sees them: corners, how fast they go, and which of them can carry the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.body.body import Body
from phuma.rotations import Array
from phuma.skeleton import POINTS_PER_REGION, REGIONS

REACH = 0.06
"""m above or below the floor within which a sole can carry: feet yield, and bodies fit soles to a centimetre or two"""
FASTEST = 1.0
"""m/s along the floor: a sole that goes faster swings"""


def corner_points(body: Body) -> Array:
    """(16,) of the 88 sole points the outermost of each region: at both sides, at the back and in front."""
    found = []
    for r in range(len(REGIONS)):
        own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
        x, z = body.soles[own, 0], body.soles[own, 2]
        found += [own.start + int(i) for i in (x.argmin(), x.argmax(), z.argmin(), z.argmax())]
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Soles:
    """The corners of the soles over time."""

    position: Array
    """(T, 16, 3) m"""
    speed: Array
    """(T, 16) m/s along the floor"""

    @property
    def lowest(self) -> Array:
        """(T,) m"""
        return self.position[..., 2].min(axis=1)

    def near(self, floor: float) -> Array:
        """(T, 16) whether the corner is at the floor."""
        return np.abs(self.position[..., 2] - floor) < REACH

    def carrying(self, floor: float) -> Array:
        """(T, 16) whether the corner can carry load: at the floor and not swinging."""
        return self.near(floor) & (self.speed < FASTEST)

    @staticmethod
    def of(position: Array, fps: float) -> Soles:
        """From positions (T, 16, 3), T at least 2."""
        return Soles(position, np.linalg.norm(np.gradient(position[..., :2], axis=0), axis=2) * fps)
