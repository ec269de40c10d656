"""Turn arrays of untrusted files into a RobotMotion: checked, with contacts judged by the robot's own soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from phuma.contacts.robot_soles import JUDGED, robot_contacts, standing_share
from phuma.core import rotations as rot
from phuma.core.arrays import checked
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.dataset.exchange.layout import to_wxyz
from phuma.errors import PhumaError, ReadError
from phuma.robots.robot import Robot

LIMITS = ((1000.0, "metres"), (np.inf, ""), (4 * np.pi, "radians"))
"""Largest values of root positions, quaternions and joint angles, with units: more is another unit, or no motion"""
HIGHEST = 10.0
"""Height in m that a root may be above or below the ground, which is z = 0"""
OVERTURNED = -0.3
"""Mean height of the root's up axis below which a robot is upside down, and not only lying, at 0"""
STANDS = 0.25
"""Share of frames in which a robot has to stand for its order of quaternions to be known by that"""
UNIT_TOLERANCE = 0.01
"""Difference from 1 that a quaternion's length may have: files hold few digits"""


class Columns(NamedTuple):
    """The motion's arrays as a file has them, with the names that the file knows them by."""

    root_pos: Any
    root_quat: Any
    joint_pos: Any
    names: tuple[str, str, str]


def imported(
    path: Path,
    layout: str,
    robot: Robot,
    fps: float,
    columns: Columns,
    quaternions: Literal["xyzw", "wxyz"] = "xyzw",
    notes: Sequence[str] = (),
    order_known: bool = True,
) -> RobotMotion:
    """Return a motion that another tool made, joints in the robot's order. Every fault is a ReadError.

    Quaternions that the layout has as xyzw are refused where they are wxyz, if the order is known from the layout.
    It has no human. Its contact is 1 where a heel or toe of the robot stands, else 0.
    """
    try:
        root_pos, raw, joint_pos = _arrays(columns, robot)
        root_quat = _rotations(columns.names[1], raw, quaternions)
        made = Trajectory(robot.name, robot.joint_names, fps, root_pos, root_quat, joint_pos)
        if quaternions == "xyzw" and order_known:
            _check_order(columns.names[1], robot, made)
        contact = robot_contacts(robot, made)
        return RobotMotion.of(
            made,
            contact=contact.ratio,
            contact_paper=contact.paper,
            human_joints=None,
            provenance=Provenance(str(path), layout, notes=(*notes, JUDGED)),
        )
    except PhumaError as e:
        raise e if isinstance(e, ReadError) else ReadError(path, str(e)) from None


def consecutive(motions: list[RobotMotion]) -> list[RobotMotion]:
    """Return the motions of one file, each beginning where the one before it ends."""
    out: list[RobotMotion] = []
    for motion in motions:
        start = out[-1].provenance.start + len(out[-1]) / out[-1].fps if out else 0.0
        out.append(replace(motion, provenance=replace(motion.provenance, start=start)))
    return out


def number(path: Path, name: str, value: Any) -> float:
    """Return a number that may be stored as such or as an array of one."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.size != 1:
        raise ReadError(path, f"{name} is {str(value)[:80]!r}; expected a number")
    return float(array.reshape(()))


def _arrays(columns: Columns, robot: Robot) -> list[Array]:
    out = []
    values = (columns.root_pos, columns.root_quat, columns.joint_pos)
    for name, value, width in zip(columns.names, values, (3, 4, robot.n_joints)):
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise PhumaError(f"{name} is of type {array.dtype}; expected numbers")
        if width == robot.n_joints and array.ndim == 2 and array.shape[1] != width:
            raise PhumaError(f"{name} has {array.shape[1]} joints; {robot.name} has {width}")
        with np.errstate(invalid="ignore"):  # a signalling NaN is found below like any other
            out.append(checked(name, array.astype(float), ("frames", width)))
    for name, array, (limit, unit) in zip(columns.names, out, LIMITS):
        _within(name, array, limit, unit)
    _within(f"height in {columns.names[0]}", out[0][:, 2], HIGHEST, "metres above the ground")
    counts = [len(array) for array in out]
    if len(set(counts)) != 1 or not counts[0]:
        said = ", ".join(f"{name} {n}" for name, n in zip(columns.names, counts))
        raise PhumaError(f"numbers of frames: {said}; they need to be the same, at least one")
    return out


def _within(name: str, values: Array, limit: float, unit: str) -> None:
    if values.size and np.abs(values).max() > limit:
        raise PhumaError(f"{name} reaches {np.abs(values).max():.4g}; expected at most {limit:.4g} {unit}")


def _rotations(name: str, raw: Array, quaternions: Literal["xyzw", "wxyz"]) -> Array:
    """Return (T, 4) wxyz of length 1."""
    length = np.linalg.norm(raw, axis=1)
    off = np.flatnonzero(np.abs(length - 1) > UNIT_TOLERANCE)
    if len(off):
        raise PhumaError(
            f"{name} of frame {off[0]} has length {length[off[0]]:.4g}; quaternions ({quaternions}) have length 1"
        )
    raw = raw / length[:, None]
    return raw if quaternions == "wxyz" else to_wxyz(raw)


def clearly_stands(share: float, other: float) -> bool:
    """Tell whether a reading that stands in a share of its frames is right, and another one wrong that stands in
    `other`."""
    return share >= STANDS and share >= 2 * other


def _check_order(name: str, robot: Robot, made: Trajectory) -> None:
    """Raise an error for rotations that were read as xyzw and hold wxyz: the robot stands or is upright only so."""
    other = replace(made, root_quat=np.roll(made.root_quat, -1, axis=-1))
    now, then = (float(np.mean(rot.up_component(path.root_quat))) for path in (made, other))
    share = standing_share(robot, made)
    if (now < OVERTURNED and then > 0.5) or (
        share < 0.5 and clearly_stands(standing_share(robot, other), share)
    ):  # fmt: skip
        raise PhumaError(
            f"{name} tips the robot over when read as xyzw, as this layout has it, and not as wxyz: its quaternions "
            "are in another order"
        )
