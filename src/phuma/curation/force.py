"""The force that the ground would have to give for a person to move so: Newton and Euler for 22 point masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phuma.body.body import Pose
from phuma.body.mass import JOINT_WEIGHTS, centre_of_mass
from phuma.rotations import Array

GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class GroundForce:
    """Per frame, in units of the body's weight."""

    centre: Array
    """(T, 3) m, centre of mass c"""
    vertical: Array
    """(T,) f = c''_z / g + 1"""
    horizontal: Array
    """(T, 2) a = c''_xy / g"""
    spin: Array
    """(T, 2) m, (-L'_y, L'_x) / g of the angular momentum L about c per mass: where it makes the force act"""

    def lever(self, floor: float) -> Array:
        """(T, 2) m: the moment that the force must have about the point of the floor below c, as a shift of its point
        of action times f. A force at p has f (p - c) there, and Euler's law asks for -(c_z - floor) a + spin."""
        return self.spin - (self.centre[:, 2:] - floor) * self.horizontal

    def frames(self, own: slice) -> GroundForce:
        return GroundForce(self.centre[own], self.vertical[own], self.horizontal[own], self.spin[own])

    @staticmethod
    def joined(parts: Sequence[GroundForce]) -> GroundForce:
        """Parts one after another."""
        columns = zip(*((p.centre, p.vertical, p.horizontal, p.spin) for p in parts), strict=True)
        return GroundForce(*(np.concatenate(c) for c in columns))


def ground_force(pose: Pose, fps: float) -> GroundForce:
    """From poses over T frames; accelerations are second differences, the ends' those of their neighbours.

    With masses w_j at x_j, L = sum_j w_j (x_j - c) x x'_j and so L' = sum_j w_j (x_j - c) x x''_j.
    """
    centre = centre_of_mass(pose)
    acceleration = second_difference(pose.position, fps)
    turning = np.einsum("tjk,j->tk", np.cross(pose.position - centre[:, None], acceleration), JOINT_WEIGHTS)
    of_mass = np.einsum("tjk,j->tk", acceleration, JOINT_WEIGHTS)
    return GroundForce(
        centre=centre,
        vertical=of_mass[:, 2] / GRAVITY + 1,
        horizontal=of_mass[:, :2] / GRAVITY,
        spin=np.stack([-turning[:, 1], turning[:, 0]], axis=1) / GRAVITY,
    )


def second_difference(x: Array, fps: float) -> Array:
    """(T, ...) acceleration of x (T, ...), T at least 3."""
    inner = (x[2:] - 2 * x[1:-1] + x[:-2]) * fps**2
    return np.concatenate([inner[:1], inner, inner[-1:]])
