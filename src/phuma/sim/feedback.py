"""Feedback along a performance: what to aim at when the robot is beside it.

A regulator's gains K_k hold near the performance's state of one moment k, for the deviation x_k from it. A robot that
was pushed sets its feet down early or late, and then it is nearest to another moment than the clock's t:

    k = argmin_k  |L_k x_k|^2 + w (k - t)^2,     target = target_k + K_k x_k

with |L_k x_k|^2, what the deviation will cost. Without that choice a quarter as many robots come back of walks; jogs
come back by the clock alone. So w belongs to the performance, and who certifies it chooses (`control/laws.py`).
Where the robot stands on the floor is left out of x: no sensor says it, and chasing a place throws robots over. A
learner that is told may ask for it within a `reach`: then x has how far the robot is from where it should be by the
clock, cut at so many metres.

A performance may have ways back to it from states beside it, along which there is feedback too; then the one is taken
from which the deviation costs least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.sim.coordinates import Coordinates, tangent

FLOOR = 2
"""Coordinates of a state that say where on the floor it is: the first"""
AWAY = 10
"""Most control steps by which a robot can be early or late"""
LATENESS = 5.0
"""Weight w of being early or late, per squared control step, where a performance says nothing else"""
BY_THE_CLOCK = np.inf
"""The weight with which only the clock counts"""


class Feedback(NamedTuple):
    """Feedback along S control steps of one performance, or of several in a row."""

    qpos: Array
    """(S, 7 + N) states from which each step begins"""
    qvel: Array
    """(S, 6 + N)"""
    target: Array
    """(S, N) rad, what the joints' controllers aim at if nothing deviates"""
    gains: Array
    """(S, N, 2V) K, in half precision"""
    value: Array
    """(S, R, 2V) L"""
    lateness: Array
    """(S,) weight w of being early or late where the clock is at this step; infinite: by the clock alone"""

    def __len__(self) -> int:
        return len(self.target)


def feedback_of(rollout: Rollout) -> Feedback:
    """Return the feedback along a performance that was stored with its gains, gains in half precision."""
    velocity, target, gains, value = rollout.velocity, rollout.target, rollout.gains, rollout.value
    assert velocity is not None
    assert target is not None
    assert gains is not None
    assert value is not None
    return halved(Feedback(rollout.qpos[:-1], velocity[:-1], target, gains, value, lateness_of(rollout, len(target))))


def lateness_of(rollout: Rollout, steps: int) -> Array:
    """Return (steps,) the weight of being early or late along a performance, or along a way back to it."""
    return np.full(steps, LATENESS if rollout.lateness is None else rollout.lateness)


def halved(feedback: Feedback) -> Feedback:
    """Return feedback with gains in half precision."""
    half = np.clip(feedback.gains, -6e4, 6e4).astype(np.float16)
    value = feedback.value.astype(np.float32)
    return Feedback(feedback.qpos, feedback.qvel, feedback.target, half, value, feedback.lateness)


class Strand(NamedTuple):
    """Feedback along a performance of a motion, or along a way back to it."""

    begin: int
    """Control step of the motion at which it begins; the performance's is 0"""
    feedback: Feedback


