"""The poses and velocities of a robot's bodies in every frame.

Velocities of root and joints are those of the simulation where a motion was performed in one, else differences of its
frames. The model carries them on to the bodies.
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
    """Velocities of the root, of joints, of points on bodies, and of these bodies' rotations."""

    root: Array
    """(T, 6) m/s, linear in the world, and rad/s, angular in the root's frame"""
    joints: Array
    """(T, N) rad/s, in the robot's order"""
    points: Array
    """(T, P, 3) m/s in the world"""
    angular: Array
    """(T, P, 3) rad/s in the world, of the bodies that the points are on"""


def velocities(motion: RobotMotion, robot: Robot, poses: BodyPoses, body: Indices, offset: Array) -> Velocities:
    """Return how a motion moves the points at `offset` (P, 3) on the bodies `body` (P,); `poses` are all bodies'."""
    velocity = motion.velocity if isinstance(motion, PerformedMotion) else None
    velocity = differences(motion) if velocity is None else velocity
    linear, angular = (value[:, body] for value in body_velocities(robot, motion, velocity))
    arm = rot.rotate(poses.quat[:, body], offset)
    return Velocities(velocity[:, :6], velocity[:, 6:], linear + np.cross(angular, arm), angular)


def differences(motion: Trajectory) -> Array:
    """Return (T, 6 + N) the velocities of root and joints between frames: root linear in the world, m/s, angular in the
    root's frame, joints, rad/s.

    With the step s_t from frame t to the next, which is a rotation vector for the root's rotation:
    v_t = (s_{t-1} + s_t) fps / 2, at the ends (3 s_0 - s_1) fps / 2 and likewise, and 0 for a single frame. All are of
    second order in the time between frames.
    """
    turned = rot.to_rotvec(rot.multiply(rot.conjugate(motion.root_quat[:-1]), motion.root_quat[1:]))
    steps = np.concatenate([np.diff(motion.root_pos, axis=0), turned, np.diff(motion.joint_pos, axis=0)], axis=1)
    if not len(steps):
        return np.zeros((1, steps.shape[1]))
    first, last = (steps[0], steps[-1]) if len(steps) == 1 else (2 * steps[0] - steps[1], 2 * steps[-1] - steps[-2])
    around = np.concatenate([first[None], steps, last[None]])
    return (around[:-1] + around[1:]) * (motion.fps / 2)
