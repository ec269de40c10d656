"""Simulate a world: what each of its changes does to the model and to the simulator.

Noise, pushes and delay are not here: they happen between the simulator and the policy, see `sim.events`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mujoco

from phuma.errors import ConfigError, MissingExtraError
from phuma.robots.robot import Robot
from phuma.sim.interface import Simulation
from phuma.sim.maker_model import MakerSimulation, joint_columns, maker_model
from phuma.sim.model import simulation_model
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.worlds import World

CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}


def change_cone(model: mujoco.MjModel, cone: str) -> None:
    """Set the shape of the friction cone."""
    model.opt.cone = CONES[cone]


def change_friction(model: mujoco.MjModel, friction: float) -> None:
    """Set the coefficient of friction of all contacts."""
    model.geom_friction[:, 0] = friction
    model.pair_friction[:, :2] = friction


def change_mass(model: mujoco.MjModel, factor: float) -> None:
    """Make all bodies heavier or lighter, as if of another density."""
    model.body_mass *= factor
    model.body_inertia *= factor
    mujoco.mj_setConst(model, mujoco.MjData(model))


def change_gains(model: mujoco.MjModel, factor: float) -> None:
    """Make the joints' controllers stiffer or softer: factor (kp (target - q) - kd q')."""
    model.actuator_gainprm[:, 0] *= factor
    model.actuator_biasprm[:, 1:3] *= factor


MODEL_CHANGES: Mapping[str, Callable[[mujoco.MjModel, Any], None]] = {
    "cone": change_cone,
    "friction": change_friction,
    "mass": change_mass,
    "gains": change_gains,
}
"""What changes of a world, by their names, do to the model."""


def world_model(world: World, robot: Robot, substeps: int) -> mujoco.MjModel:
    """Return the model of a world."""
    model = simulation_model(robot, substeps) if world.model is None else maker_model(world.model, robot, substeps)
    for name, value in world.changes.items():
        if name in MODEL_CHANGES:
            model = copy.copy(model)
            MODEL_CHANGES[name](model, value)
    return model


def simulation_in(world: World, robot: Robot, substeps: int) -> Callable[[int], Simulation]:
    """Return a function that makes a simulator of a number of environments in this world. A simulator that is not
    installed is a MissingExtraError."""
    model = world_model(world, robot, substeps)
    if world.simulator == "mujoco_warp":
        if (joint_columns(model, robot) != range(robot.n_joints)).any():
            raise ConfigError(f"{world.model}: has its joints in another order than {robot.name}; use mujoco for it")
        from phuma.sim.mujoco_warp import WarpSimulation

        return partial(WarpSimulation, robot, substeps=substeps, model=model)
    kind = MujocoSimulation if world.model is None else MakerSimulation
    return partial(kind, robot, substeps=substeps, model=model)


def why_not(world: World) -> str | None:
    """Return why a world cannot be simulated on this machine; None where it can."""
    if world.simulator == "mujoco_warp":
        try:
            import phuma.sim.mujoco_warp  # noqa: F401
        except MissingExtraError as e:
            return str(e)
    return None
