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
from phuma.sim.coordinates import tangent
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import CONTROL_RATE
from phuma.sim.mujoco_cpu import MujocoSimulation, unreported

COMING_BACK = CostCfg(root_linvel=50.0, root_angvel=10.0, joint_vel=1.0, bodies=30.0, feet=10.0, offset=100.0)
"""Weights for feedback from afar: soft and damped, where plans follow closely. With those of plans half as many starts
come back"""


def gains_along(dynamics: Dynamics, qpos: Array, qvel: Array, targets: Array) -> Array:
    """Return (T - 1, N, 2V) in single precision: the regulator's gains along a performance, for  target + K x  with x
    as of `sim.coordinates.tangent`."""
    with unreported():
        blocks = [
            regulated_block(dynamics, State(qpos, qvel), targets, COMING_BACK, first)[0]
            for first in range(0, len(targets), BLOCK)
        ]
    return np.concatenate([block.gains.astype(np.float32) for block in blocks])


def closed_loop(
    robot: Robot,
    qpos: Array,
    qvel: Array,
    targets: Array,
    gains: Array,
    rollouts: int,
    seed: int,
    pushes: bool = False,
    threads: int = 1,
) -> Array:
    """Return (E, T, 7 + N) states of rollouts under the gains, from starts off the performance's first state by the
    paper's whole ranges; with `pushes` robots start on it and are pushed every 1 to 3 s instead.

    A rollout that diverges stays where it was.
    """
    rng = np.random.default_rng(seed)
    simulation = MujocoSimulation(robot, rollouts, SUBSTEPS, threads)
    first = np.tile(qpos[0], (rollouts, 1)), np.tile(qvel[0], (rollouts, 1))
    simulation.restore(*first)
    if not pushes:
        start = Kinematics(robot).of_coordinates(State(*first))
        simulation.reset(np.arange(rollouts), events.perturbed(rng, start, 1.0, robot.lower, robot.upper))
    path, wait = [simulation.qpos.copy()], events.push_waits(rng, rollouts)
    for t, (target, gain) in enumerate(zip(targets, gains)):
        if pushes:
            wait -= 1 / CONTROL_RATE
            due = wait <= 0
            simulation.push(*(push * due[:, None] for push in events.pushes(rng, rollouts)))
            wait[due] = events.push_waits(rng, int(due.sum()))
        x = tangent(State(simulation.qpos, simulation.qvel), State(qpos[t], qvel[t]))
        simulation.step(target + x @ gain.T)
        path.append(simulation.qpos.copy())
    simulation.close()
    return np.stack(path, axis=1)
