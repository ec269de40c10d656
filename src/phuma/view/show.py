"""What is looked at: a person, the robots that perform the same, and what is known of every frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from phuma.clip import Measure
from phuma.motion import HumanMotion
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array

Kind = Literal["contact", "flight", "violation", "reason"]


@dataclass(frozen=True, eq=False)
class Track:
    """One quantity over time and what it is held against."""

    label: str
    unit: str
    value: Array
    """(T,) nan where it is not defined"""
    limits: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Lane:
    """Frames in which something holds, to be marked on a timeline."""

    label: str
    kind: Kind
    holds: Array
    """(T,) bool"""

    def spans(self) -> list[tuple[int, int]]:
        """First and past-the-last frame of each run."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.holds, [False]]).astype(np.int8)))
        return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


@dataclass(frozen=True, eq=False)
class Performer:
    """A robot and its motion."""

    id: str
    """Tells it from the others of the same clip"""
    title: str
    robot: Robot
    motion: RobotMotion
    """Joints in the robot's order"""
    over: Array
    """(T, N) bool: the joint is beyond its range or its speed"""
    slips: Array
    """(T, 4) bool: the sole slides though it should stand"""
    tracks: tuple[Track, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    """Percent, by the metric's name"""
    flags: tuple[str, ...] = ()
    ghost: bool = False
    """Drawn pale and without marks: what another one is compared with"""
    ended: int | None = None
    """The frame from which on it gave up, and stays as it was"""


@dataclass(frozen=True, eq=False)
class Show:
    """A clip, ready to be drawn."""

    title: str
    subtitle: str
    fps: float
    human: HumanMotion | None
    contact: Array
    """(T, 4) ratios of the human's soles; of the robot's own where no human is known"""
    performers: tuple[Performer, ...]
    lanes: tuple[Lane, ...] = ()
    tracks: tuple[Track, ...] = ()
    """Of the human"""
    measures: tuple[Measure, ...] = ()
    kept: bool | None = None
    """None where nobody judged it"""
    reasons: tuple[str, ...] = ()
    facts: Sequence[tuple[str, str]] = ()
    path: str | None = None
    """A file that holds this, where there is one"""
    verdict: str | None = None
    """What to say in place of kept and rejected"""

    def __len__(self) -> int:
        return len(self.contact)

    def __iter__(self) -> Iterator[Performer]:
        return iter(self.performers)
