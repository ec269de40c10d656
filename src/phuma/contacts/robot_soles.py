"""Find the ground and the contacts of a robot's motion by its own soles, where no human is known."""

from __future__ import annotations

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.ground import vote_ground
from phuma.contacts.robot_evidence import GROUND, RobotEvidence, robot_evidence
from phuma.contacts.soles import FASTEST
from phuma.contacts.stance import FEWEST, standing
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.kinematics import body_poses, local_body_poses, points_of, points_on_bodies
from phuma.robots.robot import Robot

CONTACT_HEIGHT = 0.025
"""Height in m above the ground up to which a sole point is low, as the paper has contacts; one below the ground always
is"""
STEEPEST = 45.0
"""Angle in degrees by which a sole that stands may lean, as one does whose heel is lifted, but not the feet of a
robot that lies"""
LEVEL = 10.0
"""Angle in degrees by which a sole may lean that surely stands"""
SLIPPING = 0.5
"""Speed in m/s along the floor below which a sole surely stands"""
JUDGED = "contacts judged by the robot's soles: by height, speed and forces together, over time"
"""Note in the provenance of a motion whose contacts were judged by the robot's soles"""


def robot_contacts(robot: Robot, trajectory: Trajectory, evidence: RobotEvidence | None = None) -> FootContacts:
    """Return 1 where a heel or toe stands, as it does of people, and its sole faces the ground, else 0; the ratios by
    height beside them are 1 where its point is at most 2.5 cm above z = 0.

    Joints are in the robot's order. Evidence that is there already need not be found again. A motion of one or two
    frames has no forces: there what is low and faces the ground stands.
    """
    place, upward, _ = _sole_points(robot, trajectory)
    low = place[..., 2] <= CONTACT_HEIGHT
    stands = low
    if len(trajectory) >= FEWEST:
        found = evidence or robot_evidence(robot, trajectory)
        stands = standing(found.regions, found.support, GROUND)
    return FootContacts((stands & _faces_ground(upward)).astype(float), trajectory.fps, low.astype(float))


def robot_ground(robot: Robot, trajectory: Trajectory) -> float | None:
    """Return the height of the ground in m by the vote of the sole points that face it and do not swing, the lowest of
    each frame; None if there never is one.

    A foot that is held in the air is above one that stands. The vote says which 5 cm hold most of them. Soles that
    stand are all at one height there, and those that come and go above it: the median is that of the standing ones.
    Joints are in the robot's order.
    """
    heights, may_stand = _soles(robot, trajectory)
    if not may_stand.any():
        return None
    voters = np.where(may_stand, heights, np.inf).min(axis=1)
    voters = voters[np.isfinite(voters)]
    ground = vote_ground(voters, CONTACT_HEIGHT)
    return float(np.median(voters[np.abs(voters - ground) <= CONTACT_HEIGHT]))


def standing_share(robot: Robot, trajectory: Trajectory) -> float:
    """Return the share of frames, 0 to 1, in which the robot stands: its root is upright, and a sole is on the ground,
    level, and does not slip.

    The ground is where the vote of the robot's own soles finds it. A motion whose rotations were read in another order
    than they were written in tips over, or turns about while its path does not, and then hardly ever stands. Joints are
    in the robot's order.
    """
    ground = robot_ground(robot, trajectory)
    if ground is None:
        return 0.0
    place, upward, speed = _sole_points(robot, trajectory)
    stands = np.abs(place[..., 2] - ground) <= CONTACT_HEIGHT
    stands &= (upward > np.cos(np.radians(LEVEL))) & (speed < SLIPPING)
    upright = rot.up_component(trajectory.root_quat) > np.cos(np.radians(STEEPEST))
    return float(np.mean(stands.any(axis=1) & upright))


def _soles(robot: Robot, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return (T, 4) m, the heights of heels and toes, and (T, 4) bool, whether they could stand at that height: the
    sole faces the ground and is not as fast as one that swings."""
    place, upward, speed = _sole_points(robot, trajectory)
    return place[..., 2], _faces_ground(upward) & (speed < FASTEST)


def _faces_ground(upward: Array) -> Array:
    return upward > np.cos(np.radians(STEEPEST))


def _sole_points(robot: Robot, trajectory: Trajectory) -> tuple[Array, Array, Array]:
    """Return (T, 4, 3) m, where heels and toes are, (T, 4) how far up what is up when the robot stands points, from -1
    to 1, and (T, 4) m/s, how fast they go over the ground."""
    points = points_of(robot, robot.sole_body, robot.sole_point)
    at_ease = local_body_poses(robot, robot.default_pose[None])[1][0, robot.sole_body]
    up = at_ease[:, 2]  # (4, 3) what is up when the robot stands, in each foot's frame
    place, upward = np.empty((len(trajectory), 4, 3)), np.empty((len(trajectory), 4))
    for here in blocks_of(len(trajectory)):
        pos, matrix = body_poses(robot, trajectory.frames(here))
        place[here] = points_on_bodies(points, pos, matrix)
        upward[here] = np.einsum("tpk,pk->tp", matrix[:, robot.sole_body, 2], up)
    moved = np.gradient(place[..., :2], axis=0) if len(trajectory) > 1 else np.zeros((1, 4, 2))
    return place, upward, np.linalg.norm(moved, axis=2) * trajectory.fps
