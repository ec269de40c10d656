"""Receding-horizon iLQR: plan a window ahead, do the first few steps of the plan, plan again.

In a window of H steps the plan x_t, u_t is simulated, made linear, and improved by one step of Gauss and Newton:

    min over dx, du of  sum_t (x + dx)' Q (x + dx) + r |u + du|^2  +  (x_H + dx_H)' P (x_H + dx_H),
    dx_(t+1) = A_t dx_t + B_t du_t

by elimination backwards in time (`lqr.eliminate`); P at the window's end is the regulator's about the reference. The
new plan is simulated under the feedback that comes with it, by a whole step or by parts of it, and taken if it costs
less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phuma.control.dynamics import Step
from phuma.control.guide import Guide
from phuma.control.lqr import eliminate
from phuma.core.rotations import Array
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.coordinates import tangent

STEP_SIZES = (1.0, 0.5, 0.2, 0.05)
NEAR, NEAR_VELOCITY = 0.01, 0.1
"""How far a planned state may have moved for its derivatives to be used again, if the same constraints hold"""
LOST, LOST_ROTATION, LOST_ANYHOW = 0.5, 1.2, 1e3
"""Distance (m) and angle (rad) of the root from its reference at which it is given up, and the size of anything else"""


@dataclass(frozen=True)
class Horizon:
    """Settings of a pass over a motion."""

    window: int
    """Steps H that are planned ahead"""
    committed: int
    """Steps that are done before the next plan"""
    iterations: int = 3
    """Most iterations in a window"""
    enough: float = 0.1
    """Share of the cost below which a gain ends the iterations"""


class Plan(NamedTuple):
    """A simulated window."""

    cost: float
    deviations: list[Array]
    """(H + 1) x"""
    offsets: list[Array]
    """(H) u, offsets of the targets from the base"""
    steps: list[Step]


class Feedback(NamedTuple):
    """What to do in a step of the plan, also when it is reached elsewhere:  u + K (x - x_plan)."""

    offset: Array
    deviation: Array
    gain: Array

    def __call__(self, x: Array) -> Array:
        return self.offset + self.gain @ (x - self.deviation)


class Done(NamedTuple):
    """What was performed: the targets, and the states from the first on, one more than targets."""

    targets: list[Array]
    states: list[State]


def follow_regulator(guide: Guide, done: Done) -> Done:
    """Go on after what is done with the reference's regulator alone, to the end or until it is lost."""
    done = Done([*done.targets], [*done.states])
    for t in range(len(done.targets), guide.length - 1):
        x = tangent(done.states[-1], guide.state(t))
        step = guide.dynamics.step(done.states[-1], guide.base[t + 1] + guide.gain(t) @ x)
        if step is None or is_lost(step.after, guide.state(t + 1)):
            break
        done.targets.append(step.target)
        done.states.append(step.after)
    return done


def follow_plans(
    guide: Guide, done: Done, horizon: Horizon, until: Callable[[int, State], bool] = lambda t, state: False
) -> Done:
    """Go on after what is done by plans, to the end, until it is lost, or until a state at a frame is good enough."""
    return _Receding(guide, horizon, done).run(until)


def is_lost(state: State, reference: State) -> bool:
    """Return whether a state is so far from its reference that there is no way back."""
    x = tangent(state, reference)
    far = np.linalg.norm(x[:3]) > LOST or np.linalg.norm(x[3:6]) > LOST_ROTATION
    return bool(far or np.abs(x).max() > LOST_ANYHOW)


