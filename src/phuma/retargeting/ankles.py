"""Which ankles can roll their foot: a leg without such a joint has to stand upright for its sole to be level."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.kinematics import local_body_poses, points_of, points_on_bodies
from phuma.robots.robot import Robot

SIDES = ("left", "right")
TURN = 0.01  # rad that a joint is turned by
ROLLS = 0.5  # rad that a sole leans by for each of a joint that rolls it


@lru_cache(maxsize=8)
def stiff_ankles(robot: Robot) -> Array:
    """Return (2,) int, left and right: 1 where no joint behind the knee rolls the foot, else 0.

    Every such joint is turned a little in the shared pose, and the sole's inner and outer side are looked at.
    """
    out = np.ones(2, dtype=np.int64)
    for side, name in enumerate(SIDES):
        foot = np.repeat(robot.sole_body[2 * side], 2)
        points = points_of(robot, foot, robot.sole_side[side])
        knee = robot.keypoints.index(f"{name}_knee")
        above = points_of(robot, robot.keypoint_body[[knee]], robot.keypoint_offset[[knee]]).joints[0]
        behind = [j for j in points.joints[0, : points.depth[0]] if j not in above]
        poses = np.tile(robot.shared_pose, (1 + len(behind), 1))
        poses[range(1, len(poses)), behind] += TURN
        inner, outer = np.moveaxis(points_on_bodies(points, *local_body_poses(robot, poses)), 1, 0)
        lean = (inner - outer)[:, 2] / np.linalg.norm(inner - outer, axis=1)
        out[side] = not (np.abs(lean[1:] - lean[0]) > ROLLS * TURN).any()
    return out
