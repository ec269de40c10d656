"""Find the contacts of a robot that moved under physics: by the forces on its feet where these were recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.contacts.robot_soles import JUDGED, robot_contacts
from phuma.core.foot_contacts import FootContacts
from phuma.core.performed_motion import PerformedMotion
from phuma.core.provenance import Provenance
from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.robots.kinematics import point_positions, points_of
from phuma.robots.masses import weight_of
from phuma.robots.robot import Robot

LEAST_FORCE = 0.01
"""Vertical force in body weights above which a foot touches the ground"""
LIFTED = 0.01
"""Height in m above the lower one of a foot's heel and toe from which on the higher one does not touch the ground"""
BY_FORCE = (
    f"contacts by the simulation: more than {100 * LEAST_FORCE:g} % of the body weight on the foot, and the heel or "
    f"toe less than {100 * LIFTED:g} cm above the lower one"
)
"""Note in the provenance of a motion whose contacts are those of the simulation"""


def performed_motion(rollout: Rollout, robot: Robot, provenance: Provenance) -> PerformedMotion:
    """Return a rollout as a motion in the robot's order of joints, with contacts and all that was recorded.

    What was recorded between frames belongs to the frame before; the last frame has that of the one before it.
    """
    path = rollout.reordered(robot.joint_names)
    forces = path.foot_force is not None and len(path) > 1
    contact = FootContacts(force_contacts(robot, path), path.fps) if forces else robot_contacts(robot, path)
    return PerformedMotion.of(
        path,
        contact=contact.ratio,
        contact_paper=contact.paper,
        human_joints=None,
        provenance=replace(provenance, notes=(*provenance.notes, BY_FORCE if forces else JUDGED)),
        velocity=path.velocity,
        torque=_every_frame(path.torque),
        foot_force=_every_frame(path.foot_force),
        path=path.report.get("path"),
    )


def force_contacts(robot: Robot, rollout: Rollout) -> Array:
    """Return (T, 4) 1 or 0: the heel or toe is in contact where its foot bears and it is not lifted off by the other.

    A foot bears in a frame if the mean of the vertical forces before and after it is above `LEAST_FORCE`. Joints are in
    the robot's order, and the forces on the feet were recorded.
    """
    assert rollout.foot_force is not None
    vertical = rollout.foot_force[:, :, 2]
    around = (np.concatenate([vertical[:1], vertical]) + np.concatenate([vertical, vertical[-1:]])) / 2
    bears = around > LEAST_FORCE * weight_of(robot)
    points = points_of(robot, robot.sole_body, robot.sole_point)
    height = point_positions(robot, points, rollout)[..., 2].reshape(-1, 2, 2)
    down = height - height.min(axis=2, keepdims=True) < LIFTED
    return (bears[:, :, None] & down).reshape(-1, 4).astype(float)


def _every_frame(between: Array | None) -> Array | None:
    """Return (T, ...) values (T - 1, ...) that belong to the frames before them; None without a value."""
    return None if between is None or not len(between) else np.concatenate([between, between[-1:]])
