"""Feedback around a performance, and how far from it the robot still comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from phuma.control.cost import CostCfg
from phuma.control.dynamics import SUBSTEPS, Dynamics
from phuma.control.guide import BLOCK, regulated_block
from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim import events
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.feedback import Strand, Strands
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import CONTROL_RATE
from phuma.sim.mujoco_cpu import MujocoSimulation, unreported

COMING_BACK = CostCfg(root_linvel=50.0, root_angvel=10.0, joint_vel=1.0, bodies=30.0, feet=10.0, offset=100.0)
USUAL_REGULATOR = "soft"
REGULATORS = {
    USUAL_REGULATOR: COMING_BACK,
    "damped": replace(COMING_BACK, joint_vel=5.0),
    "steady": replace(COMING_BACK, joint_vel=5.0, root_linvel=200.0),
}
"""Weights for feedback from afar by their regulator's name. The usual ones are soft, where plans follow closely: with
those of plans half as many starts come back. `damped` keeps legs that fly slow, and `steady` the trunk at its speed
too, for motions with flights: there gains that throw a foot forward have it come down early"""


RANK = 16
"""Number of directions in which deviations cost by far the most; the rest do not help to tell moments apart"""


def feedback_along(
    dynamics: Dynamics, qpos: Array, qvel: Array, targets: Array, cfgs: Sequence[CostCfg], end: Array | None = None
) -> list[tuple[Array, Array]]:
    """Return (T - 1, N, 2V) K and (T - 1, R, 2V) L in single precision, of the regulators by each of some costs: the
    gains along a performance, for  target + K x  with x as of `sim.coordinates.tangent`, and what deviations cost from
    there on,  |L x|^2. What the simulation's derivatives take is taken once for all.

    `end` (2V, 2V) is what deviations cost after it, where it is a part of something longer."""
    parts: list[list[tuple[Array, Array]]] = [[] for _ in cfgs]
    with unreported():
        for first in range(0, len(targets), BLOCK):
            blocks = regulated_block(dynamics, State(qpos, qvel), targets, cfgs, first, end)
            for part, (block, _) in zip(parts, blocks):
                value = square_root(block.values[: len(block.gains)], RANK)
                part.append((block.gains.astype(np.float32), value.astype(np.float32)))
    return [(np.concatenate([g for g, _ in part]), np.concatenate([v for _, v in part])) for part in parts]


def square_root(matrices: Array, rank: int) -> Array:
    """Return (T, rank, n) L with  L' L  the best approximation of this rank to symmetric matrices (T, n, n).

    Each row's first number is not negative, so that it does not depend on the library that found it."""
    values, vectors = np.linalg.eigh(matrices)
    rows = (vectors[:, :, -rank:] * np.sqrt(np.maximum(values[:, None, -rank:], 0.0))).swapaxes(1, 2)
    return np.where(rows[:, :, :1] < 0, -rows, rows)


class Tried(NamedTuple):
    """Rollouts under feedback."""

    qpos: Array
    """(E, T, 7 + N) states; a rollout that diverges stays where it was"""
    qvel: Array
    """(E, T - 1, 6 + N) velocities with which each step began, pushes included"""
    pushed: Array
    """(E, T - 1) bool: whether a push came before the step; the first state counts as one"""


def closed_loop(
    robot: Robot,
    strands: Sequence[Strand],
    rollouts: int,
    seed: int,
    start: float = 0.0,
    pushes: bool = False,
    threads: int = 1,
) -> Tried:
    """Return rollouts under feedback, from starts off the performance's first state by `start` times the paper's
    ranges, and with the paper's pushes every 1 to 3 s where they are asked for."""
    rng, first, feedback = np.random.default_rng(seed), strands[0].feedback, Strands([strands])
    simulation = MujocoSimulation(robot, rollouts, SUBSTEPS, threads)
    begin = State(np.tile(first.qpos[0], (rollouts, 1)), np.tile(first.qvel[0], (rollouts, 1)))
    simulation.restore(*begin)
    if start:
        state = Kinematics(robot).of_coordinates(begin)
        simulation.reset(np.arange(rollouts), events.perturbed(rng, state, start, robot.lower, robot.upper))
    qpos, qvel, pushed, wait = [simulation.qpos.copy()], [], [], events.push_waits(rng, rollouts)
    own = np.zeros(rollouts, dtype=int)
    for t in range(len(first)):
        due = np.full(rollouts, t == 0)
        if pushes:
            wait -= 1 / CONTROL_RATE
            now = wait <= 0
            simulation.push(*(push * now[:, None] for push in events.pushes(rng, rollouts)))
            wait[now] = events.push_waits(rng, int(now.sum()))
            due |= now
        pushed.append(due)
        qvel.append(simulation.qvel.copy())
        simulation.step(feedback.aim(State(simulation.qpos, simulation.qvel), own, own + t)[0])
        qpos.append(simulation.qpos.copy())
    simulation.close()
    return Tried(*(np.stack(values, axis=1) for values in (qpos, qvel, pushed)))
