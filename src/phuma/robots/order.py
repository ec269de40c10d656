"""The orders that simulators give to a robot's joints and bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.robots.robot import Indices, Robot


class Order(NamedTuple):
    """The indices, in the robot's own order, of the joints and bodies of another order."""

    joints: Indices
    """(N,) indices of the joints"""
    bodies: Indices
    """(B,) indices of the bodies"""


def depth_first(robot: Robot) -> Order:
    """Return MuJoCo's order, which is the robot's own: down each branch to its end."""
    return Order(np.arange(robot.n_joints), np.arange(robot.n_bodies))


def breadth_first(robot: Robot) -> Order:
    """Return PhysX's order: level by level from the root, siblings as in the MJCF, a joint where its body is."""
    depth = np.zeros(robot.n_bodies, dtype=int)
    for b, parent in enumerate(robot.parents):
        depth[b] = depth[parent] + 1 if parent >= 0 else 0
    return Order(np.argsort(depth[robot.joint_body], kind="stable"), np.argsort(depth, kind="stable"))
