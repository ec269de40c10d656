"""What an expert goes by: the reference with its base, what deviations cost, and the regulator about it.

A regulator looks back from the end of the motion. In a long motion it is made for a block at a time, looking back from
a second after the block, so that memory does not grow with the motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phuma.control.cost import CostCfg, deviation_costs
from phuma.control.dynamics import Dynamics
from phuma.control.lqr import Regulator, regulate
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.feedforward import between, feedforward_base

SUNK = 0.0005
"""How far soles sink in under the robot, m: where a reference has its soles, contacts just begin and bear nothing"""
BLOCK, BEYOND = 250, 50
"""Control steps of a block, and those after it from which its regulator looks back"""


class Guide:
    """A reference of T frames for the dynamics of its robot, as experts go by it."""

    def __init__(self, dynamics: Dynamics, motion: Trajectory, cfg: CostCfg | None = None) -> None:
        path, self.cfg = motion.double(), cfg or CostCfg()
        rates = derivatives(path)
        self.dynamics, self.length = dynamics, len(path)
        self.states = State(path.qpos, rates.velocity)
        self._sunk = State(path.qpos - SUNK * (np.arange(path.qpos.shape[1]) == 2), rates.velocity)
        self.base = between(feedforward_base(dynamics.robot, path, rates))
        """(T, N) rad, what the joints' controllers aim at on the way to a frame if nothing deviates"""
        self._blocks: dict[int, tuple[Regulator, Array]] = {}

    def state(self, t: int) -> State:
        """Return the state of frame t."""
        return State(self.states.qpos[t], self.states.qvel[t])

    def start(self) -> State:
        """Return the first state, in the single precision that simulations are started with."""
        return State(*(v.astype(np.float32).astype(float) for v in self.state(0)))

    def gain(self, t: int) -> Array:
        """Return (N, 2V) the regulator's gain at frame t."""
        return self._block(t // BLOCK)[0].gains[t % BLOCK]

    def value(self, t: int) -> Array:
        """Return (2V, 2V) what deviations at frame t cost from there on, under the regulator."""
        number = min(t, self.length - 2) // BLOCK
        return self._block(number)[0].values[t - number * BLOCK]

    def cost(self, t: int) -> Array:
        """Return (2V, 2V) what deviations at frame t cost."""
        number = min(t, self.length - 2) // BLOCK
        return self._block(number)[1][t - number * BLOCK]

    def _block(self, number: int) -> tuple[Regulator, Array]:
        if number not in self._blocks:
            self._blocks = {k: block for k, block in self._blocks.items() if k == number - 1}
            first = number * BLOCK
            (self._blocks[number],) = regulated_block(self.dynamics, self._sunk, self.base[1:], [self.cfg], first)
        return self._blocks[number]


def regulated_block(
    dynamics: Dynamics, states: State, targets: Array, cfgs: Sequence[CostCfg], first: int, end: Array | None = None
) -> list[tuple[Regulator, Array]]:
    """Return the regulators by each of some costs of the block that begins at a frame, and the costs of its frames.

    The states (T, ...) are those to be linear about, the targets (T - 1, N) lead from each to the next; `end` (2V, 2V)
    is what deviations cost after the last of them, by default the costs' own weight on the end.
    """
    last = min(first + BLOCK + BEYOND, len(targets))
    steps = [dynamics.step(State(states.qpos[t], states.qvel[t]), targets[t]) for t in range(first, last)]
    linear = dynamics.linearise([step for step in steps if step is not None])
    if len(linear) < len(steps):
        raise FloatingPointError("the simulation diverges")
    kept, out = min(BLOCK, last - first), []
    for cfg in cfgs:
        costs = deviation_costs(cfg, dynamics.model, dynamics.robot, states.qpos[first : last + 1])
        after = cfg.end * costs[-1] if end is None or last < len(targets) else end
        found = regulate(linear, costs[:-1], cfg.offset, after)
        regulator = Regulator(found.gains[:kept].copy(), found.values[: kept + 1].copy())
        out.append((regulator, costs[: kept + 1].copy()))
    return out
