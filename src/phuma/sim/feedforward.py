"""Compute where the joints' controllers aim when the policy adds nothing.

The controllers' law is  tau = kp (target - q) - kd q'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.inverse_dynamics import Derivatives, inverse_dynamics
from phuma.robots.robot import Robot


def default_base(robot: Robot, motion: Trajectory, rates: Derivatives) -> Array:
    """Return (T, N) rad: the default pose, as BeyondMimic has it."""
    return np.broadcast_to(robot.default_pose, (len(motion), robot.n_joints))


def middle_base(robot: Robot, motion: Trajectory, rates: Derivatives) -> Array:
    """Return (T, N) rad: the middles of the joints' ranges, as ProtoMotions has it."""
    return np.broadcast_to((robot.lower + robot.upper) / 2, (len(motion), robot.n_joints))


def reference_base(robot: Robot, motion: Trajectory, rates: Derivatives) -> Array:
    """Return (T, N) rad: the reference's joints."""
    return motion.joint_pos


def feedforward_base(robot: Robot, motion: Trajectory, rates: Derivatives) -> Array:
    """Return (T, N) rad: targets that give the torques which the reference takes:  q + (tau + kd q') / kp.

    tau by inverse dynamics, with forces of the ground that push and do not pull; what it asks for beyond a motor's
    limit is not aimed at."""
    torque = inverse_dynamics(robot, motion, rates).torque
    torque = np.clip(torque, -robot.torque_limit, robot.torque_limit)
    return motion.joint_pos + (torque + robot.damping * rates.joint_vel) / robot.stiffness


def between(target: Array) -> Array:
    """Return (T, N) the mean of each frame and the one before it: what is aimed at on the way from one to the other."""
    return np.concatenate([target[:1], 0.5 * (target[1:] + target[:-1])])


MIDDLE = "middle"
"""Name of the base of ProtoMotions, with whose gains and action scale it goes together"""
CERTIFIED = "certified"
"""Name of the base whose targets, and whose reference, are those of a motion's certified performance"""


class Base(NamedTuple):
    """The base that a policy's actions are added to."""

    target: Callable[[Robot, Trajectory, Derivatives], Array]
    about: str
    """Description in words."""


BASES = {
    "feedforward": Base(
        feedforward_base,
        "q + (tau + damping q') / stiffness of the reference, with tau by inverse dynamics, mean of the "
        "coming frame and the one before it",
    ),
    "reference": Base(
        reference_base, "the reference's joint positions, mean of the coming frame and the one before it"
    ),
    "default": Base(default_base, "the default pose, whatever the motion"),
    MIDDLE: Base(middle_base, "the middles of the joints' ranges, whatever the motion"),
    CERTIFIED: Base(
        feedforward_base,
        "the motor targets of the motion's certified performance, which is then the reference too; q + (tau + damping "
        "q') / stiffness as for feedforward where it has none",
    ),
}
