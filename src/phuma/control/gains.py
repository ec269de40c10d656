"""Feedback around a performance, and how far from it the robot still comes back."""

from __future__ import annotations

import numpy as np

from phuma.control.cost import CostCfg
from phuma.control.dynamics import SUBSTEPS, Dynamics
from phuma.control.guide import BLOCK, regulated_block
from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim import events
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.feedback import Feedback, aim
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import CONTROL_RATE
from phuma.sim.mujoco_cpu import MujocoSimulation, unreported

COMING_BACK = CostCfg(root_linvel=50.0, root_angvel=10.0, joint_vel=1.0, bodies=30.0, feet=10.0, offset=100.0)
"""Weights for feedback from afar: soft and damped, where plans follow closely. With those of plans half as many starts
come back"""


RANK = 16
"""Number of directions in which deviations cost by far the most; the rest do not help to tell moments apart"""


def feedback_along(dynamics: Dynamics, qpos: Array, qvel: Array, targets: Array) -> tuple[Array, Array]:
    """Return (T - 1, N, 2V) K and (T - 1, R, 2V) L in single precision: the regulator's gains along a performance, for
    target + K x  with x as of `sim.coordinates.tangent`, and what deviations cost from there on,  |L x|^2."""
    gains, values = [], []
    with unreported():
        for first in range(0, len(targets), BLOCK):
            block = regulated_block(dynamics, State(qpos, qvel), targets, COMING_BACK, first)[0]
            gains.append(block.gains.astype(np.float32))
            values.append(square_root(block.values[: len(block.gains)], RANK).astype(np.float32))
    return np.concatenate(gains), np.concatenate(values)


def square_root(matrices: Array, rank: int) -> Array:
    """Return (T, rank, n) L with  L' L  the best approximation of this rank to symmetric matrices (T, n, n).

    Each row's first number is not negative, so that it does not depend on the library that found it."""
    values, vectors = np.linalg.eigh(matrices)
    rows = (vectors[:, :, -rank:] * np.sqrt(np.maximum(values[:, None, -rank:], 0.0))).swapaxes(1, 2)
    return np.where(rows[:, :, :1] < 0, -rows, rows)


def closed_loop(
    robot: Robot, feedback: Feedback, rollouts: int, seed: int, pushes: bool = False, threads: int = 1
) -> Array:
    """Return (E, T, 7 + N) states of rollouts under feedback, from starts off the performance's first state by the
    paper's whole ranges; with `pushes` robots start on it and are pushed every 1 to 3 s instead.

    A rollout that diverges stays where it was.
    """
    rng = np.random.default_rng(seed)
    simulation = MujocoSimulation(robot, rollouts, SUBSTEPS, threads)
    first = np.tile(feedback.qpos[0], (rollouts, 1)), np.tile(feedback.qvel[0], (rollouts, 1))
    simulation.restore(*first)
    if not pushes:
        start = Kinematics(robot).of_coordinates(State(*first))
        simulation.reset(np.arange(rollouts), events.perturbed(rng, start, 1.0, robot.lower, robot.upper))
    path, wait = [simulation.qpos.copy()], events.push_waits(rng, rollouts)
    begin, end = np.zeros(rollouts, dtype=int), np.full(rollouts, len(feedback) - 1)
    for t in range(len(feedback)):
        if pushes:
            wait -= 1 / CONTROL_RATE
            due = wait <= 0
            simulation.push(*(push * due[:, None] for push in events.pushes(rng, rollouts)))
            wait[due] = events.push_waits(rng, int(due.sum()))
        now = State(simulation.qpos, simulation.qvel)
        simulation.step(aim(feedback, now, np.full(rollouts, t), begin, end)[0])
        path.append(simulation.qpos.copy())
    simulation.close()
    return np.stack(path, axis=1)
