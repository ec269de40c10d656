"""The masses of a robot, as shares of all of it: what its motion asks of the ground depends on nothing else."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.inverse_dynamics import free_model
from phuma.robots.robot import Robot


class Masses(NamedTuple):
    """These are the bodies' masses; those of all bodies add up to one."""

    mass: Array
    """(B,)"""
    centre: Array
    """(B, 3) m, the centre of mass in the body's frame"""
    second: Array
    """(B, 3, 3) m^2, integral of s s^T over the body's mass, s from its centre of mass, in the body's axes"""


@lru_cache(maxsize=8)
def masses_of(robot: Robot) -> Masses:
    """Return the masses of a robot's bodies. The second moments follow from the inertia I: S = tr(I) / 2 - I."""
    model = free_model(robot)
    total = float(model.body_mass[1:].sum())
    second = np.zeros((robot.n_bodies, 3, 3))
    for b in range(robot.n_bodies):  # MuJoCo counts the world as body 0
        axes, inertia = rot.to_matrix(model.body_iquat[b + 1]), model.body_inertia[b + 1]
        second[b] = axes @ np.diag(np.maximum(inertia.sum() / 2 - inertia, 0.0)) @ axes.T / total
    return Masses(model.body_mass[1:] / total, model.body_ipos[1:].copy(), second)


def weight_of(robot: Robot) -> float:
    """Return the robot's weight in N."""
    model = free_model(robot)
    return float(model.body_subtreemass[1] * np.linalg.norm(model.opt.gravity))
