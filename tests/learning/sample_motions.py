"""Motions of robots for tests, whose numbers are known: standing still, knee bends with planted feet."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.robots import Robot
from phuma.robots.kinematics import local_body_poses


def robot_motion(robot: Robot, root_pos, root_quat, joint_pos, fps: float = 30.0) -> RobotMotion:
    """Of arrays (T, 3), (T, 4) and (T, N)."""
    contact = np.ones((len(root_pos), 4))
    made_up = Provenance("made up", "none")
    return RobotMotion(robot.name, robot.joint_names, fps, root_pos, root_quat, joint_pos, contact, None, made_up)


def bent(robot: Robot, bend, arm=0.0) -> np.ndarray:
    """(T, N) the default pose with hips, knees and ankles bent by (T,) rad so that soles stay level, and the left
    shoulder's pitch changed by `arm`."""
    pose = np.tile(robot.default_pose, (len(bend), 1))
    for side in ("left", "right"):
        for joint, share in (("hip_pitch", -1), ("knee", 2), ("ankle_pitch", -1)):
            pose[:, robot.joint_names.index(f"{side}_{joint}_joint")] = share * bend
    pose[:, robot.joint_names.index("left_shoulder_pitch_joint")] += arm
    return pose


def planted(robot: Robot, joints, fps: float = 30.0) -> RobotMotion:
    """Both feet stay where they are, soles on the ground, the root upright."""
    upright = np.tile(rot.IDENTITY, (len(joints), 1))
    place, turn = local_body_poses(robot, joints)
    foot = robot.sole_body[0]
    lowest = (place[:, foot] + turn[:, foot] @ robot.sole_point[0])[:, 2]
    root = -place[:, foot] + np.array([0.0, place[0, foot, 1], 0.0])
    root[:, 2] = -lowest
    return robot_motion(robot, root, upright, joints, fps)


def stand(robot: Robot, seconds: float = 1.0, fps: float = 30.0) -> RobotMotion:
    """Still, knees a little bent."""
    return planted(robot, bent(robot, np.full(round(seconds * fps) + 1, 0.33)), fps)


def dip(robot: Robot, seconds: float = 1.0, fps: float = 30.0, depth: float = 0.15) -> RobotMotion:
    """A knee bend and back, an arm swinging."""
    phase = np.linspace(0, 2 * np.pi, round(seconds * fps) + 1)
    return planted(robot, bent(robot, 0.33 + depth * (1 - np.cos(phase)), 0.3 * np.sin(phase)), fps)


def wandering(robot: Robot, seconds: float = 2.0, fps: float = 30.0, seed: int = 0) -> RobotMotion:
    """In the air: any joint, place and turn changing smoothly, none like another."""
    rng, time = np.random.default_rng(seed), np.arange(round(seconds * fps) + 1)[:, None] / fps

    def waves(count: int, size: float) -> np.ndarray:
        return size * np.sin(time * rng.uniform(1, 4, count) + rng.uniform(0, 6, count))

    quat = rot.from_rotvec(waves(3, 1.0))
    return robot_motion(robot, waves(3, 0.5) + [0, 0, 2.0], quat, waves(robot.n_joints, 0.5), fps)


def small_motions(robot: Robot) -> dict[str, RobotMotion]:
    """Three of different lengths that robots can do: 51, 81 and 36 frames at control rate."""
    return {"stand": stand(robot, 1.0), "dip": dip(robot, 1.6), "brief": dip(robot, 0.7, depth=0.05)}


def library(robot: Robot, **motions: RobotMotion) -> MotionLibrary:
    """Of these motions, or of the small ones."""
    return library_of(robot, ((name, motion, None) for name, motion in (motions or small_motions(robot)).items()))
