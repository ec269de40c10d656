"""What every format has in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from phuma.files.probe import Probe
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot


class Names(NamedTuple):
    """What the columns of a file are, in their order."""

    joints: tuple[str, ...]
    bodies: tuple[str, ...] = ()


def joints_only(robot: Robot) -> Names:
    """The robot's own order, and no bodies."""
    return Names(robot.joint_names)


def all_bodies(robot: Robot) -> Names:
    """The robot's own order."""
    return Names(robot.joint_names, robot.body_names)


def same_rate(fps: float) -> float:
    return fps


@dataclass(frozen=True)
class Format:
    """A layout of robot motions. A module of this package makes one and calls it `FORMAT`; `registry.py` lists them.

    Orders, units, rates and quaternion conventions of others are known in that module and nowhere else.
    """

    name: str
    """What users call it"""
    suffix: str
    """With the dot"""
    about: str
    """One line for the help"""
    write: Callable[[RobotMotion, Robot, Path], None]
    """Writes whole or not at all; the same motion gives the same bytes"""
    read: Callable[[Path, Robot], RobotMotion] | None = None
    """Reads a file of strangers; every fault of it is a ReadError. None where only writing is known"""
    recognises: Callable[[Probe], bool] | None = None
    """Whether a file's content, not its name, is of this format; reads headers only"""
    names: Callable[[Robot], Names] = joints_only
    """The orders in which joints and bodies are written"""
    rate: Callable[[float], float] = same_rate
    """The rate at which a motion of a given rate is written"""
    tells_rate: bool = True
    """Whether a file says its own rate"""
