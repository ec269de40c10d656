"""GMR's tables: which body of the robot follows which of the human's joints, how scaled, and how strictly.

Numbers are those of GMR's public configurations (Araujo et al., "Retargeting Matters: General Motion Retargeting for
Humanoid Motion Tracking", 2025, arXiv 2510.02252): the G1's of github.com/YanjieZe/GMR (`smplx_to_g1.json`), the H1-2's
scales of `smplx_to_h1_2.json` in its forks. The H1-2 has the G1's weights, toes and wrists, for with the weights of
that file, and its ankle at the ball of the human's foot, it is much less faithful. Any other robot gets the weights of
the G1 and the scales of `table_by_rule`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from phuma.body import OpenShape, open_body
from phuma.core.rotations import rotate
from phuma.core.skeleton import INDEX
from phuma.retargeting.baselines.differential import shared_bodies
from phuma.robots.robot import Robot

SIDES = ("left", "right")


class Costs(NamedTuple):
    """Weights of a body's position [1/m] and rotation [1/rad] in the first and the second stage."""

    position1: float
    rotation1: float
    position2: float
    rotation2: float


G1_COSTS: Mapping[str, Costs] = {
    "pelvis": Costs(100, 10, 100, 5),
    "spine3": Costs(0, 10, 0, 10),
    "hip": Costs(0, 10, 10, 5),
    "knee": Costs(0, 10, 10, 5),
    "foot": Costs(100, 10, 100, 50),
    "shoulder": Costs(0, 10, 10, 5),
    "elbow": Costs(0, 10, 10, 5),
    "wrist": Costs(0, 10, 10, 5),
}


@dataclass(frozen=True)
class GmrTable:
    """What GMR has to know of a robot."""

    trunk_and_legs: float
    """scale of the root's path, the trunk and the legs for a person of the reference height"""
    arms: float
    """scale of shoulders, elbows and wrists from the pelvis, for the same person"""
    toe: tuple[float, float, float]
    """the point that follows the ball of the foot, in the frame of the sole's body, metres"""
    costs: Mapping[str, Costs]
    """by part; a part that is left out is not followed"""
    bodies: Mapping[str, str] = field(default_factory=dict)
    """by part, with {side} for left or right; the robot's keypoints say the others"""
    spread: float = 0.0
    """by how much the targets of the feet are moved apart, each, metres"""
    reference_height: float = 1.8
    """metres"""


PUBLISHED: Mapping[str, GmrTable] = {
    "g1": GmrTable(
        trunk_and_legs=0.9,
        arms=0.8,
        toe=(0.1, 0.0, -0.02),
        costs=G1_COSTS,
        bodies={"hip": "{side}_hip_roll_link", "shoulder": "{side}_shoulder_yaw_link"},
        spread=0.02,
    ),
    "h1_2": GmrTable(trunk_and_legs=1.1, arms=1.1, toe=(0.106, 0.0, -0.045), costs=G1_COSTS),
}


def table_of(robot: Robot) -> GmrTable:
    """The published table of a robot, or one by rule."""
    return PUBLISHED.get(robot.name) or table_by_rule(robot)


def table_by_rule(robot: Robot) -> GmrTable:
    """For a robot that GMR has no table for: the scales that make a person of the reference height, legs straight, as
    high at the pelvis as the robot, and reach as far from pelvis to wrist in the shared pose; the ball of the foot at
    the share of the robot's sole at which it is of the person's."""
    height = GmrTable.reference_height
    body = open_body(OpenShape(stature=height))
    pos, quat = shared_bodies(robot)
    soles = pos[robot.sole_body] + rotate(quat[robot.sole_body], robot.sole_point)
    points = pos[robot.keypoint_body] + rotate(quat[robot.keypoint_body], robot.keypoint_offset)
    tall = points[0, 2] - soles[:, 2].min()
    wrists = [robot.keypoints.index(f"{side}_wrist") for side in SIDES]
    reach = np.linalg.norm(points[wrists] - points[0], axis=1).mean()
    joints = body.joints - body.joints[0]
    human_tall = -body.soles[:, 1].min()
    human_reach = np.linalg.norm(joints[[INDEX[f"{side}_wrist"] for side in SIDES]], axis=1).mean()
    heel, toe = robot.sole_point[0], robot.sole_point[1]
    ball = heel + 0.74 * (toe - heel)
    return GmrTable(
        trunk_and_legs=float(tall / human_tall),
        arms=float(reach / human_reach),
        toe=(float(ball[0]), float(ball[1]), float(ball[2])),
        costs=G1_COSTS,
    )
