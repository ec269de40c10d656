"""ProtoMotions' `.motion`: joints and bodies with their velocities and contacts, as tensors by `torch.save`.

Quaternions are xyzw. ProtoMotions' models of the robots have bodies that Unitree's lack; they are added in its order.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from phuma.core.foot_contacts import in_contact
from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.bodies import BodyPoses, points_on, pose_bodies, velocities
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.layout import prepared, single, to_xyzw
from phuma.io.atomic import write_atomic
from phuma.robots.robot import Robot


class Fixed(NamedTuple):
    """A body of ProtoMotions' model that is fixed to a body of ours, which it follows in the order."""

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
"""The added bodies by robot, from g1_bm.xml, g1_holo_compat.xml and h1_2.xml of ProtoMotions"""


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at its own rate."""
    import torch  # here, not above: only this format needs it

    motion = prepared(motion, robot)
    of, offset = theirs(robot)
    ours = pose_bodies(robot, motion)
    poses = BodyPoses(points_on(ours, of, offset), ours.quat[:, of])
    speed = velocities(motion, robot, ours, of, offset)
    contacts = _contacts(robot, motion)[:, of] & ~offset.any(axis=1)
    arrays = {
        "dof_pos": single(motion.joint_pos),
        "dof_vel": single(speed.joints),
        "rigid_body_pos": single(poses.pos),
        "rigid_body_rot": single(to_xyzw(poses.quat)),
        "rigid_body_vel": single(speed.points),
        "rigid_body_ang_vel": single(speed.angular),
        "rigid_body_contacts": np.ascontiguousarray(contacts),
        **_forces(robot, motion, of, offset),
    }
    content = {"fps": motion.fps, **{name: torch.from_numpy(values) for name, values in arrays.items()}}
    write_atomic(path, lambda f: torch.save(content, f))


def theirs(robot: Robot) -> tuple[Array, Array]:
    """Return, for each of ProtoMotions' bodies, (B,) the body of ours that carries it and (B, 3) its offset on that."""
    of, offset = [], []
    for b, name in enumerate(robot.body_names):
        offsets = [(0.0, 0.0, 0.0), *(e.offset for e in EXTRA.get(robot.name, ()) if e.parent == name)]
        of += [b] * len(offsets)
        offset += offsets
    return np.array(of), np.array(offset)


def _contacts(robot: Robot, motion: RobotMotion) -> Array:
    """Return (T, B) bool, true for a foot's body where its heel or its toe is in contact."""
    out = np.zeros((len(motion), robot.n_bodies), dtype=bool)
    for region, body in enumerate(robot.sole_body):
        out[:, body] |= in_contact(motion.contact[:, region])
    return out


def _forces(robot: Robot, motion: RobotMotion, of: Array, offset: Array) -> dict[str, Array]:
    """Return torques and forces on the feet of a motion that was performed under physics; of any other, nothing."""
    if not isinstance(motion, PerformedMotion):
        return {}
    out = {} if motion.torque is None else {"dof_forces": single(motion.torque)}
    if motion.foot_force is not None:
        force = np.zeros((len(motion), robot.n_bodies, 3))
        force[:, robot.sole_body[::2]] = motion.foot_force
        force = force[:, of]
        force[:, np.any(offset, axis=1)] = 0.0
        out["rigid_body_contact_forces"] = single(force)
    return out


def names(robot: Robot) -> Names:
    """Return the names of joints and bodies, with ProtoMotions' added bodies."""
    carried = {b: [e.name for e in EXTRA.get(robot.name, ()) if e.parent == b] for b in robot.body_names}
    return Names(robot.joint_names, tuple(n for b, extra in carried.items() for n in (b, *extra)))


FORMAT = Format("protomotions", ".motion", "ProtoMotions' motions", write, names=names, library="torch")
