"""Compute the force that the ground would have to give for a person or a robot to move so, by Newton and Euler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phuma.body.mass import JOINT_WEIGHTS, centre_of_mass
from phuma.core.body import Pose
from phuma.core.rotations import Array

GRAVITY = 9.81
FRICTION = 1.0
"""Coefficient of friction of soles on the floor, about that of bare feet and of rubber"""
_ANGLES = np.arange(16) * 2 * np.pi / 16
DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
"""(16, 2) unit vectors: a point is outside a convex shape by its greatest excess over all directions"""


@dataclass(frozen=True, eq=False)
class GroundForce:
    """The force of the ground in every frame, in units of the body's weight."""

    centre: Array
    """(T, 3) m, the centre of mass c"""
    vertical: Array
    """(T,) the vertical force f = c''_z / g + 1"""
    horizontal: Array
    """(T, 2) the horizontal force a = c''_xy / g"""
    spin: Array
    """(T, 2) m, the shift (-L'_y, L'_x) / g of the force by the angular momentum L about c per mass"""

    def lever(self, floor: float) -> Array:
        """Return (T, 2) m: the moment that the force must have about the point of the floor below c, as a shift of its
        point of action times f. A force at p has f (p - c) there, and Euler's law asks for -(c_z - floor) a + spin."""
        return self.spin - (self.centre[:, 2:] - floor) * self.horizontal

    def frames(self, own: slice) -> GroundForce:
        """Return the forces of some frames."""
        return GroundForce(self.centre[own], self.vertical[own], self.horizontal[own], self.spin[own])

    @staticmethod
    def of(centre: Array, acceleration: Array, turning: Array) -> GroundForce:
        """Return the force from the centre of mass (T, 3) m, its acceleration (T, 3) m/s^2 and the rate (T, 3) m^2/s^2
        of the angular momentum about it per mass."""
        return GroundForce(
            centre=centre,
            vertical=acceleration[:, 2] / GRAVITY + 1,
            horizontal=acceleration[:, :2] / GRAVITY,
            spin=np.stack([-turning[:, 1], turning[:, 0]], axis=1) / GRAVITY,
        )

    @staticmethod
    def joined(parts: Sequence[GroundForce]) -> GroundForce:
        """Return the forces of several parts, one after another in time."""
        columns = zip(*((p.centre, p.vertical, p.horizontal, p.spin) for p in parts), strict=True)
        return GroundForce(*(np.concatenate(c) for c in columns))


def ground_force(pose: Pose, fps: float) -> GroundForce:
    """Return the force of a person, 22 point masses, from poses over T frames; accelerations are second differences, at
    the ends those of the neighbours.

    With masses w_j at x_j, L = sum_j w_j (x_j - c) x x'_j and so L' = sum_j w_j (x_j - c) x x''_j.
    """
    centre = centre_of_mass(pose)
    acceleration = second_difference(pose.position, fps)
    turning = np.einsum("tjk,j->tk", np.cross(pose.position - centre[:, None], acceleration), JOINT_WEIGHTS)
    of_mass = np.einsum("tjk,j->tk", acceleration, JOINT_WEIGHTS)
    return GroundForce.of(centre, of_mass, turning)


def second_difference(x: Array, fps: float) -> Array:
    """Return (T, ...) the acceleration of x (T, ...) by second differences, T at least 3."""
    inner = (x[2:] - 2 * x[1:-1] + x[:-2]) * fps**2
    return np.concatenate([inner[:1], inner, inner[-1:]])
