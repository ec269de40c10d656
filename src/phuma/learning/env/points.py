"""Points by which a robot is tracked beside its key bodies: knees, ankles, elbows, hands, head, and its soles' corners.

They follow from the robot's description: each is fixed to a key body. A hand is 0.25 m from the elbow towards the
wrist, the head 0.42 m above the anchor body, both in the default pose.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like, namespace
from phuma.learning.env.turning import rotate
from phuma.robots.kinematics import local_body_poses
from phuma.robots.robot import Robot
from phuma.sim.state import State

HAND, HEAD = 0.25, 0.42
"""Metres from the elbow to the hand, and from the anchor body to the head"""
POINTS = (
    "left_knee", "right_knee", "left_ankle", "right_ankle", "left_elbow", "right_elbow", "left_hand", "right_hand",
    "head",
)  # fmt: skip
"""Names of the points in their order"""


class Points(NamedTuple):
    """Where points are on a robot, in a simulator's library and on its device."""

    body: Tensor
    """(P,) the key body that each of POINTS is fixed to"""
    offset: Tensor
    """(P, 3) m, where in that body's frame"""
    foot: Tensor
    """(2,) the key bodies of the left and the right sole"""
    corners: Tensor
    """(2, 4, 3) m, their soles' corners in those bodies' frames"""


class Moved(NamedTuple):
    """Points of E environments in the world, and how they move."""

    pos: Tensor
    """(E, P, 3) m"""
    quat: Tensor
    """(E, P, 4) wxyz, rotations of the bodies that they are fixed to"""
    linvel: Tensor
    """(E, P, 3) m/s"""
    angvel: Tensor
    """(E, P, 3) rad/s"""


def moved(points: Points, state: State) -> Moved:
    """Return the points of environments:  p_b + R_b o,  moving by  v_b + w_b x R_b o."""
    quat, angvel = state.body_quat[:, points.body], state.body_angvel[:, points.body]
    arm = rotate(quat, points.offset[None])
    speed = state.body_linvel[:, points.body] + namespace(arm).linalg.cross(angvel, arm)
    return Moved(state.body_pos[:, points.body] + arm, quat, speed, angvel)


def sole_heights(points: Points, state: State) -> Tensor:
    """Return (E, 2) m, the heights of the lowest corners of the left and the right sole."""
    quat = state.body_quat[:, points.foot][:, :, None]
    corners = state.body_pos[:, points.foot][:, :, None] + rotate(quat, points.corners[None])
    return namespace(corners).amin(corners[..., 2], -1)


def points_of(robot: Robot, example: Tensor) -> Points:
    """Return the robot's points in the library and on the device of `example`."""
    return Points(*(like(example, array.copy()) for array in _fixed(robot)))


@lru_cache(maxsize=8)
def _fixed(robot: Robot) -> Points:
    pos, matrix = (values[0] for values in local_body_poses(robot, robot.default_pose[None]))

    def keypoint(name: str) -> tuple[int, Array]:
        number = robot.keypoints.index(name)
        body = int(robot.keypoint_body[number])
        return body, pos[body] + matrix[body] @ robot.keypoint_offset[number]

    def hand(side: str) -> tuple[int, Array]:
        body, wrist = int(robot.keypoint_body[robot.keypoints.index(f"{side}_elbow")]), keypoint(f"{side}_wrist")[1]
        arm = wrist - pos[body]
        return body, pos[body] + HAND * arm / max(float(np.linalg.norm(arm)), 1e-6)

    sides = ("left", "right")
    feet = [int(body) for body in robot.sole_body[::2]]
    anchor = robot.body_names.index(robot.anchor_body)
    at = [
        *(keypoint(f"{side}_knee") for side in sides),
        *((foot, pos[foot]) for foot in feet),
        *(keypoint(f"{side}_elbow") for side in sides),
        *(hand(side) for side in sides),
        (anchor, pos[anchor] + [0.0, 0.0, HEAD]),
    ]
    body = np.array([_carrier(robot, b) for b, _ in at])
    offset = np.stack([_seen_from(pos, matrix, robot, k, p[None])[0] for k, (_, p) in zip(body, at)])
    foot = np.array([_carrier(robot, b) for b in feet])
    corners = [
        _seen_from(pos, matrix, robot, k, pos[b] + own @ matrix[b].T)
        for k, b, own in zip(foot, feet, robot.sole_corners)
    ]
    return Points(body, offset.astype(np.float32), foot, np.stack(corners).astype(np.float32))


def _carrier(robot: Robot, body: int) -> int:
    """Return the key body that carries a body: itself, or the nearest above it; the anchor where there is none."""
    while body >= 0:
        if (name := robot.body_names[body]) in robot.key_bodies:
            return robot.key_bodies.index(name)
        body = int(robot.parents[body])
    return robot.key_bodies.index(robot.anchor_body)


def _seen_from(pos: Array, matrix: Array, robot: Robot, key: int, points: Array) -> Array:
    """Return (..., 3) m, points seen from a key body in the default pose."""
    body = robot.body_names.index(robot.key_bodies[key])
    return (points - pos[body]) @ matrix[body]
