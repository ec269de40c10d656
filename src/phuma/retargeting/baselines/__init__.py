"""Baselines: the ways to retarget that others use, written as they published them, for comparison."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot

BASELINES = ("ik", "gmr")


def baseline(name: str) -> Callable[[HumanMotion, FootContacts, Robot], Trajectory]:
    """Return one of BASELINES. It is loaded when asked for: what they stand on takes half a second to load."""
    return getattr(import_module(f"{__name__}.{name}"), name)
