"""What an expert goes by: the reference with its base, what deviations cost, and the regulator about it.

A regulator looks back from the end of the motion. In a long motion it is made for a block at a time, looking back from
a second after the block, so that memory does not grow with the motion.
"""

from __future__ import annotations

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
        base = between(feedforward_base(dynamics.robot, path, rates))
        self.states = State(path.qpos, rates.velocity)
        self.base = base
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

    def _sunk(self, t: int) -> State:
        """Return the state of frame t with the soles so deep that they bear."""
        qpos = self.states.qpos[t].copy()
        qpos[2] -= SUNK
        return State(qpos, self.states.qvel[t])

    def _block(self, number: int) -> tuple[Regulator, Array]:
        if number not in self._blocks:
            self._blocks = {k: block for k, block in self._blocks.items() if k == number - 1}
            self._blocks[number] = self._regulator(number * BLOCK)
        return self._blocks[number]

    def _regulator(self, first: int) -> tuple[Regulator, Array]:
        """Return the regulator of the block that begins at a frame, and the costs of its frames."""
        last = min(first + BLOCK + BEYOND, self.length - 1)
        costs = deviation_costs(self.cfg, self.dynamics.model, self.dynamics.robot, self.states.qpos[first : last + 1])
        steps = [self.dynamics.step(self._sunk(t), self.base[t + 1]) for t in range(first, last)]
        linear = self.dynamics.linearise([step for step in steps if step is not None])
        if len(linear) < len(steps):
            raise FloatingPointError("the simulation diverges on the reference itself")
        found = regulate(linear, costs[:-1], self.cfg.offset, self.cfg.end * costs[-1])
        kept = min(BLOCK, last - first)
        return Regulator(found.gains[:kept].copy(), found.values[: kept + 1].copy()), costs[: kept + 1].copy()
