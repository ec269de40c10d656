"""Feedback along a performance: what to aim at when the robot is beside it.

A regulator's gains K_k hold near the performance's state of one moment k, for the deviation x_k from it. A robot that
was pushed sets its feet down early or late, and then it is nearest to another moment than the clock's t:

    k = argmin_k  |L_k x_k|^2 + w (k - t)^2,     target = target_k + K_k x_k

with |L_k x_k|^2, what the deviation will cost. Without that choice half as many robots come back, of walks a quarter.
Where the robot stands on the floor is left out of x: no sensor says it, and chasing a place throws robots over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.sim.coordinates import Coordinates, tangent

AWAY = 10
"""Most control steps by which a robot can be early or late"""
BY_THE_CLOCK = 5.0
"""Weight w of being early or late, per squared control step"""


class Feedback(NamedTuple):
    """Feedback along S control steps, of one performance or of several in a row."""

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

    def __len__(self) -> int:
        return len(self.target)


def feedback_of(rollout: Rollout) -> Feedback:
    """Return the feedback along a performance that was stored with its gains, gains in half precision."""
    velocity, target, gains, value = rollout.velocity, rollout.target, rollout.gains, rollout.value
    assert velocity is not None
    assert target is not None
    assert gains is not None
    assert value is not None
    blind = np.ones(gains.shape[-1])
    blind[:2] = 0.0
    half = np.clip(blind * gains, -6e4, 6e4).astype(np.float16)
    return Feedback(rollout.qpos[:-1], velocity[:-1], target, half, (blind * value).astype(np.float32))


def in_a_row(parts: Sequence[Feedback]) -> Feedback:
    """Return several feedbacks as one."""
    return Feedback(*(np.concatenate(each) for each in zip(*parts)))


def aim(feedback: Feedback, state: Coordinates, step: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """Return (E, N) rad, what the joints' controllers of E environments should aim at, and (E,) what their deviations
    will cost.

    `step` (E,) is the clock's, `first` and `last` (E,) are those of the performance that it is in.
    """
    near = np.clip(step[:, None] + np.arange(-AWAY, AWAY + 1), first[:, None], last[:, None])
    there = Coordinates(feedback.qpos[near], feedback.qvel[near])
    x = tangent(Coordinates(state.qpos[:, None], state.qvel[:, None]), there).astype(np.float32)
    cost = (np.matmul(feedback.value[near], x[..., None])[..., 0] ** 2).sum(-1)
    rows = np.arange(len(step))
    best = (cost + BY_THE_CLOCK * (near - step[:, None]) ** 2).argmin(axis=1)
    chosen = near[rows, best]
    offset = np.matmul(feedback.gains[chosen].astype(np.float32), x[rows, best][..., None])[..., 0]
    return feedback.target[chosen] + offset, cost[rows, best]
