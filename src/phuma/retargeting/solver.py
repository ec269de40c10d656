"""Whole-clip Levenberg-Marquardt with a banded Cholesky factorisation over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.retargeting.block import Block
from phuma.retargeting.normal import build, hold, pose
from phuma.retargeting.objective import Weights
from phuma.retargeting.term_data import Targets, empty_posed
from phuma.robots.capsules import Capsules
from phuma.robots.kinematics import Points, Tree

DAMPING = 1e-4  # of the diagonal, while weights change
MIN_DAMPING, MAX_DAMPING = 1e-3, 1e8  # after that
EASE, BRAKE = 3.0, 30.0  # by which damping falls after a good step and rises after a bad one, which costs two


@dataclass(eq=False)
class Problem:
    """A clip to solve, and the block of it that is solved now: what stays the same while weights change."""

    tree: Tree
    points: Points
    capsules: Capsules
    target: Targets
    lower: Array
    """(V,) hard limits; the root has none"""
    upper: Array
    max_step: Array
    """(V,) from frame to frame, beyond which speed is penalised; the root has no limit"""
    rest: Array
    """(V,) default of each unknown"""
    fixed_frames: int = 0
    """The first so many frames are kept as they are"""

    def take(self, block: Block, x: Array, reach: int = 2) -> None:
        """Solve for this block from now on; the others stay as x (T, V) has them.

        Terms couple up to `reach` frames in full; an unknown is always coupled to itself two frames on.
        """
        frames, size = len(x), len(block.unknowns)
        self._block = block
        self._posed = empty_posed(frames, len(self.tree.parents), len(self.max_step) - 6, len(self.capsules.body))
        self._band = np.empty((frames * size, max(reach * size, 2 * size + 1)))
        self._gradient = np.empty(frames * size)
        every = np.arange(len(self.tree.parents)), np.arange(len(self.capsules.body))
        pose(self.tree, every[0], self.capsules, every[1], x, self.target.root_rot, self._posed)

    def evaluate(self, x: Array, w: Weights) -> float:
        """Cost at x (T, V); leaves matrix and gradient behind for one step."""
        cost = build(
            self.tree,
            self.points,
            self.capsules,
            self._block,
            self._posed,
            self.target,
            w,
            x,
            self.max_step,
            self.rest,
            self._band,
            self._gradient,
        )
        return float(cost)

    def step(self, x: Array, damping: float) -> Array | None:
        """(T, F) the damped Gauss-Newton step at the x that was evaluated last; None where the matrix is not definite.

        Uses the matrix up: evaluate again before the next step.
        """
        from scipy.linalg.lapack import dpbtrf, dpbtrs  # takes a while to load: not for `--help`

        shape = len(x), len(self._block.unknowns)
        band, gradient = self._band, self._gradient
        band[:, 0] += damping * band[:, 0] + 1e-9
        hold(band, gradient, np.flatnonzero(self._frozen(x, gradient.reshape(shape))))
        factor, info = dpbtrf(band.T, lower=1, overwrite_ab=1)
        if info != 0:
            return None
        d, _ = dpbtrs(factor, -gradient, lower=1)
        return d.reshape(shape) if np.isfinite(d).all() else None

    def _frozen(self, x: Array, gradient: Array) -> Array:
        """(T, F) what is kept: fixed frames, and joints on a limit while the cost wants them beyond it."""
        own = self._block.unknowns
        q = x[:, own]
        frozen = ((q <= self.lower[own]) & (gradient > 0)) | ((q >= self.upper[own]) & (gradient < 0))
        frozen[: self.fixed_frames] = True
        return frozen

    def moved(self, x: Array, step: Array) -> Array:
        """x with the block moved by step (T, F), kept within limits."""
        out, own = x.copy(), self._block.unknowns
        out[:, own] = np.clip(x[:, own] + step, self.lower[own], self.upper[own])
        return out


@dataclass
class State:
    """Where the solver is."""

    x: Array
    """(T, V)"""
    damping: float = DAMPING
    steps: int = 0


def advance(problem: Problem, state: State, w: Weights) -> None:
    """One step with weights w, taken unseen: while weights still change, the next evaluation judges it anyway."""
    problem.evaluate(state.x, w)
    step = problem.step(state.x, state.damping)
    state.steps += 1
    if step is not None:
        state.x = problem.moved(state.x, step)


def iterate(problem: Problem, state: State, w: Weights, count: int, tolerance: float) -> bool:
    """Up to `count` steps with weights w, each taken only if it lowers the cost.

    Stops when a step lowers it by less than `tolerance` of it; returns whether that happened.
    """
    cost = problem.evaluate(state.x, w)
    for _ in range(count):
        step = problem.step(state.x, state.damping)
        state.steps += 1
        trial = None if step is None else problem.moved(state.x, step)
        trial_cost = np.inf if trial is None else problem.evaluate(trial, w)
        if trial is not None and trial_cost <= cost:
            settled = cost - trial_cost < tolerance * cost
            state.x, cost = trial, trial_cost
            state.damping = max(state.damping / EASE, MIN_DAMPING)
            if settled:
                return True
        else:
            state.damping = min(BRAKE * state.damping, MAX_DAMPING)
            cost = problem.evaluate(state.x, w)
    return False
