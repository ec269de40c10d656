"""The list of formats, and the recognition of a file's format by its content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange import beyondmimic, gmr, mjlab, phuma_npy, protomotions, unitree_csv
from phuma.dataset.exchange.format import Format
from phuma.errors import ConfigError, ReadError
from phuma.formats.robot_motion_file import is_robot_motion
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

MODULES = (phuma_npy, unitree_csv, mjlab, beyondmimic, protomotions, gmr)
FORMATS: Mapping[str, Format] = {module.FORMAT.name: module.FORMAT for module in MODULES}


def format_named(name: str) -> Format:
    """Return the format of that name, or raise an error that lists the names."""
    if name not in FORMATS:
        raise ConfigError(f"there is no format {name!r}; there are: {', '.join(FORMATS)}")
    return FORMATS[name]


def export_motion(motion: RobotMotion, robot: Robot, path: Path, name: str) -> None:
    """Write a motion in the format of that name."""
    chosen = format_named(name)
    chosen.check_library()
    chosen.write(motion, robot, path)


def import_motion(path: Path, robot: Robot, name: str | None = None) -> RobotMotion:
    """Read a motion that another tool made, in the format of that name or, without one, in that of its content."""
    chosen = recognise(Probe(path)) if name is None else format_named(name)
    if chosen.read is None:
        raise ConfigError(f"format {chosen.name!r} is only written; read are: {', '.join(_readable())}")
    return chosen.read(path, robot)


def recognise(probe: Probe) -> Format:
    """Return the format of a file's content, or raise an error that says what it looks like and what is known."""
    if probe.kind == "empty":
        raise ReadError(probe.path, "is empty")
    if is_robot_motion(probe):
        raise ReadError(probe.path, "is a robot motion of this program already; nothing needs to be imported")
    for known in FORMATS.values():
        if known.recognises is not None and known.recognises(probe):
            return known
    arrays = ", ".join(f"{n or 'array'} {h.shape}" for n, h in list(probe.arrays.items())[:8])
    looks = f"a {probe.kind} file" + (f" with {arrays}" if arrays else "")
    raise ReadError(probe.path, f"is {looks}: none of the robot layouts that are read ({', '.join(_readable())})")


def _readable() -> list[str]:
    return [f.name for f in FORMATS.values() if f.read is not None]
