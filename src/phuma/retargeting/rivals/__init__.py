"""Rivals: the ways to retarget that others use, written as they published them, for comparison."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from phuma.contact import FootContacts
from phuma.motion import HumanMotion
from phuma.retargeting.rivals.path import RobotPath
from phuma.robots.robot import Robot

RIVALS = ("ik", "gmr")


def rival(name: str) -> Callable[[HumanMotion, FootContacts, Robot], RobotPath]:
    """One of RIVALS. Loaded when asked for: what they stand on takes half a second to load."""
    return getattr(import_module(f"{__name__}.{name}"), name)
