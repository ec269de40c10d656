"""A robot in maximal coordinates: every body counts, and head and hands are bodies of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from phuma.core import rotations as rot
from phuma.robots.fixed_bodies import PROTOMOTIONS, with_fixed
from phuma.robots.locking import LOCK
from phuma.robots.robot import Robot


@lru_cache(maxsize=8)
def whole_robot(robot: Robot) -> Robot:
    """Return the robot with the head and hands that ProtoMotions' model of it has, each fixed to a body, and all bodies
    as key bodies: 33 on the G1. A robot that ProtoMotions does not know has its own bodies alone. What is welded
    between others is no body of its own: the H1-2 with locked wrists has 25."""
    names, of, offset, added = with_fixed(robot, PROTOMOTIONS.get(robot.name.partition(LOCK)[0], ()))
    ours = np.flatnonzero(~added)  # where each of the robot's own bodies is now
    parents = np.where(added, ours[of], np.where(robot.parents[of] < 0, -1, ours[robot.parents[of]]))
    moved, carrying = {0, *ours[robot.joint_body].tolist()}, set(parents.tolist())
    return replace(
        robot,
        body_names=names,
        parents=parents,
        body_pos=np.where(added[:, None], offset, robot.body_pos[of]),
        body_quat=np.where(added[:, None], rot.IDENTITY, robot.body_quat[of]),
        joint_body=ours[robot.joint_body],
        keypoint_body=ours[robot.keypoint_body],
        sole_body=ours[robot.sole_body],
        key_bodies=tuple(name for b, name in enumerate(names) if b in moved or b not in carrying),
    )


def role_bodies(robot: Robot) -> Mapping[str, str]:
    """Return the names of a whole robot's bodies by what they are to anybody: pelvis, head, feet and hands. A robot
    without a head has its anchor, one without hands its wrists."""
    names = robot.body_names
    hands = [
        _hand(robot, int(robot.keypoint_body[robot.keypoints.index(f"{side}_wrist")])) for side in ("left", "right")
    ]
    return {
        "pelvis": names[0],
        "head": next((name for name in names if name.startswith("head")), robot.anchor_body),
        "left_foot": names[int(robot.sole_body[0])],
        "right_foot": names[int(robot.sole_body[2])],
        "left_hand": hands[0],
        "right_hand": hands[1],
    }


def _hand(robot: Robot, wrist: int) -> str:
    """Return the name of the last body that is fixed to a wrist's, or of the wrist's."""
    fixed = [b for b in range(robot.n_bodies) if robot.parents[b] == wrist and b not in robot.joint_body]
    return _hand(robot, fixed[0]) if fixed else robot.body_names[wrist]
