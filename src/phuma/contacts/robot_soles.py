"""Estimate contacts of a robot's motion by its own soles, where no human is known whose contacts they could be."""

from __future__ import annotations

from phuma.core.foot_contacts import FootContacts
from phuma.core.trajectory import Trajectory
from phuma.robots.kinematics import point_positions, points_of
from phuma.robots.robot import Robot

CONTACT_HEIGHT = 0.025
"""Height in m above the ground up to which a sole point is in contact; one below the ground always is"""
JUDGED = f"contacts judged by the robot's soles: at most {100 * CONTACT_HEIGHT:g} cm above z = 0"
"""Note in the provenance of a motion whose contacts were judged by the robot's soles"""


def robot_contacts(robot: Robot, trajectory: Trajectory) -> FootContacts:
    """Return 1 where a sole point is at most 2.5 cm above z = 0, else 0; joints are in the robot's order."""
    soles = points_of(robot, robot.sole_body, robot.sole_point)
    heights = point_positions(robot, soles, trajectory)[..., 2]
    return FootContacts((heights <= CONTACT_HEIGHT).astype(float), trajectory.fps)
