"""The dynamics pass: after PhySINK, the whole clip again with a term for the forces that it asks for.

    L_PhySINK + w sum_t phi(y_t)

y_t is the wrench that frame t needs (`wrench.py`), phi its distance from what the standing soles can give
(`wrench_distance.py`); without a sole on the ground that is nothing, so flight is ballistic by the same term. A wrench
couples three frames: all unknowns are solved at once, in a band of three frames' width.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.retargeting import metrics
from phuma.retargeting.block import whole_block
from phuma.retargeting.costs import KEYPOINTS, joint_speed
from phuma.retargeting.normal import hold, move_held
from phuma.retargeting.objective import TERMS, Weights
from phuma.retargeting.solver import Problem
from phuma.retargeting.support import support_of
from phuma.retargeting.wrench import add_wrench_term, empty_wrenches
from phuma.robots.kinematics import points_on_bodies
from phuma.robots.masses import masses_of
from phuma.robots.robot import Robot

FIRST_TRUST = 0.1
DAMPING, LEAST_DAMPING = 1e-2, 1e-3  # of PhySINK's diagonal: that of the forces is large wherever they matter
EASE, BRAKE = 4.0, 8.0
MOST_ROUNDS = 4
"""Solutions for one step, each with those joints held on their limits that the one before would have moved beyond"""
FIDELITY_LOST = 1.0
"""Points of fidelity that forces may cost"""
LEAST_FRAMES = 3  # fewer have no acceleration
SPEED = next(k for k, term in enumerate(TERMS) if term.function is joint_speed)
JOINT = TERMS[SPEED].kind.cases.index("joint")


class Force(NamedTuple):
    """A stage of the pass: how much forces count, and how sharply."""

    weight: float
    barrier: float
    """mu of `wrench_distance.py`"""
    steps: int
    """At most"""
    tolerance: float = 0.1
    """The stage ends when a step lowers the cost by less"""


STAGES = (Force(100.0, 1e-4, 16), Force(1000.0, 1e-5, 12))
"""First the whole clip gives way a little, then forces count"""


@dataclass(eq=False, kw_only=True)
class DynamicsProblem(Problem):
    """A clip to solve with the forces that it asks for; all unknowns at once."""

    robot: Robot
    fps: float

    def begin(self, x: Array) -> None:
        """Begin at x (T, V)."""
        self.take(whole_block(self.robot), x, reach=3)
        self._masses = masses_of(self.robot)
        self._trust = np.full(len(x), FIRST_TRUST)
        self._now, self._before = empty_wrenches(len(x)), empty_wrenches(len(x))

    def bear(self) -> None:
        """Let soles give what they can where they are now, in the pose that was evaluated last."""
        self._support = support_of(self.robot, self._masses, self._posed, self.target.stance, self.fps)

    def fidelity(self) -> float:
        """Percent of frames that follow the target, of the pose that was evaluated last."""
        place = points_on_bodies(self.points, self._posed.body_pos, self._posed.body_rot)[:, :KEYPOINTS]
        along = place[:, self.target.links[:, 1]] - place[:, self.target.links[:, 0]]
        along /= np.linalg.norm(along, axis=-1, keepdims=True)
        own = [k for k, name in enumerate(self.robot.keypoints) if name != "pelvis"]
        positions = metrics.position_errors(place, self.target.keypoints)[:, own]
        return metrics.fidelity(positions, metrics.direction_errors(along, self.target.directions)) or 0.0

    def settle(self, x: Array, w: Weights, force: Force) -> tuple[Array, int]:
        """x (T, V) after a stage, and the steps that it took.

        PhySINK's terms and the forces are each kept in check by a damping of their own, which rises where that part of
        the cost was foretold too low.
        """
        damping = DAMPING
        kinematic, dynamic = self._evaluate(x, w, force, judge=False)
        for steps in range(1, force.steps + 1):
            step = self.step(x, damping)
            trial = None if step is None else self.moved(x, step)
            trust = self._trust.copy()
            self._now, self._before = self._before, self._now
            new_kinematic, new_dynamic = (
                (np.inf, np.inf) if trial is None else self._evaluate(trial, w, force, judge=True)
            )
            gain = kinematic + dynamic - new_kinematic - new_dynamic
            if trial is not None and gain >= 0:
                x, kinematic, dynamic = trial, new_kinematic, new_dynamic
                damping = max(damping / EASE, LEAST_DAMPING)
                if gain < force.tolerance:
                    return x, steps
            else:
                if new_kinematic - kinematic >= new_dynamic - dynamic:
                    damping *= BRAKE
                self._now, self._before = self._before, self._now
                self._trust = np.maximum(trust, self._trust)
                kinematic, dynamic = self._evaluate(x, w, force, judge=False)
        return x, force.steps

    def _evaluate(self, x: Array, w: Weights, force: Force, judge: bool) -> tuple[float, float]:
        """Cost of PhySINK's terms and of the forces at x (T, V); leaves matrix and gradient behind for one step."""
        kinematic = self.evaluate(x, w)
        self._diagonal = self._band[:, 0].copy()
        self._slowed = np.zeros((len(x) - 1, len(self._block.unknowns)), dtype=bool)
        self._speed_weight = float(w.weight[SPEED, JOINT])
        robot = self.tree, self._masses, self._block, self._posed, self._support
        seen = self._before, judge, self._now, self._trust
        dynamic = add_wrench_term(*robot, x, self.fps, force.weight, force.barrier, *seen, self._gradient, self._band)
        return kinematic, float(dynamic)

    def step(self, x: Array, damping: float) -> Array | None:
        """(T, F) the damped step at the x that was evaluated last; None where the matrix is not definite.

        Joints that would leave their range are held on its end, those that would become too fast are slowed down, and
        the rest is solved anew: a millimetre in one frame is a tenth of the body's weight, so a step that is merely cut
        there asks for forces that nothing foretold.
        """
        from scipy.linalg.lapack import dpbtrf, dpbtrs  # takes a while to load: not for `--help`

        own, shape = self._block.unknowns, (len(x), len(self._block.unknowns))
        self._band[:, 0] += damping * self._diagonal + 1e-9
        held, shift = self._frozen(x, self._gradient.reshape(shape)), np.zeros(shape)
        to_lower, to_upper = self.lower[own] - x[:, own], self.upper[own] - x[:, own]
        for _ in range(MOST_ROUNDS):
            band, gradient, fixed = self._band.copy(), self._gradient.copy(), np.flatnonzero(held)
            move_held(band, gradient, fixed, shift.ravel())
            hold(band, gradient, fixed)
            factor, info = dpbtrf(band.T, lower=1, overwrite_ab=1)
            if info != 0:
                return None
            d = dpbtrs(factor, -gradient, lower=1)[0].reshape(shape)
            if not np.isfinite(d).all():
                return None
            d[held] = shift[held]
            below, above = (d < to_lower) & ~held, (d > to_upper) & ~held
            faster = self._slow_down(x[:, own], d)
            if not (below.any() or above.any() or faster):
                break
            shift = np.where(below, to_lower, np.where(above, to_upper, shift))
            held |= below | above
        return d

    def _slow_down(self, q: Array, d: Array) -> bool:
        """Whether the step d (T, F) takes joints from q beyond their greatest speed that kept it so far: the term of
        their speed, which is flat up to there, is added to matrix and gradient."""
        size, limit = q.shape[1], self.max_step[self._block.unknowns]
        step, then = np.diff(q, axis=0), np.diff(q + d, axis=0)
        t, c = np.nonzero((np.abs(then) > limit) & (np.abs(step) <= limit) & ~self._slowed)
        here, weight = t * size + c, self._speed_weight / limit[c]
        pull = weight * (step[t, c] - np.sign(then[t, c]) * limit[c])
        self._gradient[here] -= pull
        self._gradient[here + size] += pull
        self._band[here, 0] += weight
        self._band[here + size, 0] += weight
        self._band[here, size] -= weight
        self._slowed[t, c] = True
        return len(t) > 0


class Refined(NamedTuple):
    """What the pass found."""

    x: Array
    """(T, V)"""
    steps: int
    weakened: bool
    """Whether forces count less than they should, since more would have cost too much fidelity"""


def refine(clip: Problem, robot: Robot, fps: float, x: Array, w: Weights) -> Refined:
    """Return PhySINK's solution x (T, V) with forces that the ground can give, as far as that costs little fidelity."""
    if len(x) < LEAST_FRAMES:
        return Refined(x, 0, False)
    problem = DynamicsProblem(*(getattr(clip, f.name) for f in fields(Problem)), robot=robot, fps=fps)
    problem.begin(x)
    best, total = x, 0
    enough = problem.fidelity() - FIDELITY_LOST
    for force in STAGES:
        problem.bear()  # soles that were near the ground may have risen in the stage before
        found, steps = problem.settle(best, w, force)
        total += steps
        problem.evaluate(found, w)
        if problem.fidelity() < enough:
            return Refined(best, total, True)
        best = found
    return Refined(best, total, False)
