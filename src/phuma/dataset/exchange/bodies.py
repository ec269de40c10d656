"""The poses and velocities of a robot's bodies in every frame, and their orders in MuJoCo and PhysX.

Velocities are those of the simulation where a motion was performed in one, else central differences of its poses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.kinematics import body_poses, body_velocities
from phuma.robots.robot import Indices, Robot


class BodyPoses(NamedTuple):
    """Poses of the robot's bodies in the world, in the order of its MJCF, without the world body."""

    pos: Array
    """(T, B, 3) m, positions of the bodies"""
    quat: Array
    """(T, B, 4) wxyz, rotations of the bodies, without jumps of sign over time"""


def pose_bodies(robot: Robot, trajectory: Trajectory) -> BodyPoses:
    """Return the poses of all bodies in all frames, by forward kinematics; joints are in the robot's order."""
    pos, mat = body_poses(robot, trajectory)
    return BodyPoses(pos, rot.continuous(rot.from_matrix(mat)))


def points_on(poses: BodyPoses, body: Indices, offset: Array) -> Array:
    """Return (T, P, 3), in the world, the points at `offset` (P, 3) on the bodies `body` (P,)."""
    return poses.pos[:, body] + rot.rotate(poses.quat[:, body], offset)


class Velocities(NamedTuple):
    """Velocities of joints, of points on bodies, and of these bodies' rotations."""

    joints: Array
    """(T, N) rad/s, in the robot's order"""
    points: Array
    """(T, P, 3) m/s in the world"""
    angular: Array
    """(T, P, 3) rad/s in the world, of the bodies that the points are on"""


def velocities(motion: RobotMotion, robot: Robot, poses: BodyPoses, body: Indices, offset: Array) -> Velocities:
    """Return how a motion moves the points at `offset` (P, 3) on the bodies `body` (P,); `poses` are all bodies'."""
    if isinstance(motion, PerformedMotion) and motion.velocity is not None:
        linear, angular = (value[:, body] for value in body_velocities(robot, motion, motion.velocity))
        arm = rot.rotate(poses.quat[:, body], offset)
        return Velocities(motion.velocity[:, 6:], linear + np.cross(angular, arm), angular)
    points = points_on(poses, body, offset)
    angular = angular_velocity(poses.quat, motion.fps)[:, body]
    return Velocities(velocity(motion.joint_pos, motion.fps), velocity(points, motion.fps), angular)


def velocity(values: Array, fps: float) -> Array:
    """Return v_t = (x_{t+1} - x_{t-1}) fps / 2 per second, one-sided at the ends, and 0 for a single frame."""
    return np.gradient(values, 1 / fps, axis=0) if len(values) > 1 else np.zeros_like(values)


def angular_velocity(quat: Array, fps: float) -> Array:
    """Return (T, B, 3) w_t = log(q_{t+1} q_{t-1}^-1) fps / 2 in rad/s, in the world, one-sided at the ends."""
    if len(quat) == 1:
        return np.zeros((*quat.shape[:-1], 3))
    before, after = np.maximum(np.arange(len(quat)) - 1, 0), np.minimum(np.arange(len(quat)) + 1, len(quat) - 1)
    rotvec = rot.to_rotvec(rot.multiply(quat[after], rot.conjugate(quat[before])))
    return rotvec * (fps / (after - before))[:, None, None]


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
