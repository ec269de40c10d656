"""Mend a recording: find what is off, take it out, and look again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from phuma.contacts.evidence import Evidence
from phuma.contacts.stance import FEWEST, contacts_that_stand
from phuma.core import rotations as rot
from phuma.core.clip import Measure
from phuma.core.curation_metrics import MENDING
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.metric import quantity
from phuma.core.rotations import Array
from phuma.core.series import length
from phuma.curation.mending.floating import find_lift, runs_of
from phuma.curation.mending.footing import Footing
from phuma.curation.mending.level import Level, find_level
from phuma.curation.mending.slide import find_slide, is_clear

STANDING = 0.5
"""Time in s that somebody has to stand in all for anything to be mended: four or five steps of a run"""
LEAST_TILT, LEAST_RISE, LEAST_SLIDE = np.radians(2.5), 0.015, 0.08
"""Tilt in rad, rise in m/s and slide in m/s below which nothing is changed: good recordings and good estimates differ
by as much"""
LEAST_WIDE = np.radians(4.0)
"""Tilt in rad from which on feet that are at rest but seem to hang in the air are held to stand: on one leg people lean
by less"""
FITS = 0.01
"""Median distance in m from a floor up to which feet are held to stand on it"""
LEAST_HIDDEN, FITS_HIDDEN = np.radians(8.0), 0.006
"""The same of a tilt that only feet show which seem to hang in the air: who balances on one leg may look like that"""
MENDED = "mended: "
"""How a note on what was mended begins"""
FINER = 0.25
"""Share of these down to which a mend that has begun is refined"""
ROUNDS = 8
"""Times that a recording is looked at; what has been mended lets contacts be found better"""
LIMITS = {metric.name: metric.limit or 0.0 for metric in MENDING}
UP = np.array([0.0, 0.0, 1.0])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
WALKS = 0.3
"""Share of its mended way that somebody covers in the recording at least; on a treadmill nobody does"""


@dataclass(frozen=True, eq=False)
class Mending:
    """The sizes of what was taken out of a recording, or would have to be taken out beyond the limits."""

    turn: Array
    """(4,) wxyz, the rotation that makes the world level"""
    rise: float
    """m/s, how fast the ground rose"""
    lift: Array
    """(T,) m, how high soles were above the floor"""
    slide: Array
    """(T, 2) m/s, how fast the ground moved along"""

    @property
    def tilt(self) -> float:
        """Return the angle in rad by which the world was tilted."""
        return 0.0 if self.turn is IDENTITY else tilt_of(self.turn)

    def measures(self, first: int, last: int) -> tuple[Measure, ...]:
        """Return the sizes of the mends of frames first to last - 1, and their limits."""
        values = {
            "mended_tilt": float(np.degrees(self.tilt)),
            "mended_drift": abs(self.rise),
            "mended_float": float(self.lift[first:last].max()),
            "mended_slide": float(length(self.slide[first:last]).max()),
        }
        return tuple(Measure(metric, values[metric.name], LIMITS[metric.name]) for metric in MENDING)

    def frames(self, first: int, last: int) -> Mending:
        """Return the sizes for frames first to last - 1."""
        return replace(self, lift=self.lift[first:last], slide=self.slide[first:last])

    @property
    def beyond(self) -> Mending | None:
        """Return what of it is beyond the limits of whole recordings; None if nothing is."""
        tilted = np.degrees(self.tilt) >= LIMITS["mended_tilt"]
        drifts = abs(self.rise) >= LIMITS["mended_drift"]
        slides = np.linalg.norm(self.slide, axis=1) >= LIMITS["mended_slide"]
        if not (tilted or drifts or slides.any()):
            return None
        lift, slide = np.zeros(len(self.lift)), np.where(slides[:, None], self.slide, 0.0)
        return Mending(self.turn if tilted else IDENTITY, self.rise if drifts else 0.0, lift, slide)

    @property
    def note(self) -> str:
        """Return what was mended in words: `mended: levelled by 6.1°, slide taken out 0.30 m/s`; empty of nothing."""
        sizes = [m for m in self.measures(0, len(self.lift)) if m.value > 0 and m.passed]
        told = [f"{m.metric.label} {quantity(f'{m.value:.2g}', m.metric.unit)}" for m in sizes]
        return f"{MENDED}{', '.join(told)}" if told else ""


class Mended(NamedTuple):
    """A recording after mending."""

    evidence: Evidence
    contact: FootContacts
    """The contacts that stand"""
    mending: Mending


def mend(evidence: Evidence, look: Callable[[HumanMotion], Evidence]) -> Mended:
    """Return the recording mended; `look` makes evidence of a motion. What is not clearly off is not changed at all.

    One thing is mended at a time and then looked for again, since contacts are found better on a better floor. Drift
    comes first, as a ground that rises hides floating; floating hides tilt. A recording that is tilted, drifts or
    slides beyond its limit is left as it is; of one that floats too high, the part that does.
    """
    as_it_is = evidence
    length = len(evidence.recorded)
    mending = Mending(IDENTITY, 0.0, np.zeros(length), np.zeros((length, 2)))
    contact = as_it_stands = contacts_that_stand(evidence)
    for _ in range(ROUNDS if length >= FEWEST else 0):
        footing = footing_of(evidence, contact)
        if footing.seconds < STANDING:
            break
        for step in (_steadied, _set_down, _levelled, _held):
            motion, mending = step(evidence, footing, mending)
            if mending.beyond:
                return Mended(as_it_is, as_it_stands, mending.beyond)
            if motion is not evidence.recorded:
                break
        if motion is evidence.recorded:
            break
        evidence = look(motion)
        contact = contacts_that_stand(evidence)
    return Mended(evidence, contact, mending)


def footing_of(evidence: Evidence, contact: FootContacts) -> Footing:
    """Return what a recording of at least three frames, with contacts that stand, shows of the ground."""
    return Footing(evidence.regions, evidence.support.force, evidence.support.trusted, contact.mask)


def _steadied(evidence: Evidence, footing: Footing, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion on a ground that does not rise.

    Heights do not tell a rise from a tilt where somebody walks straight on: one hides the other. So it is both only if
    neither alone does and forces show the tilt; else what explains heights better.
    """
    motion, level = evidence.recorded, find_level(footing, tilts=False)
    if level.spread >= FITS:
        tilted, both = find_level(footing, rises=False), find_level(footing)
        if tilted.spread >= FITS and both.tilt_agrees:
            level = both
        elif tilted.spread < level.spread:
            level = tilted
    rise = mending.rise + level.rise
    if not (_counts(level.rise, LEAST_RISE, mending.rise) and level.rise_agrees):
        return motion, mending
    up = level.rise * (np.arange(len(motion)) / motion.fps - level.time)
    return _moved(motion, np.outer(up + _above_known(evidence, level), -UP)), replace(mending, rise=rise)


