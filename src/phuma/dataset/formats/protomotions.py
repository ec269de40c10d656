"""ProtoMotions' `.motion`: what `torch.save` makes of joints and bodies with their velocities and contacts.

Quaternions are xyzw. Its models of the robots have bodies beside Unitree's, so they are put in where it has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phuma.dataset.formats.bodies import BodyPoses, angular_velocity, of_motion, points_on, velocity
from phuma.dataset.formats.format import Format, Names
from phuma.dataset.formats.layout import prepared, single, to_xyzw
from phuma.dataset.formats.torch_file import save_torch
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array

IN_CONTACT = 0.5


class Fixed(NamedTuple):
    """A body of ProtoMotions' model that is fixed to one of ours; it comes right behind that one."""

    name: str
    parent: str
    offset: tuple[float, float, float]


EXTRA: dict[str, tuple[Fixed, ...]] = {
    "g1": (
        Fixed("head", "pelvis", (0.0, 0.0, 0.4)),
        Fixed("left_rubber_hand", "left_wrist_yaw_link", (0.12, 0.0, 0.0)),
        Fixed("right_rubber_hand", "right_wrist_yaw_link", (0.12, 0.0, 0.0)),
    ),
    "h1_2": (Fixed("head_aux", "torso_link", (0.0, 0.0, 0.7)),),
}
"""By robot: g1_bm.xml, g1_holo_compat.xml and h1_2.xml of ProtoMotions"""


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """At the motion's own rate."""
    motion = prepared(motion, robot)
    of, offset = theirs(robot)
    ours = of_motion(robot, motion)
    poses = BodyPoses(points_on(ours, of, offset), ours.quat[:, of])
    contacts = _contacts(robot, motion)[:, of] & ~offset.any(axis=1)
    save_torch(
        path,
        {
            "fps": motion.fps,
            "dof_pos": single(motion.joint_pos),
            "dof_vel": single(velocity(motion.joint_pos, motion.fps)),
            "rigid_body_pos": single(poses.pos),
            "rigid_body_rot": single(to_xyzw(poses.quat)),
            "rigid_body_vel": single(velocity(poses.pos, motion.fps)),
            "rigid_body_ang_vel": single(angular_velocity(poses.quat, motion.fps)),
            "rigid_body_contacts": contacts,
        },
    )


def theirs(robot: Robot) -> tuple[Array, Array]:
    """For each of ProtoMotions' bodies: (B,) the body of ours that carries it, and (B, 3) where on it."""
    of, offset = [], []
    for b, name in enumerate(robot.body_names):
        places = [(0.0, 0.0, 0.0), *(e.offset for e in EXTRA.get(robot.name, ()) if e.parent == name)]
        of += [b] * len(places)
        offset += places
    return np.array(of), np.array(offset)


def _contacts(robot: Robot, motion: RobotMotion) -> Array:
    """(T, B) bool: a foot's body where its heel or its toe is in contact."""
    out = np.zeros((len(motion), robot.n_bodies), dtype=bool)
    for region, body in enumerate(robot.sole_body):
        out[:, body] |= motion.contact[:, region] > IN_CONTACT
    return out


def names(robot: Robot) -> Names:
    carried = {b: [e.name for e in EXTRA.get(robot.name, ()) if e.parent == b] for b in robot.body_names}
    return Names(robot.joint_names, tuple(n for b, extra in carried.items() for n in (b, *extra)))


FORMAT = Format("protomotions", ".motion", "ProtoMotions' motions", write, names=names)
