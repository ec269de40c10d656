"""What a rival returns."""

from __future__ import annotations

from typing import NamedTuple

from phuma.rotations import Array


class RobotPath(NamedTuple):
    """A robot's motion, frame by frame."""

    root_pos: Array
    """(T, 3) metres, world"""
    root_quat: Array
    """(T, 4) wxyz, root to world"""
    joint_pos: Array
    """(T, N) radians, in the robot's joint order"""
