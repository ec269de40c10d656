"""The `.npz` of motion trackers: joints and bodies with their velocities. Its dialects differ in the order.

mjlab's and BeyondMimic's have the same names, shapes and units, so a file of one dialect is read by the other without
complaint, with every body taken for another. Hence names are always written, and what is read is checked by kinematics.
holosoma's has the root inside the joints, and the world among the bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.bodies import pose_bodies, velocities
from phuma.dataset.exchange.imported import Columns, imported, number
from phuma.dataset.exchange.layout import prepared, single
from phuma.errors import ReadError
from phuma.io.atomic import save_npz
from phuma.io.npz import load_npz
from phuma.io.probe import Probe
from phuma.robots.order import Order, breadth_first, depth_first
from phuma.robots.robot import Indices, Robot

RATE = 50
NEEDED = ("fps", "joint_pos", "body_pos_w", "body_quat_w")
NAMES = ("joint_names", "body_names")
ROOT = 7
"""Columns of the root in the dialect that has it among the joints"""
FIT = 0.05
"""Distance in m, mean over frames and bodies, below which an order fits: models of the same robot differ by less, and
wrong orders by more"""


def save_tracking(path: Path, motion: RobotMotion, robot: Robot, order: Order, fps: Array, moving: Array) -> None:
    """Write the file; `moving` (B, 3) is the point of each body, in its own frame, whose velocity is written."""
    arrays = tracking_arrays(motion, robot, order, fps, moving)
    save_npz(path, {name: values for name, values in arrays.items() if name != "root_vel"})


def tracking_arrays(
    motion: RobotMotion, robot: Robot, order: Order, fps: Array, moving: Array
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, and `root_vel` (T, 6): linear in the world, angular in the root's frame."""
    motion = prepared(motion, robot, RATE)
    poses = pose_bodies(robot, motion)
    speed = velocities(motion, robot, poses, np.arange(robot.n_bodies), moving)
    joints, bodies = order
    return {
        "fps": fps,
        "joint_names": np.array([robot.joint_names[j] for j in joints]),
        "body_names": np.array([robot.body_names[b] for b in bodies]),
        "joint_pos": single(motion.joint_pos[:, joints]),
        "joint_vel": single(speed.joints[:, joints]),
        "root_vel": single(speed.root),
        "body_pos_w": single(poses.pos[:, bodies]),
        "body_quat_w": single(poses.quat[:, bodies]),
        "body_lin_vel_w": single(speed.points[:, bodies]),
        "body_ang_vel_w": single(speed.angular[:, bodies]),
        **_recorded(motion, joints),
    }


def _recorded(motion: RobotMotion, joints: Indices) -> dict[str, Array]:
    """Return the arrays that only a motion has that was performed under physics; the trainers ignore them."""
    if not isinstance(motion, PerformedMotion):
        return {}
    torque = {} if motion.torque is None else {"joint_torque": single(motion.torque[:, joints])}
    return {**torque, "foot_contact": single(motion.contact)}


class _FileOrder(NamedTuple):
    """An order that the joints and bodies of a file may have."""

    how: str
    joints: Array
    """(N,) the column in the file of each of the robot's joints"""
    root: int
    """The index in the file of the root body"""
    ours: Array
    """(K,) indices in the robot's order of the bodies that both have"""
    theirs: Array
    """(K,) indices in the file of the same bodies"""


def is_tracking(probe: Probe) -> bool:
    """Tell whether a file is of either dialect without the root, by the names of its arrays."""
    return probe.kind == "npz" and set(NEEDED) <= set(probe.arrays) and not has_root(probe)


def has_root(probe: Probe) -> bool:
    """Tell whether a file is of the dialect with the root: it has seven columns more than names of joints."""
    arrays = probe.arrays if probe.kind == "npz" else {}
    if not {*NEEDED, *NAMES} <= set(arrays):
        return False
    columns, names = arrays["joint_pos"].shape, arrays["joint_names"].shape
    return len(columns) == 2 and len(names) == 1 and columns[1] == names[0] + ROOT


