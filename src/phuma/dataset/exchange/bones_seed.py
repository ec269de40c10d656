"""BONES-SEED's CSV of robot motions: a header, 120 Hz, centimetres and degrees.

Columns: Frame, root_translateX to Z [cm], root_rotateX to Z [deg] about the world's fixed axes x, y, z in this order,
then a column `JOINT_dof` [deg] for each joint.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core import rotations as rot
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, imported
from phuma.dataset.exchange.table import load_table
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

RATE = 120.0
ROOT = ("Frame", *(f"root_{what}{axis}" for what in ("translate", "rotate") for axis in "XYZ"))
BEHIND = "_dof"


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file, which names its joints and does not tell its rate: it is 120 Hz."""
    expected = f"{', '.join(ROOT)} and the {robot.n_joints} joints of {robot.name}"
    header, rows = load_table(path, len(ROOT) + robot.n_joints, expected)
    wanted = (*ROOT, *(name + BEHIND for name in robot.joint_names))
    if missing := [name for name in wanted if name not in header]:
        raise ReadError(path, f"has no column {missing[0]!r}; it has {', '.join(header) or 'no header'}"[:400])
    columns = rows[:, [header.index(name) for name in wanted[1:]]]
    root_pos, turn, joints = columns[:, :3] / 100, np.radians(columns[:, 3:6]), np.radians(columns[:, 6:])
    names = ("root_translate", "root_rotate", "joints")
    given = Columns(root_pos, _rotation(path, turn), joints, names)
    return [imported(path, FORMAT.name, robot, RATE, given, "wxyz", (f"rate assumed: {RATE:g} Hz",))]


def _rotation(path: Path, angle: Array) -> Array:
    """Return (T, 4) wxyz, rotations by angle (T, 3) about the fixed axes x, then y, then z."""
    if not np.isfinite(angle).all():
        raise ReadError(path, "root_rotateX to Z hold values that are not finite")
    x, y, z = (rot.from_axis(axis, angle[:, k]) for k, axis in enumerate("xyz"))
    return rot.multiply(z, rot.multiply(y, x))


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a text whose first line names the root's columns."""
    cells = probe.text.splitlines()[0].split(",") if probe.kind == "text" else []
    return set(ROOT) <= {cell.strip() for cell in cells}


FORMAT = Format(
    "bones-seed", ".csv", "BONES-SEED's CSV, 120 Hz, cm and degrees", None, read, recognises, tells_rate=False
)