class _Receding:
    """One pass over a motion."""

    def __init__(self, guide: Guide, horizon: Horizon, done: Done) -> None:
        self.guide, self.horizon = guide, horizon
        self.done = Done([*done.targets], [*done.states])
        self.now, self.state = len(done.targets), done.states[-1]
        self.planned: dict[int, Feedback] = {}
        self.known: dict[int, tuple[Array, tuple[bytes, ...], tuple[Array, Array]]] = {}
        """By step: deviation and active constraints at which its derivatives were made, and these"""

    def run(self, until: Callable[[int, State], bool]) -> Done:
        done = self.done
        while self.now < self.guide.length - 1 and not until(self.now, self.state):
            plan = self._simulate(self._planned)
            if plan is None:
                break
            plan = self._improved(plan)
            for step in plan.steps[: self.horizon.committed]:
                self.now += 1
                if is_lost(step.after, self.guide.state(self.now)):
                    return done
                done.targets.append(step.target)
                done.states.append(step.after)
            self.state = done.states[-1]
            self.planned = {t: what for t, what in self.planned.items() if t >= self.now}
            self.known = {t: what for t, what in self.known.items() if t >= self.now}
        return done

    def _planned(self, t: int, x: Array) -> Array:
        """Return the offset at frame t: what was planned before, beyond that the regulator's."""
        return self.planned[t](x) if t in self.planned else self.guide.gain(t) @ x

    def _simulate(self, offset: Callable[[int, Array], Array]) -> Plan | None:
        """Return the window under a control law; None if the simulation diverges."""
        guide, state = self.guide, self.state
        end = min(self.now + self.horizon.window, guide.length - 1)
        plan, cost = Plan(0.0, [], [], []), 0.0
        for t in range(self.now, end):
            x = tangent(state, guide.state(t))
            u = offset(t, x)
            cost += float(x @ guide.cost(t) @ x + guide.cfg.offset * u @ u)
            step = guide.dynamics.step(state, guide.base[t + 1] + u)
            if step is None:
                return None
            plan.deviations.append(x)
            plan.offsets.append(u)
            plan.steps.append(step)
            state = step.after
        x = tangent(state, guide.state(end))
        plan.deviations.append(x)
        return plan._replace(cost=cost + float(x @ guide.value(end) @ x))

    def _improved(self, plan: Plan) -> Plan:
        gains = None
        for _ in range(self.horizon.iterations):
            try:
                changes, new_gains = self._backwards(plan)
            except np.linalg.LinAlgError:
                break
            better = self._searched(plan, changes, new_gains)
            if better is None:
                break
            gain, plan, gains = 1 - better.cost / plan.cost, better, new_gains
            if gain < self.horizon.enough:
                break
        for k, (u, x) in enumerate(zip(plan.offsets, plan.deviations)):
            t = self.now + k
            self.planned[t] = Feedback(u, x, self._gain(t) if gains is None else gains[k])
        return plan

    def _gain(self, t: int) -> Array:
        return self.planned[t].gain if t in self.planned else self.guide.gain(t)

    def _searched(self, plan: Plan, changes: list[Array], gains: list[Array]) -> Plan | None:
        """Return the first plan along the step that costs less, if there is one."""
        first = self.now
        for size in STEP_SIZES:

            def offset(t: int, x: Array, size: float = size) -> Array:
                k = t - first
                return plan.offsets[k] + size * changes[k] + gains[k] @ (x - plan.deviations[k])

            new = self._simulate(offset)
            if new is not None and new.cost < plan.cost:
                return new
        return None

    def _backwards(self, plan: Plan) -> tuple[list[Array], list[Array]]:
        """Return the changes of the controls and the feedback, by elimination from the window's end."""
        guide, linear = self.guide, self._linear(plan)
        value = guide.value(self.now + len(plan.steps))
        slope = value @ plan.deviations[-1]
        changes, gains = [], []
        for k in range(len(plan.steps) - 1, -1, -1):
            (a, b), cost, weight = linear[k], guide.cost(self.now + k), guide.cfg.offset
            pull, push = cost @ plan.deviations[k], weight * plan.offsets[k]
            found = eliminate(a, b, cost, pull, weight, push, value, slope)
            value, slope = found.value, found.slope
            changes.append(found.change)
            gains.append(found.gain)
        return changes[::-1], gains[::-1]

    def _linear(self, plan: Plan) -> list[tuple[Array, Array]]:
        """Return the derivatives along a plan, made anew where it moved."""
        moved = [k for k, step in enumerate(plan.steps) if not self._is_known(self.now + k, plan.deviations[k], step)]
        for k, pair in zip(moved, self.guide.dynamics.linearise([plan.steps[k] for k in moved])):
            self.known[self.now + k] = plan.deviations[k], plan.steps[k].active, pair
        return [self.known[self.now + k][2] for k in range(len(plan.steps))]

    def _is_known(self, t: int, x: Array, step: Step) -> bool:
        if t not in self.known or self.known[t][1] != step.active:
            return False
        moved, nv = np.abs(x - self.known[t][0]), len(x) // 2
        return bool(moved[:nv].max() < NEAR and moved[nv:].max() < NEAR_VELOCITY)
