"""Randomize robots so that they differ as the real one differs from its model, by the paper's table of randomization.

MuJoCo has no restitution and one coefficient of friction. The coefficient takes the table's range of dynamic friction,
which is the one that acts once a foot slides. Restitution is left out: a floor that is damped less gives it, but at the
physics steps of training no foot rests on such a floor (benchmarks/restitution.py).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot

GAIN = (0.9, 1.1)
COM = ((-0.025, 0.025), (-0.05, 0.05), (-0.05, 0.05))  # m
FRICTION = (0.3, 1.2)
BIAS = (-0.025, 0.025)  # rad


@dataclass(frozen=True, eq=False)
class Randomization:
    """The differences of the robots of E environments, with N joints, from their model."""

    stiffness: Array
    """(E, N) factors on the P gains"""
    damping: Array
    """(E, N) factors on the D gains"""
    com: Array
    """(E, 3) m, offset of the root body's centre of mass"""
    friction: Array
    """(E,) coefficient of friction of all contacts"""
    joint_bias: Array
    """(E, N) rad by which encoders read too much; the environment applies it, not the simulator"""


def draw_randomization(rng: np.random.Generator, environments: int, joints: int) -> Randomization:
    """Return a random draw of the differences, by the paper's table."""
    low, high = np.array(COM).T
    return Randomization(
        stiffness=rng.uniform(*GAIN, size=(environments, joints)),
        damping=rng.uniform(*GAIN, size=(environments, joints)),
        com=rng.uniform(low, high, size=(environments, 3)),
        friction=rng.uniform(*FRICTION, size=environments),
        joint_bias=rng.uniform(*BIAS, size=(environments, joints)).astype(np.float32),
    )


def randomizable_model(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a copy of the model whose root's centre of mass can be anywhere."""
    out = copy.copy(model)
    out.body_sameframe[1] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
    return out


def randomized_fields(model: mujoco.MjModel, robot: Robot, randomization: Randomization) -> dict[str, Array]:
    """Return the fields of the model that differ, each with a leading axis of the E environments."""
    environments = len(randomization.friction)
    names = ("actuator_gainprm", "actuator_biasprm", "body_ipos", "geom_friction")
    fields = {name: np.repeat(getattr(model, name)[None], environments, axis=0) for name in names}
    fields["actuator_gainprm"][:, :, 0] = robot.stiffness * randomization.stiffness
    fields["actuator_biasprm"][:, :, 1] = -robot.stiffness * randomization.stiffness
    fields["actuator_biasprm"][:, :, 2] = -robot.damping * randomization.damping
    fields["body_ipos"][:, 1] += randomization.com
    fields["geom_friction"][:, :, 0] = randomization.friction[:, None]
    return fields


def randomized_models(model: mujoco.MjModel, robot: Robot, randomization: Randomization) -> list[mujoco.MjModel]:
    """Return a model for each environment."""
    base, fields = randomizable_model(model), randomized_fields(model, robot, randomization)
    models = [copy.copy(base) for _ in randomization.friction]
    for name, values in fields.items():
        for own, value in zip(models, values):
            getattr(own, name)[:] = value
    return models
