"""What every format has in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from phuma.files.probe import Probe
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot


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