def load_tracking(path: Path, robot: Robot, layout: str) -> RobotMotion:
    """Return the motion of a file of any dialect, in the order of its names or, without them, in that which fits."""
    probe = Probe(path)
    data = load_npz(path, [*NEEDED, *(n for n in NAMES if n in probe.arrays)])
    if has_root(probe):
        data["joint_pos"] = data["joint_pos"][:, ROOT:]  # the root is a body, too
    joint_pos, pos, quat = _shaped(path, robot, data)
    fps, names = number(path, "fps", data["fps"]), ("body_pos_w", "body_quat_w", "joint_pos")
    tried = []
    for order in _orders(path, robot, data):
        columns = Columns(pos[:, order.root], quat[:, order.root], joint_pos[:, order.joints], names)
        motion = imported(path, layout, robot, fps, columns, "wxyz", (f"joints {order.how}",))
        tried.append((_misfit(robot, motion, pos, order), motion))
    misfit, motion = min(tried, key=lambda t: t[0])
    if not misfit <= FIT:
        hows = " or ".join(m.provenance.notes[0] for _, m in tried)
        raise ReadError(
            path,
            f"bodies are {100 * misfit:.0f} cm on average from where the joints put them on {robot.name} ({hows}); "
            f"expected less than {100 * FIT:.0f} cm. Is it another robot?",
        )
    return motion


def _shaped(path: Path, robot: Robot, data: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    """Return joint_pos (T, N), body_pos_w (T, B, 3) and body_quat_w (T, B, 4) once their shapes are right."""
    joint_pos, pos, quat = data["joint_pos"], data["body_pos_w"], data["body_quat_w"]
    if pos.ndim != 3 or pos.shape[2] != 3 or quat.shape != (*pos.shape[:2], 4) or not pos.shape[1]:
        raise ReadError(
            path, f"body_pos_w has shape {pos.shape} and body_quat_w {quat.shape}; expected (T, B, 3) and (T, B, 4)"
        )
    if any(a.dtype.kind not in "biuf" for a in (joint_pos, pos, quat)):
        raise ReadError(path, "joint_pos, body_pos_w and body_quat_w are not all numbers")
    if joint_pos.ndim != 2 or joint_pos.shape[1] != robot.n_joints:
        expected = f"(frames, {robot.n_joints}): the joints of {robot.name}, without the root"
        raise ReadError(path, f"joint_pos has shape {joint_pos.shape}; expected {expected}")
    return joint_pos, pos, quat


def _orders(path: Path, robot: Robot, data: Mapping[str, Any]) -> list[_FileOrder]:
    """Return the order that the names in a file give, or both that are possible without names."""
    if all(n in data for n in NAMES):
        return [_named(path, robot, data)]
    count = data["body_pos_w"].shape[1]
    if count != robot.n_bodies:
        raise ReadError(path, f"has {count} bodies without names; {robot.name} has {robot.n_bodies}")
    ways = {"in MuJoCo's order": depth_first(robot), "in IsaacLab's order": breadth_first(robot)}
    return [_FileOrder(how, np.argsort(o.joints), 0, o.bodies, np.arange(count)) for how, o in ways.items()]


def _named(path: Path, robot: Robot, data: Mapping[str, Any]) -> _FileOrder:
    """Return the order that the names in a file give."""
    joints, bodies = ([str(n) for n in data[name].reshape(-1)] for name in NAMES)
    for what, names, columns in (("joint", joints, "joint_pos"), ("body", bodies, "body_pos_w")):
        if len(names) != data[columns].shape[1]:
            raise ReadError(path, f"{what}_names has {len(names)} names; {columns} has {data[columns].shape[1]}")
    for what, wanted, names in (("joint", robot.joint_names, joints), ("body", robot.body_names[:1], bodies)):
        missing = [n for n in wanted if n not in names]
        if missing:
            raise ReadError(path, f"has no {what} {missing[0]!r} of {robot.name}; it has {', '.join(names)}")
    both = [n for n in robot.body_names if n in bodies]
    theirs = np.array([bodies.index(n) for n in both])
    columns_of = np.array([joints.index(n) for n in robot.joint_names])
    return _FileOrder("by name", columns_of, int(theirs[0]), robot.body_index(both), theirs)


def _misfit(robot: Robot, motion: RobotMotion, pos: Array, order: _FileOrder) -> float:
    """Return the mean distance in metres, over frames and bodies, of a file's bodies from where its joints put them."""
    ours = pose_bodies(robot, motion).pos[:, order.ours]
    with np.errstate(over="ignore", invalid="ignore"):  # of non-finite positions
        return float(np.mean(np.linalg.norm(ours - pos[:, order.theirs], axis=-1)))
