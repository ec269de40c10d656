"""What the robot should do: the human's motion on a body with the robot's bones, standing on the ground."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phuma.body import Body
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, PARENTS, REST_TO_WORLD
from phuma.robots.kinematics import local_body_poses, points_of, points_on_bodies
from phuma.robots.robot import Robot

LIMBS = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
LINKS = tuple(
    (f"{side}_{a}" if a != "pelvis" else a, f"{side}_{b}")
    for side in ("left", "right")
    for a, b in (("pelvis", "hip"), *LIMBS[:2], ("pelvis", "shoulder"), *LIMBS[2:])
)
"""The 12 links whose directions count"""
ROBOT_TO_REST = rot.conjugate(REST_TO_WORLD)
"""A robot's root has x ahead, y left, z up; a body's rest axes are x left, y up, z ahead"""


@dataclass(frozen=True, eq=False)
class Target:
    """The adapted body's motion."""

    motion: HumanMotion
    """On the adapted body; the robot's soles stand on z = 0 where the human's do"""
    scale: float
    """of the root's path: leg length of the robot over the human's"""
    root_quat: Array
    """(T, 4) wxyz, the human's root as a robot's root"""
    feet: Array
    """(T, 2, 3) unit vectors from heel to toe, left and right"""


def shared_pose_points(robot: Robot, body: Array, offset: Array) -> Array:
    """(P, 3) where points on the robot are in the shared pose, from its root, in a body's rest axes."""
    posed = local_body_poses(robot, robot.shared_pose[None])
    return rot.rotate(ROBOT_TO_REST, points_on_bodies(points_of(robot, body, offset), *posed)[0])


def shared_keypoints(robot: Robot) -> dict[str, Array]:
    """Where the robot's keypoints are in the shared pose, from its pelvis, in a body's rest axes."""
    pos = shared_pose_points(robot, robot.keypoint_body, robot.keypoint_offset)
    return dict(zip(robot.keypoints, pos - pos[robot.keypoints.index("pelvis")]))


@lru_cache(maxsize=16)  # clips of one recording share their body
def adapted_body(body: Body, robot: Robot) -> Body:
    """The body that matches the robot in the shared pose: hips and shoulders where the robot's are, limbs as long as
    the robot's in the directions of this body's, the trunk in proportion."""
    robot_rest = shared_keypoints(robot)
    offsets = body.offsets.copy()
    offsets[0] = 0.0
    for side in ("left", "right"):
        offsets[INDEX[f"{side}_hip"]] = robot_rest[f"{side}_hip"]
        for start, end in LIMBS:
            j = INDEX[f"{side}_{end}"]
            length = np.linalg.norm(robot_rest[f"{side}_{end}"] - robot_rest[f"{side}_{start}"])
            offsets[j] *= length / np.linalg.norm(offsets[j])
    rise = np.mean([robot_rest[f"{s}_shoulder"][1] for s in ("left", "right")])
    own_rise = np.mean([(body.joints - body.joints[0])[INDEX[f"{s}_shoulder"]][1] for s in ("left", "right")])
    for name in ("spine1", "spine2", "spine3", "neck", "head", "left_collar", "right_collar"):
        offsets[INDEX[name]] *= rise / own_rise
    joints = np.zeros((N_JOINTS, 3))
    for j in range(1, N_JOINTS):
        joints[j] = joints[PARENTS[j]] + offsets[j]
    for side in ("left", "right"):
        # What the trunk in proportion leaves to the robot's shoulder is the collar bone's.
        shift = robot_rest[f"{side}_shoulder"] - joints[INDEX[f"{side}_shoulder"]]
        for part in ("shoulder", "elbow", "wrist"):
            joints[INDEX[f"{side}_{part}"]] += shift
        # The foot scales with the leg; only its direction is used.
        ball = body.offsets[INDEX[f"{side}_foot"]]
        joints[INDEX[f"{side}_foot"]] = joints[INDEX[f"{side}_ankle"]] + ball
    return Body(
        joints, np.zeros((0, 3)), np.zeros((0, N_JOINTS)), name=f"{body.name} as {robot.name}", lumbar=body.lumbar
    )


def make_target(motion: HumanMotion, contact: FootContacts, robot: Robot) -> Target:
    """Keep the human's rotations, take the robot's bones, scale the path by the legs, put the feet on the ground."""
    body = adapted_body(motion.body, robot)
    scale = body.leg_length / motion.body.leg_length
    adapted = HumanMotion(body, motion.root_pos * scale, motion.joint_quat, motion.fps, motion.provenance)
    height = _sole_height(adapted, contact, robot)
    adapted = adapted.shifted(np.array([0.0, 0.0, -height]))
    root = rot.multiply(motion.joint_quat[:, 0], ROBOT_TO_REST)
    return Target(adapted, scale, root, foot_directions(motion))


def foot_directions(motion: HumanMotion) -> Array:
    """(T, 2, 3) the way the human's feet point, level when the sole is: the ankle's rotation of straight ahead."""
    quat = motion.pose.rotation[:, [INDEX["left_ankle"], INDEX["right_ankle"]]]
    return rot.rotate(quat, np.array([0.0, 0.0, 1.0]))


def _sole_height(adapted: HumanMotion, contact: FootContacts, robot: Robot) -> float:
    """Height of the robot's soles, hung below the adapted body's ankles, in the samples that stand."""
    soles = shared_pose_points(robot, robot.sole_body, robot.sole_point)
    joints = shared_pose_points(robot, robot.keypoint_body, robot.keypoint_offset)
    heights = np.empty((len(adapted), 4))
    for region, side in enumerate(("left", "left", "right", "right")):
        below = soles[region] - joints[robot.keypoints.index(f"{side}_ankle")]
        ankle = INDEX[f"{side}_ankle"]
        quat = adapted.pose.rotation[:, ankle]
        heights[:, region] = adapted.pose.position[:, ankle, 2] + rot.rotate(quat, below)[:, 2]
    stands = contact.mask
    return float(np.median(heights[stands])) if stands.any() else float(np.quantile(heights, 0.05))
