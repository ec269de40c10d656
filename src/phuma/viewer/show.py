"""Describe what the viewer shows: a person, robots that perform the same motion, and what is known of every frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from phuma.core.clip import Measure
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.robots.robot import Robot

Kind = Literal["contact", "flight", "violation", "far", "reason"]


@dataclass(frozen=True, eq=False)
class Track:
    """Hold one quantity over time and the limits that it is compared with."""

    label: str
    unit: str
    value: Array
    """(T,) value in every frame, in `unit`; nan where it is not defined"""
    limits: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Lane:
    """Hold the frames in which a condition is true, to be marked on a timeline."""

    label: str
    kind: Kind
    holds: Array
    """(T,) bool: whether the condition is true in each frame"""

    def spans(self) -> list[tuple[int, int]]:
        """Return the first and the past-the-last frame of each run of frames."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.holds, [False]]).astype(np.int8)))
        return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


@dataclass(frozen=True, eq=False)
class Performer:
    """Hold a robot and its motion, with what is wrong in each frame."""

    id: str
    """A name that is unique among the performers of a clip"""
    title: str
    robot: Robot
    motion: RobotMotion
    """The robot's motion, with its joints in the robot's order"""
    over: Array
    """(T, N) bool: whether a joint is beyond its range or its speed"""
    slips: Array
    """(T, 4) bool: whether a sole slides although it should be in contact"""
    tracks: tuple[Track, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Scores in percent, by the metric's name; None where one is unknown"""
    flags: tuple[str, ...] = ()
    """What is wrong with it, in words"""
    notes: tuple[str, ...] = ()
    """What else is to be said of it"""
    ghost: bool = False
    """Whether it is drawn pale and without marks, as the reference of another performer"""
    ended: int | None = None
    """The frame in which it was terminated, from which on its pose is held; None if it was not"""
    lanes: tuple[Lane, ...] = ()
    """Lanes of the frames in which its motion has a fault"""
    far: Array | None = None
    """(T, 2) bool: whether the left and the right foot are far from where they should be; None where no human is
    known"""


@dataclass(frozen=True, eq=False)
class Show:
    """Hold a clip, ready to be drawn."""

    title: str
    subtitle: str
    fps: float
    human: HumanMotion | None
    contact: Array
    """(T, 4) contact ratios of the human's soles, or of the robot's where no human is known"""
    performers: tuple[Performer, ...]
    lanes: tuple[Lane, ...] = ()
    tracks: tuple[Track, ...] = ()
    """Tracks of the human"""
    measures: tuple[Measure, ...] = ()
    kept: bool | None = None
    """Whether curation keeps the clip; None where it was not judged"""
    reasons: tuple[str, ...] = ()
    facts: Sequence[tuple[str, str]] = ()
    path: str | None = None
    """The file that holds the clip; None where there is none"""
    verdict: str | None = None
    """The text to show instead of kept or rejected; None for those"""

    def __len__(self) -> int:
        return len(self.contact)

    def __iter__(self) -> Iterator[Performer]:
        return iter(self.performers)
