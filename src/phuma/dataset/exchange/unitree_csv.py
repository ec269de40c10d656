"""Unitree's CSV of the LAFAN1 retargeting dataset: one line per frame, 30 Hz, no header.

Columns: root x y z [m], qx qy qz qw, then the joints [rad] in the order of Unitree's models, which is the robot's own.
"""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, imported
from phuma.dataset.exchange.layout import prepared, to_xyzw
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

RATE = 30.0
ROOT = 7
MAX_BYTES = 256 << 20


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at 30 Hz."""
    motion = prepared(motion, robot, RATE)
    rows = np.concatenate([motion.root_pos, to_xyzw(motion.root_quat), motion.joint_pos], axis=1)
    write_atomic(path, lambda f: np.savetxt(f, rows, fmt="%.8f", delimiter=","))


def read(path: Path, robot: Robot) -> RobotMotion:
    """Read a file, which tells neither its robot nor its rate: the columns must be the robot's, the rate is 30 Hz."""
    rows = _rows(path, _text(path), ROOT + robot.n_joints, robot)
    columns = Columns(rows[:, :3], rows[:, 3:ROOT], rows[:, ROOT:], ("root x y z", "root qx qy qz qw", "joints"))
    return imported(path, FORMAT.name, robot, RATE, columns, notes=(f"rate assumed: {RATE:g} Hz",))


def _text(path: Path) -> str:
    """Return the text of a file that is not too large."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ReadError(path, f"has {size:,} bytes; tables of at most {MAX_BYTES:,} are read")
        return path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    except UnicodeDecodeError:
        raise ReadError(path, "is not a table: it is not text in UTF-8") from None


def _rows(path: Path, text: str, width: int, robot: Robot) -> Array:
    """Return (T, width) the numbers of a table."""
    values = array("d")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        cells = line.split(",")
        if number == 1 and not _is_number(cells[-1]):
            raise ReadError(
                path,
                f"begins with a header ({line.strip()[:60]!r}); Unitree's tables have none. Tables with one have other "
                "units and rotations, too",
            )
        if len(cells) != width:
            raise ReadError(
                path,
                f"line {number} has {len(cells)} columns; expected {width}: {ROOT} of the root and the "
                f"{robot.n_joints} joints of {robot.name}",
            )
        try:
            values.extend(map(float, cells))
        except ValueError:
            wrong = next(c for c in cells if not _is_number(c))
            raise ReadError(path, f"line {number} holds {wrong.strip()[:40]!r}; expected numbers") from None
    return np.frombuffer(values, dtype=float).reshape(-1, width)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a text whose first line has many columns; the reader judges what is in them."""
    return probe.kind == "text" and probe.text.splitlines()[0].count(",") >= ROOT


FORMAT = Format(
    "csv", ".csv", "Unitree's CSV (LAFAN1 retargeting dataset), 30 Hz", write, read, recognises,
    rate=lambda _: RATE, tells_rate=False,
)  # fmt: skip
