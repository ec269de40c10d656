"""Where the joints' controllers aim when the policy adds nothing.

The controllers' law is  tau = kp (target - q) - kd q'.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from phuma.robots.inverse_dynamics import inverse_dynamics
from phuma.robots.robot import Robot
from phuma.rotations import Array


def default_base(robot: Robot, qpos: Array, velocity: Array, acceleration: Array) -> Array:
    """(T, N) the default pose: BeyondMimic's."""
    return np.broadcast_to(robot.default_pose, (len(qpos), robot.n_joints))


def reference_base(robot: Robot, qpos: Array, velocity: Array, acceleration: Array) -> Array:
    """(T, N) the reference's joints."""
    return qpos[:, 7:]


def feedforward_base(robot: Robot, qpos: Array, velocity: Array, acceleration: Array) -> Array:
    """(T, N) what makes the controllers give, on the reference, the torques that it takes:  q + (tau + kd q') / kp.

    tau by inverse dynamics, with forces of the ground that push and do not pull; what it asks for beyond a motor's
    limit is not aimed at."""
    torque = inverse_dynamics(robot, qpos, velocity, acceleration).torque
    torque = np.clip(torque, -robot.torque_limit, robot.torque_limit)
    return qpos[:, 7:] + (torque + robot.damping * velocity[:, 6:]) / robot.stiffness


BASES: dict[str, Callable[[Robot, Array, Array, Array], Array]] = {
    "feedforward": feedforward_base,
    "reference": reference_base,
    "default": default_base,
}