def _set_down(evidence: Evidence, footing: Footing, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion with the parts that float set down, but for those that float too high."""
    found = find_lift(footing, evidence.support.floor)
    total = mending.lift + found
    too_high = np.zeros(len(found), dtype=bool)
    for first, last in runs_of(found > 0):
        too_high[first:last] = total[first:last].max() >= LIMITS["mended_float"]
    mending = replace(mending, lift=np.where(too_high, np.maximum(mending.lift, found), total))
    taken = np.where(too_high, 0.0, found)
    motion = evidence.recorded
    return (_moved(motion, np.outer(taken, -UP)) if taken.any() else motion), mending


def _levelled(evidence: Evidence, footing: Footing, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion turned about a level line so that the floor is level."""
    motion, level = evidence.recorded, _tilted_floor(footing, mending.tilt)
    if level is None:
        return motion, mending
    normal = np.append(level.tilt, 1.0)
    step = rot.between(normal / np.linalg.norm(normal), UP)
    turn = rot.multiply(step, mending.turn)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(step, quat[:, 0])
    root = rot.rotate(step, motion.root_pos - level.middle) + level.middle - _above_known(evidence, level) * UP
    return replace(motion, root_pos=root, joint_quat=quat), replace(mending, turn=turn)


def _tilted_floor(footing: Footing, begun: float) -> Level | None:
    """Return the tilted floor that is to be made level, None if there is none.

    In a tilted world the force acts over the lower foot and the other seems to hang in the air. So all feet that are at
    rest are looked at too: they stand if they lie on one plane and forces lean with it.
    """
    level, wide = find_level(footing, rises=False), find_level(footing.widened(), rises=False)
    shown = level.angle >= LEAST_WIDE and wide.spread < FITS
    hidden = wide.angle >= LEAST_HIDDEN and wide.spread < FITS_HIDDEN
    if (shown or hidden) and wide.tilt_agrees and np.degrees(wide.angle) < LIMITS["mended_tilt"]:
        return wide
    return level if _counts(level.angle, LEAST_TILT, begun) and level.tilt_agrees else None


def _held(evidence: Evidence, footing: Footing, mending: Mending) -> tuple[HumanMotion, Mending]:
    """Return the motion with the ground at rest, unless it is a treadmill."""
    motion, slide = evidence.recorded, find_slide(footing)
    size, begun = float(np.linalg.norm(slide, axis=1).max()), bool(mending.slide.any())
    if not (_counts(size, LEAST_SLIDE, begun) and (begun or is_clear(footing, slide))):
        return motion, mending
    way = np.cumsum(slide, axis=0) / motion.fps
    held = _moved(motion, np.pad(way[0] - way, ((0, 0), (0, 1))))
    if _way(motion) < WALKS * _way(held):
        return motion, mending
    return held, replace(mending, slide=mending.slide + slide)


def tilt_of(turn: Array) -> float:
    """Return the angle in rad between upright and what a rotation (4,) wxyz makes of it."""
    return float(np.arccos(np.clip(rot.rotate(turn, UP)[2], -1.0, 1.0)))


def _above_known(evidence: Evidence, level: Level) -> float:
    """Return m: by how much the middle of what stands is above the ground that the user knows; 0 if he knows none."""
    return 0.0 if evidence.known_ground is None else float(level.middle[2]) - evidence.known_ground


def _counts(size: float, least: float, begun: float) -> bool:
    """Return whether a mend is large enough: the first, or a finer one after it."""
    return abs(size) >= (FINER * least if begun else least)


def _moved(motion: HumanMotion, by: Array) -> HumanMotion:
    return replace(motion, root_pos=motion.root_pos + by)


def _way(motion: HumanMotion) -> float:
    """Return m/s: how far the pelvis gets in a second, in the mean."""
    second = max(1, min(round(motion.fps), len(motion) - 1))
    path = motion.root_pos[:, :2]
    return float(np.linalg.norm(path[second:] - path[:-second], axis=1).mean() * motion.fps / second)
