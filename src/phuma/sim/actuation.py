"""What reaches the motors of what was decided: late, and with torques that nobody asked for."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like, namespace
from phuma.robots.robot import Robot
from phuma.sim.events import EventsCfg, within


class Actuation:
    """The way of targets (E, N) rad to the motors of E environments: `delay` control steps late, and off by as much as
    makes a random torque of up to `torque` times the motor's limit."""

    def __init__(self, robot: Robot, cfg: EventsCfg, rng: np.random.Generator) -> None:
        self.delay, self.rng = np.asarray(cfg.delay), rng
        self.shift = cfg.torque * robot.torque_limit / robot.stiffness  # rad: the controller makes the torque of it
        self.waiting: Tensor | None = None
        """(E, D + 1, N) rad, the last targets, the newest last, where some environments are late by up to D"""

    def __call__(self, target: Tensor, fresh: Array) -> Tensor:
        """Return (E, N) rad, what the motors are told when `target` was decided; where `fresh` is true, an episode
        begins, and its first target stands for those that are missing."""
        if self.delay.any():
            target = self._late(target, fresh)
        if self.shift.any():
            target = target + like(target, within(self.rng, tuple(self.shift), tuple(target.shape)))
        return target

    def _late(self, target: Tensor, fresh: Array) -> Tensor:
        xp, most = namespace(target), int(self.delay.max())
        delay = np.broadcast_to(self.delay, len(target))
        own = xp.concatenate([target[:, None]] * (most + 1), 1)
        if self.waiting is not None:
            later = xp.concatenate([self.waiting[:, 1:], target[:, None]], 1)
            own = xp.where(like(target, np.ascontiguousarray(fresh))[:, None, None], own, later)
        self.waiting = own
        return own[like(target, np.arange(len(delay))), like(target, most - delay)]
