"""The evidence from which the contacts of a robot's motion are found, where no human is known: its soles and the forces
that its motion takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.force import GroundForce, second_difference
from phuma.contacts.regions import LIGHT, SAMPLES, Regions, noise_of, regions_of
from phuma.contacts.soles import Soles
from phuma.contacts.support import Support, trusted_frames
from phuma.core.rotations import Array
from phuma.core.series import length
from phuma.core.smoothing import smooth_positions, smooth_rotations
from phuma.core.trajectory import Trajectory
from phuma.robots.kinematics import Points, body_poses, point_positions, points_of, points_on_bodies
from phuma.robots.masses import Masses, masses_of
from phuma.robots.robot import Robot

GROUND = 0.0
"""Height in m of the ground under a robot's trajectory"""


@dataclass(frozen=True, eq=False)
class RobotEvidence:
    """A robot's motion as an estimator of contacts and the filters of preset `dynamic` see it."""

    regions: Regions
    support: Support
    away: Array
    """(T,) m, distance of the root from its path after smoothing"""


def robot_evidence(robot: Robot, trajectory: Trajectory) -> RobotEvidence:
    """Return the evidence of a motion of at least three frames; joints are in the robot's order.

    It is smoothed just enough to take accelerations of it, as a person's recording is. The ground is z = 0, and a sole
    below it is in it: to the estimator it is at z = 0.
    """
    light, fps = _light(trajectory), trajectory.fps
    points = _corners(robot)
    force, corners = _force_and_corners(robot, light, points)
    some = slice(None, None, -(-len(light) // SAMPLES))
    noise = noise_of(point_positions(robot, points, trajectory.frames(some)), corners[some])
    return RobotEvidence(
        regions=regions_of(np.maximum(corners, [-np.inf, -np.inf, GROUND]), noise, fps),
        support=Support(force, Soles.of(corners, fps), trusted_frames(len(light), fps), GROUND),
        away=length(trajectory.root_pos - light.root_pos),
    )


def robot_force(masses: Masses, pos: Array, matrix: Array, fps: float) -> GroundForce:
    """Return the force of a robot whose bodies are at pos (T, B, 3), rotated by matrix (T, B, 3, 3).

    L' is the sum over bodies of m (x - c) x x'' and of the axis of R S R''^T, for a body of mass m and second moment S
    about its centre of mass x that is turned by R: what the points that it is made of give.
    """
    x = pos + np.einsum("tbij,bj->tbi", matrix, masses.centre)
    centre, acceleration = np.einsum("tbi,b->ti", x, masses.mass), second_difference(x, fps)
    own = (matrix @ masses.second @ second_difference(matrix, fps).swapaxes(2, 3)).sum(axis=1)
    turning = np.einsum("tbi,b->ti", np.cross(x - centre[:, None], acceleration), masses.mass)
    turning += np.stack([own[:, j, k] - own[:, k, j] for j, k in ((1, 2), (2, 0), (0, 1))], axis=1)
    return GroundForce.of(centre, np.einsum("tbi,b->ti", acceleration, masses.mass), turning)


def _light(trajectory: Trajectory) -> Trajectory:
    """Return a trajectory smoothed at LIGHT of its rate."""
    path, fps = trajectory.double(), trajectory.fps
    return Trajectory(
        path.robot,
        path.joint_names,
        fps,
        smooth_positions(path.root_pos, LIGHT * fps, fps),
        smooth_rotations(path.root_quat, LIGHT * fps, fps),
        smooth_positions(path.joint_pos, LIGHT * fps, fps),
    )


def _corners(robot: Robot) -> Points:
    """Return the eight corners of the soles, those of the left heel first, as regions come."""
    return points_of(robot, np.repeat(robot.sole_body, 2), robot.sole_corners.reshape(-1, 3))


def _force_and_corners(robot: Robot, trajectory: Trajectory, points: Points) -> tuple[GroundForce, Array]:
    """Return the forces and the corners (T, 8, 3) m of the soles. The robot is posed in blocks, each with its
    neighbours' frames for accelerations."""
    masses, forces, corners = masses_of(robot), [], []
    for here in blocks_of(len(trajectory)):
        begin = max(0, here.start - 2)
        block = trajectory.frames(slice(begin, min(here.stop + 1, len(trajectory))))
        own = slice(here.start - begin, here.stop - begin)
        pos, matrix = body_poses(robot, block)
        forces.append(robot_force(masses, pos, matrix, block.fps).frames(own))
        corners.append(points_on_bodies(points, pos, matrix)[own])
    return GroundForce.joined(forces), np.concatenate(corners)
