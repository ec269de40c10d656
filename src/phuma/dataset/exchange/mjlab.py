"""mjlab's motion `.npz`: 50 Hz, joints and bodies in MuJoCo's order without the world, quaternions wxyz.

A body's linear velocity is that of its frame's origin, in the world.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.format import Format, all_bodies
from phuma.dataset.exchange.tracking import RATE, is_tracking, load_tracking, save_tracking
from phuma.robots.order import depth_first
from phuma.robots.robot import Robot


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at 50 Hz."""
    origins = np.zeros((robot.n_bodies, 3))
    save_tracking(path, motion, robot, depth_first(robot), np.array([float(RATE)]), origins)


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file of mjlab or of whole_body_tracking; which order it has, its names or its kinematics tell."""
    return [load_tracking(path, robot, FORMAT.name)]


FORMAT = Format(
    "mjlab", ".npz", "mjlab's motions, 50 Hz, MuJoCo's order", write, read, is_tracking,
    names=all_bodies, rate=lambda _: RATE, within=0.9, all_joints=True,
)  # fmt: skip
