"""IK: the human's joints, scaled by one factor, followed point by point with differential inverse kinematics."""

from __future__ import annotations

import mink
import numpy as np

from phuma.body import Body
from phuma.body.open import ANKLE_HEIGHT, LEG
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, REST_TO_WORLD
from phuma.core.trajectory import Trajectory
from phuma.retargeting.baselines.differential import (
    Frame,
    PointsTask,
    model_with,
    settle,
    shared_bodies,
    started,
    within_limits,
)
from phuma.retargeting.target import ROBOT_TO_REST
from phuma.robots.robot import Robot

SIDES = ("left", "right")
POSTURE_COST = 3e-2
"""Against 1 for a point: 0.1 rad away from the default pose costs as much as 3 mm. Less leaves
joints that no point determines to drift and jump; of 0.001, 0.01 and 0.03 the last serves the method best"""


def ik(motion: HumanMotion, contact: FootContacts, robot: Robot) -> Trajectory:
    """Rigidly scaled joint positions on the robot's keypoints, frame by frame.

    Per frame, from the previous frame's solution:  min_q sum_k w_k |x_k(q) - (s p_k + h)|^2 + w_q |q - q_default|^2
    within the joint limits, root free, where p_k are the human's pelvis, 12 joints and balls of the feet.

    The factor s is the ratio of the pelvis's heights above the soles, standing straight. The ratio of leg lengths is 3
    to 8 % less, as a robot's hips hang far below its root, and costs this method 15 to 44 points of fidelity; the
    factor of least squares over all joints gains it 2 to 9, and lets it float more, by 3 to 29 points. The lift h, a
    constant, puts the robot's soles on the ground where the human's are in rest: no factor suits both legs and ankles.
    The balls of the feet are among the points because without them nothing would say how a foot is turned.
    """
    del contact  # this method knows of none
    scale, lift = similarity(motion.body, robot)
    frames = followed_frames(motion.body, robot, scale)
    model = model_with(robot, frames)
    joints = [INDEX[frame.name] for frame in frames]
    points = PointsTask(model, [frame.name for frame in frames])
    posture = mink.PostureTask(model, cost=POSTURE_COST)
    limits = [mink.ConfigurationLimit(model)]

    target = scale * motion.pose.position[:, joints] + lift
    root_quat = rot.multiply(motion.joint_quat[:, 0], ROBOT_TO_REST)
    configuration = started(robot, model, target[0, 0], root_quat[0])
    posture.set_target_from_configuration(configuration)
    qpos = np.empty((len(motion), model.nq))
    for t in range(len(motion)):
        points.target = target[t]
        settle(configuration, (points, posture), limits)
        qpos[t] = configuration.q
    return within_limits(robot, motion.fps, qpos)


def similarity(body: Body, robot: Robot) -> tuple[float, Array]:
    """The map x -> s x + h from human to robot: s the ratio of pelvis heights, h (3,) upwards."""
    pos, quat = shared_bodies(robot)
    points = pos[robot.keypoint_body] + rot.rotate(quat[robot.keypoint_body], robot.keypoint_offset)
    soles = pos[robot.sole_body] + rot.rotate(quat[robot.sole_body], robot.sole_point)
    height = dict(zip(robot.keypoints, points[:, 2] - soles[:, 2].mean()))
    ankle = np.mean([height[f"{side}_ankle"] for side in SIDES])
    scale = float(height["pelvis"] / joint_height(body, "pelvis"))
    human_ankle = np.mean([joint_height(body, f"{side}_ankle") for side in SIDES])
    return scale, np.array([0.0, 0.0, ankle - scale * human_ankle])


def joint_height(body: Body, joint: str) -> float:
    """Of a joint above the soles in rest, metres. A body whose soles are not known has ankles of average height."""
    if len(body.soles):
        ground = body.soles[:, 1].min()
    else:
        ankles = [body.joints[INDEX[f"{side}_ankle"], 1] for side in SIDES]
        ground = np.mean(ankles) - ANKLE_HEIGHT / LEG * body.leg_length
    return float(body.joints[INDEX[joint], 1] - ground)


def followed_frames(body: Body, robot: Robot, scale: float) -> list[Frame]:
    """Points of the robot that follow the human's joints, named after them: its keypoints, and on each foot the place
    that the ball of the scaled foot has in the shared pose."""
    frames = [
        Frame(name, robot.body_names[b], offset)
        for name, b, offset in zip(robot.keypoints, robot.keypoint_body, robot.keypoint_offset)
    ]
    pos, quat = shared_bodies(robot)
    for side, foot in zip(SIDES, robot.sole_body[::2]):
        k = robot.keypoints.index(f"{side}_ankle")
        b = robot.keypoint_body[k]
        ankle = pos[b] + rot.rotate(quat[b], robot.keypoint_offset[k])
        ball = ankle + scale * rot.rotate(REST_TO_WORLD, body.offsets[INDEX[f"{side}_foot"]])
        offset = rot.rotate(rot.conjugate(quat[foot]), ball - pos[foot])
        frames.append(Frame(f"{side}_foot", robot.body_names[foot], offset))
    return frames
