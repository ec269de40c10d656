"""Mend a recording: find what is off, take it out, and look again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from phuma.contacts.evidence import Evidence
from phuma.contacts.regions import regions_of
from phuma.contacts.stance import FEWEST, contacts_that_stand
from phuma.core import rotations as rot
from phuma.core.clip import Measure
from phuma.core.curation_metrics import MENDING
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.curation.mending.floating import find_lift, runs_of
from phuma.curation.mending.footing import Footing
from phuma.curation.mending.level import Level, find_level
from phuma.curation.mending.slide import find_slide

STANDING = 0.5
"""Time in s that somebody has to stand for anything to be mended"""
STANDING_FOR_RISE = 1.0
"""Time in s that somebody has to stand before the ground can be said to rise"""
LEAST_TILT, LEAST_RISE, LEAST_SLIDE = np.radians(2.5), 0.015, 0.07
"""Tilt in rad, rise in m/s and slide in m/s below which nothing is changed: good recordings and good estimates differ
by as much"""
FINER = 0.25
"""Share of these down to which a mend that has begun is refined"""
ROUNDS = 5
"""Times that a recording is looked at; what has been mended lets contacts be found better"""
LIMITS = {metric.name: metric.limit or 0.0 for metric in MENDING}
UP = np.array([0.0, 0.0, 1.0])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
WALKS = 0.3
"""Share of its mended way that somebody covers in the recording at least; on a treadmill nobody does"""




@dataclass(frozen=True, eq=False)
class Mending:
    """The sizes of what was taken out of a recording, or would have to be taken out beyond the limits."""

    tilt: float
    """rad"""
    rise: float
    """m/s, how fast the ground rose"""
    lift: Array
    """(T,) m, how high soles were above the floor"""
    slide: Array
    """(T, 2) m/s, how fast the ground moved along"""

    def measures(self, first: int, last: int) -> tuple[Measure, ...]:
        """Return the sizes of the mends of frames first to last - 1, and their limits."""
        values = {
            "mended_tilt": float(np.degrees(self.tilt)),
            "mended_drift": abs(self.rise),
            "mended_float": float(self.lift[first:last].max()),
            "mended_slide": float(np.linalg.norm(self.slide[first:last], axis=1).max()),
        }
        return tuple(Measure(metric, values[metric.name], LIMITS[metric.name]) for metric in MENDING)


class Mended(NamedTuple):
    """A recording after mending."""

    evidence: Evidence
    contact: FootContacts
    """The contacts that stand"""
    mending: Mending


def mend(evidence: Evidence, look: Callable[[HumanMotion], Evidence]) -> Mended:
    """Return the recording mended; `look` makes evidence of a motion. What is not clearly off is not changed at all.

    What floats is set down first, since it hides the rest. Tilt, rise and slide are then found together and again,
    because contacts are found better on a level floor.
    """
    length = len(evidence.recorded)
    mending = Mending(0.0, 0.0, np.zeros(length), np.zeros((length, 2)))
    turn = IDENTITY
    contact = contacts_that_stand(evidence)
    for _ in range(ROUNDS if length >= FEWEST else 0):
        motion = evidence.recorded
        footing = footing_of(evidence, contact)
        if footing.seconds < STANDING:
            break
        motion, mending = _set_down(motion, footing, evidence.support.floor, mending)
        if motion is evidence.recorded:
            motion, turn, mending = _levelled(motion, footing, turn, mending, evidence.known_ground)
            motion, mending = _held(motion, footing, mending)
        if motion is evidence.recorded:
            break
        evidence = look(motion)
        contact = contacts_that_stand(evidence)
    return Mended(evidence, contact, mending)


def footing_of(evidence: Evidence, contact: FootContacts) -> Footing:
    """Return what a recording of at least three frames, with contacts that stand, shows of the ground."""
    return Footing(regions_of(evidence), evidence.support.force, evidence.support.trusted, contact.mask)


def _set_down(motion: HumanMotion, footing: Footing, floor: float, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion with the parts that float set down, but for those that float too high."""
    found = find_lift(footing, floor)
    total = mending.lift + found
    too_high = np.zeros(len(found), dtype=bool)
    for first, last in runs_of(found > 0):
        too_high[first:last] = total[first:last].max() >= LIMITS["mended_float"]
    mending = replace(mending, lift=total)
    taken = np.where(too_high, 0.0, found)
    return (_moved(motion, np.outer(taken, [0.0, 0.0, -1.0])) if taken.any() else motion), mending


