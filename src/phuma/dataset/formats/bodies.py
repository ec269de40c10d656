"""Where a robot's bodies are in every frame, and how fast they move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma import rotations as rot
from phuma.robot_motion import RobotMotion
from phuma.robots.kinematics import body_poses
from phuma.robots.robot import Indices, Robot
from phuma.rotations import Array


class BodyPoses(NamedTuple):
    """Frames of the robot's bodies in the world, in the order of its MJCF, without the world."""

    pos: Array
    """(T, B, 3)"""
    quat: Array
    """(T, B, 4) wxyz, without jumps of sign over time"""


def pose_bodies(robot: Robot, root_pos: Array, root_quat: Array, joint_pos: Array) -> BodyPoses:
    """Forward kinematics, all frames at once.

    root_pos (T, 3), root_quat (T, 4) wxyz, joint_pos (T, N) in the robot's order.
    """
    pos, turn = body_poses(robot, root_pos, root_quat, joint_pos)
    return BodyPoses(pos, rot.continuous(rot.from_matrix(turn)))


def of_motion(robot: Robot, motion: RobotMotion) -> BodyPoses:
    """The same for a motion whose joints are in the robot's order."""
    return pose_bodies(robot, motion.root_pos, motion.root_quat, motion.joint_pos)


def points_on(poses: BodyPoses, body: Indices, offset: Array) -> Array:
    """(T, P, 3) points at `offset` (P, 3) on bodies `body` (P,), in the world."""
    return poses.pos[:, body] + rot.rotate(poses.quat[:, body], offset)


def velocity(values: Array, fps: float) -> Array:
    """Per second: v_t = (x_{t+1} - x_{t-1}) fps / 2, and from one neighbour at the ends; 0 for a single frame."""
    return np.gradient(values, 1 / fps, axis=0) if len(values) > 1 else np.zeros_like(values)


def angular_velocity(quat: Array, fps: float) -> Array:
    """(T, B, 3) rad/s in the world: w_t = log(q_{t+1} q_{t-1}^-1) fps / 2, and from one neighbour at the ends."""
    if len(quat) == 1:
        return np.zeros((*quat.shape[:-1], 3))
    before, after = np.maximum(np.arange(len(quat)) - 1, 0), np.minimum(np.arange(len(quat)) + 1, len(quat) - 1)
    turned = rot.to_rotvec(rot.multiply(quat[after], rot.conjugate(quat[before])))
    return turned * (fps / (after - before))[:, None, None]


class Order(NamedTuple):
    """Where joints and bodies of another order are in the robot's own."""

    joints: Indices
    """(N,)"""
    bodies: Indices
    """(B,)"""


def depth_first(robot: Robot) -> Order:
    """MuJoCo's order, which is the robot's own: down each branch to its end."""
    return Order(np.arange(robot.n_joints), np.arange(robot.n_bodies))


def breadth_first(robot: Robot) -> Order:
    """PhysX's order: level by level from the root, siblings as in the MJCF. A joint is where its body is."""
    depth = np.zeros(robot.n_bodies, dtype=int)
    for b, parent in enumerate(robot.parents):
        depth[b] = depth[parent] + 1 if parent >= 0 else 0
    return Order(np.argsort(depth[robot.joint_body], kind="stable"), np.argsort(depth, kind="stable"))
