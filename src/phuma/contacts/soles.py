"""Describe the soles as a floor sees them: corners, how fast they go, and which of them can carry the body."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.series import length, rate
from phuma.core.skeleton import POINTS_PER_REGION, REGIONS

REACH = 0.06
"""Distance in m above or below the floor within which a sole can carry: feet yield, and bodies fit soles to a
centimetre or two"""
FASTEST = 1.0
"""Speed in m/s along the floor above which a sole swings"""


@lru_cache(maxsize=8)  # several steps ask for those of one body
def corner_points(body: Body) -> Array:
    """Return (16,) the outermost of the 88 sole points of each region: at both sides, at the back and in front."""
    found = []
    for r in range(len(REGIONS)):
        own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
        x, z = body.soles[own, 0], body.soles[own, 2]
        found += [own.start + int(i) for i in (x.argmin(), x.argmax(), z.argmin(), z.argmax())]
    corners = np.array(found)
    corners.flags.writeable = False
    return corners


@dataclass(frozen=True, eq=False)
class Soles:
    """The corners of the soles over time."""

    position: Array
    """(T, P, 3) m, positions of the corners, as many of each region: 16 of a person's, 8 of a robot's"""
    speed: Array
    """(T, P) m/s, speeds of the corners along the floor"""

    @property
    def lowest(self) -> Array:
        """Return (T,) m: the height of the lowest corner."""
        return self.position[..., 2].min(axis=1)

    def near(self, floor: float) -> Array:
        """Return (T, P) whether each corner is at the floor."""
        return np.abs(self.position[..., 2] - floor) < REACH

    def carrying(self, floor: float) -> Array:
        """Return (T, P) whether each corner can carry load: at the floor and not swinging."""
        return self.near(floor) & (self.speed < FASTEST)

    @staticmethod
    def of(position: Array, fps: float) -> Soles:
        """Return the soles from the corners' positions (T, P, 3), T at least 2."""
        return Soles(position, length(rate(position[..., :2])) * fps)
