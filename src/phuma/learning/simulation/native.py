"""MuJoCo's own threads on the CPU: `mujoco.rollout`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from phuma.learning.kinematics import Kinematics
from phuma.learning.simulation.model import simulation_model
from phuma.learning.simulation.variation import Variation, varied_models
from phuma.learning.state import State
from phuma.robots.robot import Robot
from phuma.rotations import Array

PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
START = 1.0
"""s, on the clock of a robot that was just put somewhere"""


class NativeSimulation:
    """`robots` copies of a robot, `substeps` physics steps a control step, on `threads` threads, all cores by
    default."""

    def __init__(
        self,
        robot: Robot,
        robots: int,
        substeps: int,
        threads: int | None = None,
        variation: Variation | None = None,
    ) -> None:
        self.robots = robots
        self.substeps = substeps
        self.model = simulation_model(robot, substeps)
        self.models: Sequence[mujoco.MjModel] = (
            [self.model] if variation is None else varied_models(self.model, robot, variation)
        )
        threads = threads or os.cpu_count() or 1
        self._threads = Rollout(nthread=threads if threads > 1 else 0)
        self._scratch = [mujoco.MjData(self.model) for _ in range(threads)]
        self._kinematics = Kinematics(robot)
        nq, nv = self.model.nq, self.model.nv
        size = mujoco.mj_stateSize(self.model, PHYSICS)
        self._now = np.zeros((robots, size))
        self._path = np.zeros((robots, substeps, size))
        self._sensed = np.zeros((robots, substeps, self.model.nsensordata))
        self._control = np.zeros((robots, substeps, self.model.nu))
        self._diverged = np.zeros(robots, dtype=bool)
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
        # MuJoCo stops a robot that it warns of, and sets one whose numbers explode back to where its clock is at zero.
        stood = last[:, 0] < self._now[:, 0] + (self.substeps - 0.5) * self.model.opt.timestep
        self._diverged = stood | ~np.isfinite(last).all(axis=1) | ~np.isfinite(target).all(axis=1)
        self._now[:] = np.where(self._diverged[:, None], self._now, last)

    def bare(self, start: Array, target: Array) -> None:
        """Physics alone: from full states `start` (E, ...) one control step into the simulator's path."""
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
        force = self._sensed[:, -1].reshape(self.robots, -1, 3)
        return np.sqrt((force * force).sum(-1)).astype(np.float32)

    def diverged(self) -> Array:
        return self._diverged

    def close(self) -> None:
        self._threads.close()


@contextmanager
def unreported() -> Iterator[None]:
    """MuJoCo prints its warnings and writes them to a file in the working directory; here `diverged` tells of them."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