def _levelled(
    motion: HumanMotion, footing: Footing, turn: Array, mending: Mending, ground: float | None
) -> tuple[HumanMotion, Array, Mending]:
    """Return the motion on a level floor that does not rise; with it the turn so far."""
    level = find_level(footing)
    step, rise = _level_turn(level), level.rise
    if not (_counts(level.angle, LEAST_TILT, mending.tilt) and level.tilt_agrees):
        step = IDENTITY
    if not (footing.seconds >= STANDING_FOR_RISE and _counts(rise, LEAST_RISE, mending.rise) and level.rise_agrees):
        rise = 0.0
    whole = rot.multiply(step, turn)
    angle = float(np.arccos(np.clip(rot.rotate(whole, UP)[2], -1.0, 1.0)))
    mending = replace(mending, tilt=angle, rise=mending.rise + rise)
    if np.degrees(angle) >= LIMITS["mended_tilt"]:
        step = IDENTITY
    if abs(mending.rise) >= LIMITS["mended_drift"]:
        rise = 0.0
    if step is IDENTITY and rise == 0.0:
        return motion, turn, mending
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(step, quat[:, 0])
    root = rot.rotate(step, motion.root_pos - level.middle) + level.middle
    root[:, 2] -= rise * (np.arange(len(motion)) / motion.fps - level.time)
    root[:, 2] += 0.0 if ground is None else ground - level.middle[2]
    return replace(motion, root_pos=root, joint_quat=quat), rot.multiply(step, turn), mending


def _held(motion: HumanMotion, footing: Footing, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion with the ground at rest, unless it is a treadmill."""
    slide = find_slide(footing)
    total = np.linalg.norm(mending.slide + slide, axis=1)
    if not _counts(float(np.linalg.norm(slide, axis=1).max()), LEAST_SLIDE, float(mending.slide.any())):
        return motion, mending
    way = np.cumsum(slide, axis=0) / motion.fps
    held = _moved(motion, np.pad(way[0] - way, ((0, 0), (0, 1))))
    if _way(motion) < WALKS * _way(held):
        return motion, mending
    too_fast = total >= LIMITS["mended_slide"]
    if too_fast.any():
        return motion, replace(mending, slide=np.where(too_fast[:, None], mending.slide + slide, 0.0))
    return held, replace(mending, slide=mending.slide + slide)


def _counts(size: float, least: float, begun: float) -> bool:
    """Return whether a mend is large enough: the first, or a finer one after it."""
    return abs(size) >= (FINER * least if begun else least)


def _level_turn(level: Level) -> Array:
    """Return (4,) wxyz: the shortest rotation that brings the plane's normal, (tilt, 1), upright."""
    normal = np.append(level.tilt, 1.0)
    return rot.between(normal / np.linalg.norm(normal), UP)


def _moved(motion: HumanMotion, by: Array) -> HumanMotion:
    return replace(motion, root_pos=motion.root_pos + by)


def _way(motion: HumanMotion) -> float:
    """Return m/s: how far the pelvis gets in a second, in the mean."""
    second = max(1, min(round(motion.fps), len(motion) - 1))
    path = motion.root_pos[:, :2]
    return float(np.linalg.norm(path[second:] - path[:-second], axis=1).mean() * motion.fps / second)
