"""The declaration that every format makes of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from phuma.core.robot_motion import RobotMotion
from phuma.errors import missing_extra
from phuma.io.probe import Probe
from phuma.robots.folder import free_robot
from phuma.robots.locked_motion import unlocked_motion
from phuma.robots.robot import Robot


class Names(NamedTuple):
    """The joints and bodies of a file, in the order of its columns."""

    joints: tuple[str, ...]
    bodies: tuple[str, ...] = ()


def joints_only(robot: Robot) -> Names:
    """Return the joints in the robot's own order, and no bodies."""
    return Names(robot.joint_names)


def all_bodies(robot: Robot) -> Names:
    """Return the joints and the bodies in the robot's own order."""
    return Names(robot.joint_names, robot.body_names)


def same_rate(fps: float) -> float:
    """Return the rate of the motion itself."""
    return fps


@dataclass(frozen=True)
class Format:
    """A layout of robot motions. Each module of a format makes one, named `FORMAT`; `registry.py` lists the modules.

    The orders, units, rates and quaternion conventions of another tool are known in its module and nowhere else.
    """

    name: str
    """The name that `--format` takes"""
    suffix: str
    """The suffix of its files, with the dot"""
    about: str
    """One line for the help text"""
    write: Callable[[RobotMotion, Robot, Path], None] | None
    """Writes a file whole or not at all; the same motion gives the same bytes with the same library versions. None
    where only reading is known"""
    read: Callable[[Path, Robot], list[RobotMotion]] | None = None
    """Reads all motions of an untrusted file, at least one; every fault of it is a ReadError. None where only writing
    is known"""
    recognises: Callable[[Probe], bool] | None = None
    """Tells whether a file's content, not its name, may be of this format; it reads headers only"""
    names: Callable[[Robot], Names] = joints_only
    """The orders in which joints and bodies are written"""
    rate: Callable[[float], float] = same_rate
    """The rate at which a motion of a given rate is written"""
    tells_rate: bool = True
    """Whether a file says its own rate"""
    within: float | None = None
    """The share of joints' ranges, around their middle, that its trainer clips joints to when it begins an episode"""
    all_joints: bool = False
    """Whether its tools' models have every joint of a robot, so that those which are locked here are written at their
    angles; else they are left out"""
    library: str | None = None
    """An optional library that writing needs"""
    gather: Callable[[Path, Robot, Sequence[dict[str, Any]], float], list[dict[str, Any]]] | None = None
    """Makes one dataset of all files of a robot that an export wrote: given are the robot's folder, the files' rows
    with paths below it, and the rate; it returns the rows with where the motions are now. None where each file is
    whole"""

    def save(self, motion: RobotMotion, robot: Robot, path: Path) -> None:
        """Write a motion of a robot, with locked joints at their angles where the tools' models have them."""
        assert self.write is not None  # only formats that are written are chosen
        if self.all_joints and robot.locked:
            motion, robot = unlocked_motion(motion, robot), free_robot(robot)
        self.write(motion, robot, path)

    def columns(self, robot: Robot) -> Names:
        """Return the orders in which joints and bodies of a robot are written."""
        return self.names(free_robot(robot) if self.all_joints else robot)

    def check_library(self) -> None:
        """Raise an error with the line that installs the library that writing needs, where it is not installed."""
        if self.library is None:
            return
        try:
            import_module(self.library)
        except ModuleNotFoundError as e:
            raise missing_extra(e, f"format {self.name!r}") from None
