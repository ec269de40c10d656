"""The joint ranges that a method is told: those by which feasibility is judged."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot

ROUNDING = 1e-6  # rad: files hold single precision, and a joint on its limit must not be beyond it there


def joint_bounds(robot: Robot, share: float, within: float = 1.0) -> tuple[Array, Array]:
    """(N,), (N,) a share of the range of each joint, by a hair less than asked; a limit beyond zero stays. They lie
    `within` a share of the range around its middle, too.

    All methods get the same, so that one which keeps its limits exactly does not fail for having been told wider ones.
    """
    lower = np.where(robot.lower < 0, share * robot.lower, robot.lower)
    upper = np.where(robot.upper > 0, share * robot.upper, robot.upper)
    least, most = robot.middle_range(within)
    return np.maximum(lower, least) + ROUNDING, np.minimum(upper, most) - ROUNDING
