"""Robots that differ from each other as the real one differs from its model: the paper's table of randomisation.

MuJoCo has no restitution and one coefficient of friction. The coefficient takes the table's range of dynamic friction,
which is the one that acts once a foot slides. A restitution e becomes the contact's damping ratio z at which a mass on a
spring comes back with that share of its speed,  e = exp(-pi z / sqrt(1 - z^2)).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from phuma.robots.robot import Robot
from phuma.rotations import Array

GAIN = (0.9, 1.1)
COM = ((-0.025, 0.025), (-0.05, 0.05), (-0.05, 0.05))  # m
FRICTION = (0.3, 1.2)
RESTITUTION = (0.0, 0.5)
BIAS = (-0.025, 0.025)  # rad


@dataclass(frozen=True, eq=False)
class Variation:
    """Of E robots with N joints."""

    stiffness: Array
    """(E, N) scale of the P gains"""
    damping: Array
    """(E, N) scale of the D gains"""
    com: Array
    """(E, 3) m, added to the root body's centre of mass"""
    friction: Array
    """(E,) of all contacts"""
    restitution: Array
    """(E,)"""
    joint_bias: Array
    """(E, N) rad, that the encoders read too much; the task applies it, not the simulator"""


def draw_variation(rng: np.random.Generator, robots: int, joints: int) -> Variation:
    low, high = np.array(COM).T
    return Variation(
        stiffness=rng.uniform(*GAIN, size=(robots, joints)),
        damping=rng.uniform(*GAIN, size=(robots, joints)),
        com=rng.uniform(low, high, size=(robots, 3)),
        friction=rng.uniform(*FRICTION, size=robots),
        restitution=rng.uniform(*RESTITUTION, size=robots),
        joint_bias=rng.uniform(*BIAS, size=(robots, joints)).astype(np.float32),
    )


def damping_ratio(restitution: Array) -> Array:
    """z with  e = exp(-pi z / sqrt(1 - z^2)),  1 for e = 0."""
    log = np.log(np.maximum(restitution, 1e-12))
    return np.where(restitution < 1e-6, 1.0, -log / np.sqrt(np.pi**2 + log**2))


def varied_models(model: mujoco.MjModel, robot: Robot, variation: Variation) -> list[mujoco.MjModel]:
    """A model for each of the robots."""
    ratio = damping_ratio(variation.restitution)
    floor = model.geom("floor").id
    models = []
    for e in range(len(ratio)):
        own = copy.copy(model)
        own.actuator_gainprm[:, 0] = robot.stiffness * variation.stiffness[e]
        own.actuator_biasprm[:, 1] = -robot.stiffness * variation.stiffness[e]
        own.actuator_biasprm[:, 2] = -robot.damping * variation.damping[e]
        own.body_ipos[1] += variation.com[e]
        own.geom_friction[:, 0] = variation.friction[e]
        own.geom_solref[floor, 1] = ratio[e]
        own.geom_priority[floor] = 1  # the floor's values hold for all its contacts
        models.append(own)
    return models