class Strands:
    """Feedback for several motions; each has its performance and, after it, ways back to that."""

    def __init__(self, motions: Iterable[Sequence[Strand]], reach: float = 0.0) -> None:
        self._reach = reach
        columns: list[list[Array]] = [[] for _ in Feedback._fields]
        begin, lengths, counts = list[int](), list[int](), list[int]()
        for strands in motions:
            counts.append(len(strands))
            for strand in strands:
                begin.append(strand.begin)
                lengths.append(len(strand.feedback))
                for column, values in zip(columns, strand.feedback):
                    column.append(values)
        self._feedback = Feedback(*map(_joined, columns))
        self._first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._last = self._first + lengths - 1
        self._begin = np.array(begin)
        self._performance = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._ways = np.array(counts) - 1

    def arrays(self) -> dict[str, Array]:
        """Return all strands in arrays, one after the other: each begins at a control step of its motion."""
        lengths = self._last - self._first + 1
        return {**self._feedback._asdict(), "begin": self._begin, "steps": lengths}

    def aim(self, state: Coordinates, motion: Array, step: Array) -> tuple[Array, Array]:
        """Return (E, N) rad, what the joints' controllers of E environments should aim at, and (E,) what their
        deviations will cost, at steps (E,) of motions (E,)."""
        own = self._performance[motion]
        target, cost = self._along(own, state, step)
        rows, way = self._nearest_way(state, motion, step)
        if len(rows):
            other, price = self._along(way, Coordinates(state.qpos[rows], state.qvel[rows]), step[rows])
            better = price < cost[rows]
            target[rows[better]], cost[rows[better]] = other[better], price[better]
        return target, cost

    def _along(self, strand: Array, state: Coordinates, step: Array) -> tuple[Array, Array]:
        first, last = self._first[strand], self._last[strand]
        return aim(self._feedback, state, first + step - self._begin[strand], first, last, self._reach)

    def _nearest_way(self, state: Coordinates, motion: Array, step: Array) -> tuple[Array, Array]:
        """Return the environments that have a way back at this step of their motions, and of each the one that costs
        least by the clock."""
        number = np.arange(int(self._ways.max(initial=0)))
        strand = np.minimum(self._performance[motion][:, None] + 1 + number, len(self._begin) - 1)
        row = self._first[strand] + step[:, None] - self._begin[strand]
        there = (number < self._ways[motion][:, None]) & (row >= self._first[strand]) & (row <= self._last[strand])
        environment, column = np.nonzero(there)
        at = row[environment, column]
        x = _deviation(self._feedback, Coordinates(state.qpos[environment], state.qvel[environment]), at)
        x[..., :FLOOR] = 0.0
        cost = np.full(there.shape, np.inf)
        cost[environment, column] = price(self._feedback.value[at], x)
        rows = np.flatnonzero(there.any(axis=1))
        return rows, strand[rows, cost[rows].argmin(axis=1)] if len(rows) else rows


def _joined(arrays: list[Array]) -> Array:
    """Return arrays one after the other, and let go of them: those of a thousand motions take a gigabyte."""
    out = np.concatenate(arrays)
    arrays.clear()
    return out


def price(value: Array, x: Array) -> Array:
    """Return (...) what deviations (..., 2V) cost,  |L x|^2."""
    return (np.matmul(value, x[..., None])[..., 0] ** 2).sum(-1)


def aim(
    feedback: Feedback, state: Coordinates, step: Array, first: Array, last: Array, reach: float = 0.0
) -> tuple[Array, Array]:
    """Return (E, N) rad, what the joints' controllers of E environments should aim at, and (E,) what their deviations
    will cost.

    `step` (E,) is the clock's, `first` and `last` (E,) are those of the performance that it is in; `reach` is how far
    off, in m, the place on the floor counts.
    """
    chosen = np.clip(step, first, last)
    x = _deviation(feedback, state, chosen)
    away = x[:, :FLOOR].copy()
    x[:, :FLOOR] = 0.0
    cost = price(feedback.value[chosen], x)
    free = np.flatnonzero(np.isfinite(feedback.lateness[chosen]))
    if len(free):
        there = Coordinates(state.qpos[free], state.qvel[free])
        chosen[free], x[free], cost[free] = _reached(feedback, there, step[free], first[free], last[free])
    x[:, :FLOOR] = away * np.minimum(1.0, reach / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6))
    offset = np.matmul(feedback.gains[chosen].astype(np.float32), x[..., None])[..., 0]
    return feedback.target[chosen] + offset, cost


def _reached(
    feedback: Feedback, state: Coordinates, step: Array, first: Array, last: Array
) -> tuple[Array, Array, Array]:
    """Return (E,) the steps near the clock's that cost least, (E, 2V) the deviations from them but for the place on the
    floor, and (E,) what these will cost."""
    near = np.clip(step[:, None] + np.arange(-AWAY, AWAY + 1), first[:, None], last[:, None])
    x = _deviation(feedback, Coordinates(state.qpos[:, None], state.qvel[:, None]), near)
    x[..., :FLOOR] = 0.0
    cost = price(feedback.value[near], x)
    lateness = feedback.lateness[near[:, AWAY]]
    rows = np.arange(len(step))
    best = (cost + lateness[:, None] * (near - step[:, None]) ** 2).argmin(axis=1)
    return near[rows, best], x[rows, best], cost[rows, best]


def _deviation(feedback: Feedback, state: Coordinates, step: Array) -> Array:
    """Return (..., 2V) how far states are from those of steps."""
    return tangent(state, Coordinates(feedback.qpos[step], feedback.qvel[step])).astype(np.float32)
