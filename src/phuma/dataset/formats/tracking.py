"""The `.npz` that trackers learn from: joints and bodies with their velocities. Two dialects differ in the order.

Both have the same names, shapes and units, so that a file of one is read by the other without complaint and every
body is taken for another. Hence names are always written, and what is read is proven by kinematics.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.dataset.formats.bodies import (
    Order,
    angular_velocity,
    breadth_first,
    depth_first,
    of_motion,
    points_on,
    velocity,
)
from phuma.dataset.formats.imported import Columns, imported, number
from phuma.dataset.formats.layout import prepared, single
from phuma.errors import ReadError
from phuma.files.arrays import load_npz
from phuma.files.atomic import save_npz
from phuma.files.probe import Probe
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array

RATE = 50
NEEDED = ("fps", "joint_pos", "body_pos_w", "body_quat_w")
NAMES = ("joint_names", "body_names")
FIT = 0.05
"""metres, mean over frames and bodies: models of the same robot differ by less, and wrong orders by more"""


def save_tracking(path: Path, motion: RobotMotion, robot: Robot, order: Order, fps: Array, moving: Array) -> None:
    """`moving` (B, 3) is the point of each body, in its own frame and the robot's order, whose velocity is told."""
    motion = prepared(motion, robot, RATE)
    poses = of_motion(robot, motion)
    points = points_on(poses, np.arange(robot.n_bodies), moving)
    joints, bodies = order
    save_npz(
        path,
        {
            "fps": fps,
            "joint_names": np.array([robot.joint_names[j] for j in joints]),
            "body_names": np.array([robot.body_names[b] for b in bodies]),
            "joint_pos": single(motion.joint_pos[:, joints]),
            "joint_vel": single(velocity(motion.joint_pos, RATE)[:, joints]),
            "body_pos_w": single(poses.pos[:, bodies]),
            "body_quat_w": single(poses.quat[:, bodies]),
            "body_lin_vel_w": single(velocity(points, RATE)[:, bodies]),
            "body_ang_vel_w": single(angular_velocity(poses.quat, RATE)[:, bodies]),
        },
    )


class _FileOrder(NamedTuple):
    """How joints and bodies may be ordered in a file."""

    how: str
    joints: Array
    """(N,) the column of each of the robot's joints"""
    root: int
    """The place of its root body"""
    ours: Array
    """(K,) the bodies that can be compared, in the robot's order"""
    theirs: Array
    """(K,) where they are in the file"""


def is_tracking(probe: Probe) -> bool:
    return probe.kind == "npz" and set(NEEDED) <= set(probe.arrays)


def load_tracking(path: Path, robot: Robot, layout: str) -> RobotMotion:
    """A motion of either dialect: by its names, or without them in the order in which joints and bodies fit."""
    found = Probe(path).arrays
    data = load_npz(path, [*NEEDED, *(n for n in NAMES if n in found)])
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
    if all(n in data for n in NAMES):
        return [_named(path, robot, data)]
    count = data["body_pos_w"].shape[1]
    if count != robot.n_bodies:
        raise ReadError(path, f"has {count} bodies without names; {robot.name} has {robot.n_bodies}")
    ways = {"in MuJoCo's order": depth_first(robot), "in IsaacLab's order": breadth_first(robot)}
    return [_FileOrder(how, np.argsort(o.joints), 0, o.bodies, np.arange(count)) for how, o in ways.items()]


def _named(path: Path, robot: Robot, data: Mapping[str, Any]) -> _FileOrder:
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
    places = np.array([joints.index(n) for n in robot.joint_names])
    return _FileOrder("by name", places, int(theirs[0]), robot.body_index(both), theirs)


def _misfit(robot: Robot, motion: RobotMotion, pos: Array, order: _FileOrder) -> float:
    """Metres, mean over frames and bodies, between a file's bodies and those that its joints give."""
    ours = of_motion(robot, motion).pos[:, order.ours]
    with np.errstate(over="ignore", invalid="ignore"):  # of bodies at places that are none
        return float(np.mean(np.linalg.norm(ours - pos[:, order.theirs], axis=-1)))
