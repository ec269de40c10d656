"""Whole-clip Levenberg-Marquardt with a banded Cholesky factorisation over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpbtrf, dpbtrs

from phuma.retargeting.normal import Targets, Weights, build, hold
from phuma.robots.capsules import Capsules
from phuma.robots.kinematics import Points, Tree
from phuma.rotations import Array

DAMPING = 1e-4  # of the diagonal, while weights change
MIN_DAMPING, MAX_DAMPING = 1e-3, 1e8  # after that
EASE, BRAKE = 3.0, 30.0  # by which damping falls after a good step and rises after a bad one, which costs two


@dataclass(eq=False)
class Problem:
    """A clip to solve: what stays the same while weights change."""

    tree: Tree
    points: Points
    capsules: Capsules
    target: Targets
    lower: Array
    """(N,) rad, hard"""
    upper: Array
    max_step: Array
    """(N,) rad from frame to frame, beyond which speed is penalised"""
    rest: Array
    """(V,) default of each unknown"""
    fixed_frames: int = 0
    """The first so many frames are kept as they are"""

    def __post_init__(self) -> None:
        frames, size = len(self.target.turn), 6 + len(self.lower)
        self._band = np.empty((frames * size, 2 * size + 1))
        self._gradient = np.empty(frames * size)

    def evaluate(self, x: Array, w: Weights) -> float:
        """Cost at x (T, V); leaves matrix and gradient behind for one step."""
        cost = build(
            self.tree,
            self.points,
            self.capsules,
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
        """The damped Gauss-Newton step at the x that was evaluated last; None where the matrix is not definite.

        Uses the matrix up: evaluate again before the next step.
        """
        frames, size = x.shape
        band, gradient = self._band, self._gradient
        band[:, 0] += damping * band[:, 0] + 1e-9
        hold(band, gradient, np.flatnonzero(self._frozen(x, gradient.reshape(frames, size))))
        factor, info = dpbtrf(band.T, lower=1, overwrite_ab=1)
        if info != 0:
            return None
        d, _ = dpbtrs(factor, -gradient, lower=1)
        return d.reshape(frames, size) if np.isfinite(d).all() else None

    def _frozen(self, x: Array, gradient: Array) -> Array:
        """(T, V) what is kept: fixed frames, and joints on a limit while the cost wants them beyond it."""
        frozen = np.zeros(x.shape, dtype=bool)
        q, g = x[:, 6:], gradient[:, 6:]
        frozen[:, 6:] = ((q <= self.lower) & (g > 0)) | ((q >= self.upper) & (g < 0))
        frozen[: self.fixed_frames] = True
        return frozen

    def moved(self, x: Array, step: Array) -> Array:
        """x + step, with joints kept within their limits."""
        out = x + step
        np.clip(out[:, 6:], self.lower, self.upper, out=out[:, 6:])
        out[: self.fixed_frames] = x[: self.fixed_frames]
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
