"""What layouts differ in: quaternion order, joint order and rate."""

from __future__ import annotations

import numpy as np

from phuma import rotations as rot
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array


def prepared(motion: RobotMotion, robot: Robot, fps: float | None = None) -> RobotMotion:
    """A motion with its joints in the robot's order, at the rate that a layout demands."""
    motion = motion.reordered(robot.joint_names)
    return motion if fps is None else motion.resampled(fps)


def to_xyzw(wxyz: Array) -> Array:
    """(T, 4) quaternions as most others write them, without jumps of sign over time."""
    return np.roll(rot.continuous(wxyz), -1, axis=-1)


def to_wxyz(xyzw: Array) -> Array:
    return np.roll(xyzw, 1, axis=-1)


def single(values: Array) -> Array:
    """As float32, in C order."""
    return np.ascontiguousarray(values, dtype=np.float32)
