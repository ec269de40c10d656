"""An `.npz` of MuJoCo's coordinates with names: `qpos` (T, 7 + N), `joint_names`, and `fps` or `frequency`.

The root comes first: x y z [m], qw qx qy qz. Among the names it may have one, too, as MuJoCo's free joint has.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.trajectory import split_qpos
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, imported, number
from phuma.errors import ReadError
from phuma.io.npz import load_npz
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

ROOT = 7
RATES = ("fps", "frequency")
NAMES = ("qpos: root x y z", "qpos: root qw qx qy qz", "qpos: joints")


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file by the names of its joints."""
    rate = next((name for name in RATES if name in Probe(path).arrays), RATES[0])
    data = load_npz(path, ["qpos", "joint_names", rate])
    fps = number(path, rate, data[rate])
    return [by_name(path, FORMAT.name, robot, fps, data["qpos"], data["joint_names"])]


def by_name(
    path: Path, layout: str, robot: Robot, fps: float, qpos: Any, joint_names: Any, notes: Sequence[str] = ()
) -> RobotMotion:
    """Return the motion of coordinates (T, 7 + N) whose joints are named; joints of which the robot has none are left
    out, and one that is missing is an error."""
    names = [str(name) for name in np.asarray(joint_names).reshape(-1)]
    if qpos.ndim != 2 or qpos.shape[1] not in (ROOT + len(names), ROOT + len(names) - 1):
        expected = f"(frames, {ROOT} + {len(names)}): the root and the joints that are named"
        raise ReadError(path, f"qpos has shape {qpos.shape}; expected {expected}")
    if qpos.shape[1] == ROOT + len(names) - 1:
        names = names[1:]  # the root's own
    if missing := [name for name in robot.joint_names if name not in names]:
        raise ReadError(path, f"has no joint {missing[0]!r} of {robot.name}; it has {', '.join(names)}")
    root_pos, root_quat, joints = split_qpos(qpos)
    columns = Columns(root_pos, root_quat, joints[:, [names.index(name) for name in robot.joint_names]], NAMES)
    return imported(path, layout, robot, fps, columns, "wxyz", notes)


def recognises(probe: Probe) -> bool:
    """Tell whether a file has named coordinates and a rate, and no split points, which LocoMuJoCo's have."""
    arrays = probe.arrays if probe.kind == "npz" else {}
    named = {"qpos", "joint_names"} <= set(arrays) and any(name in arrays for name in RATES)
    return named and "split_points" not in arrays


FORMAT = Format("mujoco", ".npz", "MuJoCo's coordinates with names", None, read, recognises)
