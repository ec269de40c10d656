"""Simulate by MuJoCo's own threads on the CPU: `mujoco.rollout`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import simulation_model
from phuma.sim.randomization import Randomization, randomized_models
from phuma.sim.state import State

PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
START = 1.0
"""Time in s on the clock of an environment that was just reset"""


class MujocoSimulation:
    """A simulation of `num_envs` environments with a robot each, `substeps` physics steps per control step, on
    `threads` threads, all cores by default. A `model` of the robot may stand in for that of `simulation_model`."""

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        substeps: int,
        threads: int | None = None,
        randomization: Randomization | None = None,
        model: mujoco.MjModel | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.substeps = substeps
        self.model = simulation_model(robot, substeps) if model is None else model
        self.models: Sequence[mujoco.MjModel] = (
            [self.model] if randomization is None else randomized_models(self.model, robot, randomization)
        )
        threads = threads or os.cpu_count() or 1
        self._threads = Rollout(nthread=threads if threads > 1 else 0)
        self._scratch = [mujoco.MjData(self.model) for _ in range(threads)]
        self._kinematics = Kinematics(robot, threads)
        nq, nv = self.model.nq, self.model.nv
        size = mujoco.mj_stateSize(self.model, PHYSICS)
        self._now = np.zeros((num_envs, size))
        self._path = np.zeros((num_envs, substeps, size))
        self._sensed = np.zeros((num_envs, substeps, self.model.nsensordata))
        self._control = np.zeros((num_envs, substeps, self.model.nu))
        self._diverged = np.zeros(num_envs, dtype=bool)
        self.qpos, self.qvel = self._now[:, 1 : 1 + nq], self._now[:, 1 + nq : 1 + nq + nv]
        self._now[:, 0] = START
        self.qpos[:, 3] = 1.0

    def reset(self, rows: Array, state: State) -> None:
        self._now[rows, 0] = START
        self.qpos[rows] = np.concatenate([state.root_pos, state.root_quat, state.joint_pos], axis=1)
        self.qvel[rows] = np.concatenate([state.root_linvel, state.root_angvel, state.joint_vel], axis=1)
        self._diverged[rows] = False

    def restore(self, qpos: Array, qvel: Array) -> None:
        self._now[:, 0] = START
        self.qpos[:], self.qvel[:] = qpos, qvel
        self._diverged[:] = False

    def step(self, target: Array) -> None:
        with unreported():
            self.bare(self._now, target)
        last = self._path[:, -1]
        # MuJoCo stops an environment that it warns of, and resets one that diverges, with its clock, to zero.
        stood = last[:, 0] < self._now[:, 0] + (self.substeps - 0.5) * self.model.opt.timestep
        self._diverged = stood | ~np.isfinite(last).all(axis=1) | ~np.isfinite(target).all(axis=1)
        np.copyto(self._now, last, where=~self._diverged[:, None])

    def bare(self, start: Array, target: Array) -> None:
        """Advance the physics alone: from full states `start` (E, ...) one control step into the simulator's path."""
        self._control[:] = target[:, None]
        self._threads.rollout(
            self.models,
            self._scratch,
            start,
            self._control,
            nstep=self.substeps,
            state=self._path,
            sensordata=self._sensed,
        )

    def push(self, linear: Array, angular: Array) -> None:
        self.qvel[:, :3] += linear
        self.qvel[:, 3:6] += angular

    def state(self, rows: Array | None = None) -> State:
        qpos, qvel = (self.qpos, self.qvel) if rows is None else (self.qpos[rows], self.qvel[rows])
        quat = qpos[:, 3:7] / np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
        return self._kinematics.state(qpos[:, :3], quat, qvel[:, :3], qvel[:, 3:6], qpos[:, 7:], qvel[:, 6:])

    def touching(self) -> Array:
        force = self._sensed[:, -1].reshape(self.num_envs, -1, 3)
        x, y, z = force[..., 0], force[..., 1], force[..., 2]  # because a sum over an axis as short as this one is slow
        return np.sqrt(x * x + y * y + z * z).astype(np.float32)

    def diverged(self) -> Array:
        return self._diverged

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()
        self._kinematics.close()


@contextmanager
def unreported() -> Iterator[None]:
    """Silence MuJoCo's warnings, which it prints and writes to a file in the working directory; `diverged` reports them
    here."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
