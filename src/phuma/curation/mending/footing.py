"""What a recording shows of the ground: the soles that stand, how they move, and the force that they pass on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phuma.contacts.bearing import LEAST_HEIGHT
from phuma.contacts.force import GroundForce
from phuma.contacts.regions import Regions
from phuma.core.rotations import Array

CARRIES = 0.5
"""Vertical force in body weights from which on a frame tells where the ground is"""

STILL = 0.15
"""Speed in m/s below which a region is at rest beside one that stands"""
NEAR = 0.12
"""Height in m over the lowest region within which such a region may stand on a floor that is tilted"""


@dataclass(frozen=True, eq=False)
class Footing:
    """Heels and toes of a recording, those that stand among them, and forces."""

    regions: Regions
    force: GroundForce
    trusted: Array
    """(T,) bool, whether the acceleration is the recording's, not the filter's"""
    stands: Array
    """(T, 4) bool, whether a region stands by its height, its speed and the forces"""

    def __len__(self) -> int:
        return len(self.stands)

    @property
    def fps(self) -> float:
        """Return the frame rate in Hz."""
        return self.regions.fps

    @cached_property
    def loaded(self) -> Array:
        """Return (T, 4) bool: whether a region stands while the ground carries."""
        return self.stands & (self.trusted & (self.force.vertical > CARRIES))[:, None]

    @cached_property
    def velocity(self) -> Array:
        """Return (T, 4, 3) m/s: the mean velocity of each region."""
        return self.regions.velocity

    @property
    def seconds(self) -> float:
        """Return the time in s during which something stands loaded."""
        return float(self.loaded.any(axis=1).sum()) / self.fps

    def widened(self) -> Footing:
        """Return what would stand if all regions did that are at rest while another stands: on a tilted floor a heel or
        a foot seems to hang in the air."""
        height = self.regions.height
        moves = np.median(self.velocity[self.loaded], axis=0)
        still = np.linalg.norm(self.velocity - moves, axis=2) < STILL
        near = height - height.min(axis=1, keepdims=True) < NEAR
        return replace(self, stands=self.stands | (still & near & self.stands.any(axis=1, keepdims=True)))

    def lean(self) -> tuple[Array, Array, float]:
        """Return the mean (2,) over frames of where the force acts from the middle of what stands, over the height of
        the centre of mass; the covariance (2, 2) m^2 of the support about its middle; and that height in m."""
        some = self.loaded.any(axis=1)
        chosen = self.loaded[some][:, :, None, None]
        corners, force = self.regions.corners[some], self.force
        count = 4 * self.loaded[some].sum(axis=1)
        middle = np.where(chosen, corners, 0.0).sum(axis=(1, 2)) / count[:, None]
        height = np.maximum(force.centre[some, 2] - middle[:, 2], LEAST_HEIGHT)
        lever = force.spin[some] - height[:, None] * force.horizontal[some]
        acts = force.centre[some, :2] + lever / np.maximum(force.vertical[some], CARRIES)[:, None]
        from_middle = np.where(chosen, corners[..., :2] - middle[:, None, None, :2], 0.0).reshape(-1, 2)
        lean = ((acts - middle[:, :2]) / height[:, None]).mean(axis=0)
        return lean, from_middle.T @ from_middle / count.sum(), float(height.mean())
