"""Replay motor targets and record what the motors and the ground do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim.model import simulation_model
from phuma.sim.mujoco_cpu import unreported


class Recording(NamedTuple):
    """States at control rate, one more than targets, and the means of forces from each to the next."""

    qpos: Array
    """(T, 7 + N) states in MuJoCo's coordinates"""
    qvel: Array
    """(T, 6 + N)"""
    torque: Array
    """(T - 1, N) Nm, of the motors"""
    foot_force: Array
    """(T - 1, 2, 3) N in the world, on the left and the right foot"""


def replay(robot: Robot, qpos: Array, qvel: Array, targets: Iterable[Array], substeps: int) -> Recording:
    """Return what happens from a state under motor targets, open loop, in a simulation of its own."""
    model = simulation_model(robot, substeps)
    data = mujoco.MjData(model)
    feet = robot.sole_body[::2] + 1  # MuJoCo counts the world as body 0
    states, torques, forces = [(qpos, qvel)], [], []
    data.qpos, data.qvel = qpos, qvel
    with unreported():
        for target in targets:
            data.ctrl, data.qacc_warmstart = target, 0.0
            torque, force = np.zeros(model.nu), np.zeros((len(feet), 3))
            for _ in range(substeps):
                mujoco.mj_step(model, data)
                mujoco.mj_rnePostConstraint(model, data)
                torque += data.actuator_force / substeps
                force += data.cfrc_ext[feet, 3:] / substeps
            states.append((data.qpos.copy(), data.qvel.copy()))
            torques.append(torque)
            forces.append(force)
    at, speed = (np.stack(values) for values in zip(*states))
    return Recording(at, speed, np.array(torques).reshape(-1, model.nu), np.array(forces).reshape(-1, len(feet), 3))
