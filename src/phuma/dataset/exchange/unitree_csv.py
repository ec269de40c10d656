"""Unitree's CSV of the LAFAN1 retargeting dataset: one line per frame, 30 Hz, no header.

Columns: root x y z [m], qx qy qz qw, then the joints [rad] in the order of Unitree's models, which is the robot's own.
Kimodo's look the same and have wxyz.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, imported
from phuma.dataset.exchange.layout import prepared, to_xyzw
from phuma.dataset.exchange.table import is_number, load_table
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

RATE = 30.0
ROOT = 7


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at 30 Hz."""
    motion = prepared(motion, robot, RATE)
    rows = np.concatenate([motion.root_pos, to_xyzw(motion.root_quat), motion.joint_pos], axis=1)
    write_atomic(path, lambda f: np.savetxt(f, rows, fmt="%.8f", delimiter=","))


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file, which tells neither its robot nor its rate: the columns must be the robot's, the rate is 30 Hz."""
    return [read_table(path, robot, FORMAT.name, "xyzw")]


def read_table(path: Path, robot: Robot, layout: str, quaternions: Literal["xyzw", "wxyz"]) -> RobotMotion:
    """Read a table of root position, root rotation and joints, 30 Hz, with quaternions in that order."""
    expected = f"{ROOT} of the root and the {robot.n_joints} joints of {robot.name}"
    header, rows = load_table(path, ROOT + robot.n_joints, expected)
    if header:
        raise ReadError(
            path,
            f"begins with a header ({','.join(header)[:60]!r}); tables of format {layout} have none. BONES-SEED's have "
            "one, and other units and rotations, too: --format bones-seed",
        )
    names = ("root x y z", " ".join(("root", *(f"q{axis}" for axis in quaternions))), "joints")
    columns = Columns(rows[:, :3], rows[:, 3:ROOT], rows[:, ROOT:], names)
    notes = (f"rate assumed: {RATE:g} Hz", f"quaternions read as {quaternions}")
    return imported(path, layout, robot, RATE, columns, quaternions, notes, order_known=False)


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a text whose first line has many numbers; the reader judges what is in them."""
    cells = probe.text.splitlines()[0].split(",") if probe.kind == "text" else []
    return len(cells) > ROOT and is_number(cells[-1])


FORMAT = Format(
    "csv", ".csv", "Unitree's CSV (LAFAN1 retargeting dataset), 30 Hz", write, read, recognises,
    rate=lambda _: RATE, tells_rate=False, all_joints=True,
)  # fmt: skip
