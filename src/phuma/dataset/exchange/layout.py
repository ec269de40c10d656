"""Conversions that layouts share: quaternion order, joint order, rate and precision."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.robots.robot import Robot


def prepared(motion: RobotMotion, robot: Robot, fps: float | None = None) -> RobotMotion:
    """Return the motion with its joints in the robot's order, at the rate that a layout demands if it demands one."""
    motion = motion.reordered(robot.joint_names)
    return motion if fps is None else motion.resampled(fps)


def to_xyzw(wxyz: Array) -> Array:
    """Return (T, 4) quaternions wxyz as xyzw, without jumps of sign over time."""
    return np.roll(rot.continuous(wxyz), -1, axis=-1)


def to_wxyz(xyzw: Array) -> Array:
    """Return (T, 4) quaternions xyzw as wxyz."""
    return np.roll(xyzw, 1, axis=-1)


def single(values: Array) -> Array:
    """Return the values as float32 in C order."""
    return np.ascontiguousarray(values, dtype=np.float32)


def recorded(motion: RobotMotion) -> dict[str, Array]:
    """Return what a dictionary of root and joints holds beside them of a motion that was performed under physics.

    root_vel (T, 3) and root_ang_vel (T, 3) in the world, dof_vel (T, N), dof_torque (T, N), foot_contact (T, 4) 0 or 1.
    Of any other motion it holds nothing more.
    """
    if not isinstance(motion, PerformedMotion) or motion.velocity is None:
        return {}
    root, spin, joints = np.split(motion.velocity, [3, 6], axis=1)
    torque = {} if motion.torque is None else {"dof_torque": single(motion.torque)}
    return {
        "root_vel": single(root),
        "root_ang_vel": single(rot.rotate(motion.root_quat, spin)),
        "dof_vel": single(joints),
        **torque,
        "foot_contact": single(motion.contact),
    }
