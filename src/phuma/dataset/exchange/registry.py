"""The list of formats, and the recognition of a file's format by its content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from phuma.contacts.robot_soles import standing_share
from phuma.core.names import known_name
from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange import (
    beyondmimic,
    bones_seed,
    gmr,
    holosoma,
    kimodo,
    lerobot,
    locomujoco,
    mjlab,
    mujoco_qpos,
    pbhc,
    phuma_npy,
    protomotions,
    rerun_log,
    unitree_csv,
)
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import STANDS, clearly_stands
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.robot_motion_file import is_robot_motion
from phuma.io.probe import Probe
from phuma.robots.folder import free_robot
from phuma.robots.locked_motion import told_locked_motion
from phuma.robots.robot import Robot

MODULES = (
    phuma_npy, unitree_csv, kimodo, bones_seed, mjlab, beyondmimic, holosoma, protomotions, gmr, pbhc, locomujoco,
    mujoco_qpos, lerobot, rerun_log,
)  # fmt: skip
FORMATS: Mapping[str, Format] = {module.FORMAT.name: module.FORMAT for module in MODULES}
READ = tuple(name for name, known in FORMATS.items() if known.read is not None)
"""The names of the formats that are read"""
WRITTEN = tuple(name for name, known in FORMATS.items() if known.write is not None)
"""The names of the formats that are written"""


def format_named(name: str) -> Format:
    """Return the format of that name, whatever its case, or raise an error that lists the names."""
    return FORMATS[known_name(name, FORMATS, "format")]


def export_motion(motion: RobotMotion, robot: Robot, path: Path, name: str) -> None:
    """Write a motion in the format of that name."""
    chosen = format_named(name)
    if chosen.write is None:
        raise ConfigError(f"format {name!r} is only read; written are: {', '.join(WRITTEN)}")
    chosen.check_library()
    chosen.save(motion, robot, path)


def import_motion(path: Path, robot: Robot, name: str | None = None) -> RobotMotion:
    """Read the motion of a file of one that another tool made; see `import_all`."""
    motions = import_all(path, robot, name)
    if len(motions) != 1:
        raise ReadError(path, f"holds {len(motions)} motions; use import_all to get them")
    return motions[0]


def import_all(path: Path, robot: Robot, name: str | None = None) -> list[RobotMotion]:
    """Read all motions of a file that another tool made, in the format of that name or, without one, in that of its
    content.

    Each begins in `provenance.start` where the one before it ends. Where two formats look alike, which differ in the
    order of quaternions, that one is right in which the robot stands. On a robot with locked joints a file may hold
    these too: they are left out, and a note says how far they would have moved.
    """
    if robot.locked:
        return _on_locked(path, robot, name)
    if name is None:
        return _read_as(path, robot, recognise(Probe(path)))
    chosen = format_named(name)
    if chosen.read is None:
        raise ConfigError(f"format {chosen.name!r} is only written; read are: {', '.join(READ)}")
    return chosen.read(path, robot)


def _on_locked(path: Path, robot: Robot, name: str | None) -> list[RobotMotion]:
    """Read a file as that of the free robot or, where it is none, as that of the robot whose joints are locked."""
    try:
        motions = import_all(path, free_robot(robot), name)
    except ReadError as of_free:
        try:
            return _read_as(path, robot, recognise(Probe(path)) if name is None else [format_named(name)])
        except ReadError:
            raise of_free from None
    try:
        return [told_locked_motion(motion, robot) for motion in motions]
    except PhumaError as e:
        raise ReadError(path, str(e)) from None


def recognise(probe: Probe) -> list[Format]:
    """Return the formats that a file's content may be of, or raise an error that says what it looks like and what is
    known."""
    if probe.kind == "empty":
        raise ReadError(probe.path, "is empty")
    if is_robot_motion(probe):
        raise ReadError(probe.path, "is a robot motion of this program already; nothing needs to be imported")
    if found := [f for f in FORMATS.values() if f.recognises is not None and f.recognises(probe)]:
        return found
    arrays = ", ".join(f"{n or 'array'} {h.shape}" for n, h in list(probe.arrays.items())[:8])
    looks = f"a {probe.kind} file" + (f" with {arrays}" if arrays else "")
    raise ReadError(probe.path, f"is {looks}: none of the robot layouts that are read ({', '.join(READ)})")


def _read_as(path: Path, robot: Robot, formats: Sequence[Format]) -> list[RobotMotion]:
    """Read a file in the only one of some formats in which its robot stands."""
    read: list[tuple[float, Format, list[RobotMotion]]] = []
    faults: list[ReadError] = []
    for known in formats:
        assert known.read is not None
        try:
            motions = known.read(path, robot)
        except ReadError as e:
            faults.append(e)
            continue
        if len(formats) == 1:
            return motions
        read.append((min(standing_share(robot, motion) for motion in motions), known, motions))
    if not read:
        raise faults[0]
    (share, _, motions), *others = sorted(read, key=lambda r: -r[0])
    if clearly_stands(share, max((other[0] for other in others), default=0.0)):
        return motions
    shares = ", ".join(f"{known.name} {100 * share:.0f} %" for share, known, _ in read)
    flags = " or ".join(f"--format {known.name}" for known in formats)
    which = "in more than one way of reading it" if share >= STANDS else "however it is read"
    stands = "stands" if share >= STANDS else "hardly ever stands"
    raise ReadError(
        path,
        f"does not say the order of its quaternions, and the robot {stands} {which} (frames: {shares}): say {flags}",
    )
