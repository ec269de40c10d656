"""Offer the robots that can perform a clip: as stored, under physics, or by another method; computed when chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.errors import ConfigError, PhumaError
from phuma.pipelines.collections import check_choice, choices_of
from phuma.pipelines.performed import CERTIFIED, performance_pair
from phuma.pipelines.retarget import retarget
from phuma.pipelines.scene_building import STORED, Piece, perform, show_of, stored_performer
from phuma.retargeting import DEFAULT_METHOD, METHODS
from phuma.robots import Robot, built_in_robots, cached_robot
from phuma.viewer.session import Opened
from phuma.viewer.show import Performer

Performers = Sequence[Performer]


class Offer(NamedTuple):
    """Hold a choice of the viewer, and what it takes to show it."""

    title: str
    make: Callable[[], Performers]
    """Returns the performer, with the ghost of what it was to do if that is shown beside it"""
    computed: bool = False
    """Whether it takes long, so that it is done one at a time and remembered"""


class Stored(NamedTuple):
    """Hold what is stored of a clip on one robot; nothing is read before it is asked for."""

    robot: Callable[[], Robot]
    motion: Callable[[], RobotMotion]
    method: str | None
    performance: Callable[[], Rollout] | None = None
    certified: bool | None = None
    """Whether the performance is certified; None where that is not known before it is read"""


def offers_of(
    piece: Piece, stored: Mapping[str, Stored], robots: Mapping[str, Robot], certify: bool = False
) -> dict[str, Offer]:
    """Return all choices for a piece by their ids `ROBOT:HOW`; `stored` is by robot.

    `certify` also offers performances under physics that would have to be made first.
    """
    offers = {
        f"{name}:{STORED}": Offer(f"{name}{f' by {s.method}' if s.method else ''} (stored)", partial(_stored, s))
        for name, s in stored.items()
    }
    for name, s in stored.items():
        if s.performance is not None:
            title = f"{name} {'not ' * (s.certified is False)}certified"
            offers[f"{name}:{CERTIFIED}"] = Offer(title, partial(_performed, s))
    if certify and not isinstance(piece.motion, PerformedMotion):
        for name in dict.fromkeys([*stored, *(robots if piece.clip is not None else ())]):
            make = partial(_certified, piece, stored.get(name), robots.get(name))
            offers.setdefault(f"{name}:{CERTIFIED}", Offer(f"{name} certified", make, computed=True))
    if piece.clip is not None:
        done = {name: s.method for name, s in stored.items()}
        for robot in robots.values():
            for method in reversed(METHODS):  # the best first
                if done.get(robot.name) != method:
                    make = partial(_retargeted, piece, robot, method)
                    offers[f"{robot.name}:{method}"] = Offer(f"{robot.name} by {method}", make, computed=True)
            for preset in piece.presets:
                title = f"{robot.name} by {DEFAULT_METHOD}, preset {preset}"
                make = partial(_by_preset, piece, robot, preset, title)
                offers[f"{robot.name}:{DEFAULT_METHOD}@{preset}"] = Offer(title, make, computed=True)
        for name in built_in_robots():  # to compare with, though nobody has named them
            if name not in robots and name not in stored:
                make = partial(_on_built_in, piece, name)
                offers[f"{name}:{DEFAULT_METHOD}"] = Offer(f"{name} by {DEFAULT_METHOD}", make, computed=True)
    return offers


def opened(
    piece: Piece, offers: Mapping[str, Offer], chosen: Sequence[str], make: Callable[[str, Offer], Performers]
) -> Opened:
    """Return a piece with the chosen performers; one that is the reference of another is its ghost."""
    names, titles = list(dict.fromkeys(chosen)), {name: offer.title for name, offer in offers.items()}
    check_choice(names, titles)
    found: dict[str, Performer] = {}
    for who in (who for name in names for who in make(name, offers[name])):
        if who.ghost or who.id not in found:
            found[who.id] = who
    return Opened(show_of(piece, list(found.values())), choices_of(titles, names))


def _stored(stored: Stored) -> Performers:
    return [stored_performer(stored.motion(), stored.robot())]


def _performed(stored: Stored) -> Performers:
    assert stored.performance is not None
    return performance_pair(stored.performance(), stored.motion(), stored.robot())


def _retargeted(piece: Piece, robot: Robot, method: str) -> Performers:
    assert piece.clip is not None
    return [perform(piece.clip, robot, method)]


def _on_built_in(piece: Piece, name: str) -> Performers:
    return _retargeted(piece, cached_robot(name), DEFAULT_METHOD)


def _by_preset(piece: Piece, robot: Robot, preset: str, title: str) -> Performers:
    """Curate the recording by another preset and put it on the robot; what that preset says of it goes with it."""
    clip = piece.presets[preset]()
    verdict, made = "; ".join(clip.verdict.reasons), perform(clip, robot)
    made = replace(made, id=f"{robot.name}:{DEFAULT_METHOD}@{preset}", title=title)
    if verdict:
        return [replace(made, flags=(f"preset {preset} rejects it as a whole: {verdict}", *made.flags))]
    return [replace(made, notes=(f"preset {preset} keeps it as a whole",))]


def _certified(piece: Piece, stored: Stored | None, robot: Robot | None) -> Performers:
    """Perform a piece under physics: the stored motion, or the one by the default method."""
    from phuma.pipelines.certify import certify  # the simulation: not before something is to be performed

    if stored is not None:
        motion, robot = stored.motion(), stored.robot()
    elif robot is not None and piece.clip is not None:
        motion = retarget(piece.clip, robot)
    else:
        raise ConfigError(f"{piece.title} is of no robot that is known; see --robot")
    found = certify(motion, robot, threads=os.cpu_count() or 1, name=piece.title)
    if found.performance is None:
        raise PhumaError(f"{piece.title} cannot be performed: {found.reason}")
    return performance_pair(found.performance, motion, robot, DEFAULT_METHOD if stored is None else STORED)
