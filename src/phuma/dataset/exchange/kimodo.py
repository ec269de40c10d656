"""Kimodo's CSV: MuJoCo's coordinates, one line per frame, 30 Hz, no header.

Columns: root x y z [m], qw qx qy qz, then the joints [rad] in MuJoCo's order. Unitree's look the same and have xyzw.
"""

from __future__ import annotations

from pathlib import Path

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.unitree_csv import read_table, recognises
from phuma.robots.robot import Robot


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file, which tells neither its robot nor its rate: the columns must be the robot's, the rate is 30 Hz."""
    return [read_table(path, robot, FORMAT.name, "wxyz")]


FORMAT = Format("kimodo", ".csv", "Kimodo's CSV, 30 Hz", None, read, recognises, tells_rate=False)
