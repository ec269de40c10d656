"""Robots that differ from each other as the real one differs from its model: the paper's table of randomisation.

MuJoCo has no restitution and one coefficient of friction. The coefficient takes the table's range of dynamic friction,
which is the one that acts once a foot slides. Restitution is left out: a floor that is damped less gives it, but at the
physics steps of training no foot rests on such a floor (benchmarks/restitution.py).
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
    joint_bias: Array
    """(E, N) rad, that the encoders read too much; the task applies it, not the simulator"""


def draw_variation(rng: np.random.Generator, robots: int, joints: int) -> Variation:
    low, high = np.array(COM).T
    return Variation(
        stiffness=rng.uniform(*GAIN, size=(robots, joints)),
        damping=rng.uniform(*GAIN, size=(robots, joints)),
        com=rng.uniform(low, high, size=(robots, 3)),
        friction=rng.uniform(*FRICTION, size=robots),
        joint_bias=rng.uniform(*BIAS, size=(robots, joints)).astype(np.float32),
    )


def variable_model(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy whose root's centre of mass can be anywhere."""
    out = copy.copy(model)
    out.body_sameframe[1] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
    return out


def varied_fields(model: mujoco.MjModel, robot: Robot, variation: Variation) -> dict[str, Array]:
    """The fields of the model that differ, each with a leading axis of the E robots."""
    robots = len(variation.friction)
    names = ("actuator_gainprm", "actuator_biasprm", "body_ipos", "geom_friction")
    fields = {name: np.repeat(getattr(model, name)[None], robots, axis=0) for name in names}
    fields["actuator_gainprm"][:, :, 0] = robot.stiffness * variation.stiffness
    fields["actuator_biasprm"][:, :, 1] = -robot.stiffness * variation.stiffness
    fields["actuator_biasprm"][:, :, 2] = -robot.damping * variation.damping
    fields["body_ipos"][:, 1] += variation.com
    fields["geom_friction"][:, :, 0] = variation.friction[:, None]
    return fields


def varied_models(model: mujoco.MjModel, robot: Robot, variation: Variation) -> list[mujoco.MjModel]:
    """A model for each of the robots."""
    base, fields = variable_model(model), varied_fields(model, robot, variation)
    models = [copy.copy(base) for _ in variation.friction]
    for name, values in fields.items():
        for own, value in zip(models, values):
            getattr(own, name)[:] = value
    return models
