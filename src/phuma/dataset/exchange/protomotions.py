"""ProtoMotions' `.motion`: joints and bodies with their velocities and contacts, as tensors by `torch.save`.

Quaternions are xyzw. ProtoMotions' models of the robots have bodies that Unitree's lack; they are added in its order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core.foot_contacts import in_contact
from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.bodies import BodyPoses, points_on, pose_bodies, velocities
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.imported import Columns, imported, number
from phuma.dataset.exchange.layout import prepared, single, to_xyzw
from phuma.dataset.exchange.phuma_npy import entries
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.io.safe_pickle import as_array
from phuma.io.torch_file import load_torch
from phuma.robots.fixed_bodies import PROTOMOTIONS, Bodies, with_fixed
from phuma.robots.robot import Robot

KEYS = ("dof_pos", "rigid_body_pos", "rigid_body_rot")


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at its own rate."""
    import torch  # here, not above: only this format needs it

    motion = prepared(motion, robot)
    _, of, offset, added = theirs(robot)
    ours = pose_bodies(robot, motion)
    poses = BodyPoses(points_on(ours, of, offset), ours.quat[:, of])
    speed = velocities(motion, robot, ours, of, offset)
    contacts = _contacts(robot, motion)[:, of] & ~added
    arrays = {
        "dof_pos": single(motion.joint_pos),
        "dof_vel": single(speed.joints),
        "rigid_body_pos": single(poses.pos),
        "rigid_body_rot": single(to_xyzw(poses.quat)),
        "rigid_body_vel": single(speed.points),
        "rigid_body_ang_vel": single(speed.angular),
        "rigid_body_contacts": np.ascontiguousarray(contacts),
        **_forces(robot, motion, of, added),
    }
    content = {"fps": motion.fps, **{name: torch.from_numpy(values) for name, values in arrays.items()}}
    write_atomic(path, lambda f: torch.save(content, f))


def theirs(robot: Robot) -> Bodies:
    """Return ProtoMotions' bodies."""
    return with_fixed(robot, PROTOMOTIONS.get(robot.name, ()))


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read the root, which is the first body, and the joints: the other bodies follow from them."""
    content = entries(path, load_torch(path), (*KEYS, "fps"))
    dof, pos, quat = (as_array(path, key, content[key]) for key in KEYS)
    if pos.ndim != 3 or pos.shape[2] != 3 or quat.shape != (*pos.shape[:2], 4) or not pos.shape[1]:
        raise ReadError(
            path, f"{KEYS[1]} has shape {pos.shape} and {KEYS[2]} {quat.shape}; expected (T, B, 3) and (T, B, 4)"
        )
    columns = Columns(pos[:, 0], quat[:, 0], dof, (KEYS[1], KEYS[2], KEYS[0]))
    return [imported(path, FORMAT.name, robot, number(path, "fps", content["fps"]), columns)]


def recognises(probe: Probe) -> bool:
    """Tell whether a file is torch's and holds joints and bodies."""
    return probe.kind == "torch" and isinstance(probe.content, dict) and set(KEYS) <= set(probe.content)


def _contacts(robot: Robot, motion: RobotMotion) -> Array:
    """Return (T, B) bool, true for a foot's body where its heel or its toe is in contact."""
    out = np.zeros((len(motion), robot.n_bodies), dtype=bool)
    for region, body in enumerate(robot.sole_body):
        out[:, body] |= in_contact(motion.contact[:, region])
    return out


def _forces(robot: Robot, motion: RobotMotion, of: Array, added: Array) -> dict[str, Array]:
    """Return torques and forces on the feet of a motion that was performed under physics; of any other, nothing."""
    if not isinstance(motion, PerformedMotion):
        return {}
    out = {} if motion.torque is None else {"dof_forces": single(motion.torque)}
    if motion.foot_force is not None:
        force = np.zeros((len(motion), robot.n_bodies, 3))
        force[:, robot.sole_body[::2]] = motion.foot_force
        force = force[:, of]
        force[:, added] = 0.0
        out["rigid_body_contact_forces"] = single(force)
    return out


def names(robot: Robot) -> Names:
    """Return the names of joints and bodies, with ProtoMotions' added bodies."""
    return Names(robot.joint_names, theirs(robot).names)


FORMAT = Format(
    "protomotions", ".motion", "ProtoMotions' motions", write, read, recognises, names=names, library="torch",
    all_joints=True,
)  # fmt: skip
