"""Laws of feedback, by which regulator and how much the clock counts, and which of them brings a robot back.

No law is best for all performances. Who walks sets a foot down early or late and comes back from the moment that was
reached; in a jog that moment is told wrongly, and robots come back by the clock alone. So the usual law is tried by
rollouts from starts that are a little off, and only where robots are lost the others are tried by the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from phuma.control.bundle import lost_at
from phuma.control.dynamics import Dynamics
from phuma.control.expert import Episode
from phuma.control.gains import REGULATORS, USUAL_REGULATOR, closed_loop, feedback_along
from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.sim.feedback import BY_THE_CLOCK, LATENESS, Strand, feedback_of

ROLLOUTS, SEED = 16, 2 * 10**6
"""Rollouts by which a law is judged, and their seed, of which neither bundles nor certificates know"""
START, FAR = 0.2, 1.0
"""Starts by which laws are compared, off by so much of the paper's ranges, and those that decide between equals"""


class Law(NamedTuple):
    """A law of feedback."""

    regulator: str
    """Name of one of the `REGULATORS`"""
    lateness: float
    """Weight of being early or late by a control step, squared; infinite where only the clock counts"""

    def __str__(self) -> str:
        return f"{self.regulator}, {f'lateness {self.lateness:g}' if np.isfinite(self.lateness) else 'by the clock'}"


USUAL = Law(USUAL_REGULATOR, LATENESS)
OTHERS = (
    Law("soft", 50.0),
    Law("damped", LATENESS),
    Law("damped", BY_THE_CLOCK),
    Law("steady", BY_THE_CLOCK),
)
"""Laws that are tried where robots are lost under the usual one"""


def under_laws(dynamics: Dynamics, performance: Rollout, episode: Episode, laws: Sequence[Law]) -> list[Rollout]:
    """Return a performance with its feedback by each of some laws; `episode` is what it records."""
    names = list(dict.fromkeys(law.regulator for law in laws))
    cfgs = [REGULATORS[name] for name in names]
    found = dict(zip(names, feedback_along(dynamics, episode.qpos, episode.qvel, episode.targets, cfgs)))
    return [
        replace(
            performance, gains=found[law.regulator][0], value=found[law.regulator][1], regulator=law.regulator,
            lateness=law.lateness,
        )
        for law in laws
    ]  # fmt: skip


def brought_back(dynamics: Dynamics, performance: Rollout, motion: Trajectory, start: float, threads: int = 1) -> int:
    """Return how many of the `ROLLOUTS` from starts that are off stay with a motion under its feedback."""
    strand = Strand(0, feedback_of(performance))
    tried = closed_loop(dynamics.robot, [strand], ROLLOUTS, SEED, start, threads=threads)
    return sum(lost_at(qpos, motion, dynamics.robot) is None for qpos in tried.qpos)


def with_feedback(
    dynamics: Dynamics, performance: Rollout, episode: Episode, motion: Trajectory, threads: int = 1
) -> Rollout:
    """Return a performance of a motion at control rate with its feedback by the law that brings most robots back: the
    usual one if it brings all back, else the best of all, the first of equals."""
    (usual,) = under_laws(dynamics, performance, episode, [USUAL])
    count = brought_back(dynamics, usual, motion, START, threads)
    if count == ROLLOUTS:
        return usual
    others = under_laws(dynamics, performance, episode, OTHERS)
    counts = [count, *(brought_back(dynamics, other, motion, START, threads) for other in others)]
    best = [each for each, count in zip((usual, *others), counts) if count == max(counts)]
    if len(best) == 1:
        return best[0]
    return max(best, key=lambda each: brought_back(dynamics, each, motion, FAR, threads))


def law_of(performance: Rollout) -> Law:
    """Return the law of a performance's feedback."""
    return Law(
        performance.regulator or USUAL.regulator,
        USUAL.lateness if performance.lateness is None else performance.lateness,
    )
