"""What the viewer shows of a simulation that runs while it is watched, and what its page may order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from phuma.core.rotations import Array

SHOWN_EVERY = 0.04
"""s between two pictures of a live simulation"""
MOST_STEPS = 8
"""Control steps from one picture to the next, at most: what a slow machine owes beyond them is let go"""


class LiveFrame(NamedTuple):
    """What is shown of a live simulation after a control step."""

    frame: int
    """Frame of the show that the motion is in"""
    qpos: Array
    """(7 + N,) root position in m, root quaternion wxyz, joints in rad, as the show's robot has them"""
    facts: tuple[tuple[str, str], ...]
    """What is to be read beside it, by names"""
    fallen: bool = False
    """Whether the robot is drawn red"""
    over: bool = False
    """Whether the motion is over and begins again with the next step"""


class Live(Protocol):
    """A simulation that runs while it is watched; its methods are called from threads, one at a time."""

    performer: str
    """The id of the show's robot that is simulated"""
    always: bool
    """Whether there is nothing but the simulation to be shown"""
    rate: float
    """Control steps per second"""

    def controls(self) -> dict[str, Any]:
        """Return what can be ordered, and how it is now, as plain values."""

    def order(self, message: Mapping[str, Any]) -> None:
        """Do what a message of the page asks for; one that makes no sense is a ConfigError."""

    def take_over(self, before: Live) -> None:
        """Set what can be ordered as it was in the simulation before this one."""

    def seek(self, frame: int) -> None:
        """Begin anew at a frame of the show."""

    def step(self) -> LiveFrame:
        """Simulate one control step."""

    def lines(self) -> Mapping[str, tuple[Array, str]]:
        """Return lines (P, 2) m on the floor with their colours, by names that stay the same."""
