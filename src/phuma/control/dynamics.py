"""The simulation as a function of one control step, and its derivatives.

    x' = f(x, u),   A = df/dx,   B = df/du

x are positions and velocities, as differences in the 2V coordinates of `tangent`; u are the joints' targets. A control
step is S physics steps. MuJoCo's differences of one physics step give its A_s, B_s; as long as the same contacts hold,
one of them stands for all:  A = A_s^S,  B = (I + A_s + ... + A_s^(S-1)) B_s. Where a contact begins, ends or starts to
slide within the control step, it is the product over those parts in which nothing changes: one A_s for the whole step
errs there by up to three quarters.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import NamedTuple

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.model import simulation_model
from phuma.sim.mujoco_cpu import START

SUBSTEPS = 4
"""Physics steps per control step, 5 ms each: as policies are judged"""
DIFFERENCES, LARGE = (1e-7, 1e-8), 200.0
"""Steps of the differences, the second where the first gives derivatives that are so large: it crossed a contact"""
WITH_WARMSTART = mujoco.mjtState.mjSTATE_PHYSICS | mujoco.mjtState.mjSTATE_WARMSTART


class Step(NamedTuple):
    """One control step."""

    target: Array
    """(N,) rad, what the joints' controllers aimed at"""
    after: State
    inner: Array
    """(S, ...) MuJoCo's state before each physics step"""
    active: tuple[bytes, ...]
    """(S,) which constraints held in each physics step, and how"""


class Dynamics:
    """The dynamics of a robot on a floor, on `threads` threads where steps do not depend on each other.

    As in the project's simulation each control step starts with no memory of forces, and targets are in single
    precision: what is found here happens there to the last bit.
    """

    def __init__(self, robot: Robot, threads: int = 1) -> None:
        self.robot, self.model = robot, simulation_model(robot, SUBSTEPS)
        self._data = [mujoco.MjData(self.model) for _ in range(threads)]
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None

    def step(self, state: State, target: Array) -> Step | None:
        """Advance by one control step; None if the simulation diverges."""
        model, data = self.model, self._data[0]
        target = target.astype(np.float32).astype(float)
        data.qpos, data.qvel, data.ctrl = state.qpos, state.qvel, target
        data.qacc_warmstart, data.time = 0.0, START
        inner = np.empty((SUBSTEPS, mujoco.mj_stateSize(model, WITH_WARMSTART)))
        active = []
        for k in range(SUBSTEPS):
            mujoco.mj_getState(model, data, inner[k], WITH_WARMSTART)
            mujoco.mj_step(model, data)
            active.append(data.efc_state.tobytes())
        went_on = (
            data.time > START + (SUBSTEPS - 0.5) * model.opt.timestep
        )  # MuJoCo resets what diverges, and the clock
        if not (went_on and np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()):
            return None
        return Step(target, State(data.qpos.copy(), data.qvel.copy()), inner, tuple(active))

    def linearise(self, steps: Sequence[Step]) -> list[tuple[Array, Array]]:
        """Return A (2V, 2V) and B (2V, N) of each step."""
        if self._threads is None:
            return [self._linearised(step, self._data[0]) for step in steps]
        count = len(self._data)
        parts = [self._threads.submit(self._every, steps[k::count], self._data[k]) for k in range(count)]
        out: list[tuple[Array, Array]] = [(np.empty(0), np.empty(0))] * len(steps)
        for k, part in enumerate(parts):
            out[k::count] = part.result()
        return out

    def _every(self, steps: Sequence[Step], data: mujoco.MjData) -> list[tuple[Array, Array]]:
        return [self._linearised(step, data) for step in steps]

    def _linearised(self, step: Step, data: mujoco.MjData) -> tuple[Array, Array]:
        size, controls = 2 * self.model.nv, self.model.nu
        a, b = np.empty((size, size)), np.empty((size, controls))
        whole: Array | None = None
        for _, part in groupby(range(SUBSTEPS), key=lambda k: step.active[k]):
            same = list(part)
            mujoco.mj_setState(self.model, data, step.inner[same[len(same) // 2]], WITH_WARMSTART)
            data.ctrl = step.target
            for difference in DIFFERENCES:
                mujoco.mjd_transitionFD(self.model, data, difference, 0, a, b, None, None)
                if np.abs(a).max() < LARGE:
                    break
            for _ in same:
                if whole is None:
                    whole = np.concatenate([a, b], axis=1)
                else:
                    whole = a @ whole
                    whole[:, size:] += b
        assert whole is not None
        return whole[:, :size], whole[:, size:]
