"""What disturbs robots while a policy learns: noise, pushes, first states off the motion, and robots that differ.

Either a recipe's whole table of randomization acts (`randomize`), or what is asked for piece by piece. First states and
pushes may be mild at first and grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.errors import ConfigError
from phuma.robots.robot import Robot
from phuma.sim.events import EventsCfg, milder
from phuma.sim.randomization import DIFFERING, Randomization, RandomizationCfg, draw_randomization

MILDEST = 0.25
"""Share of their size that first states and pushes that grow have at first"""


@dataclass(frozen=True)
class DisturbancesCfg:
    """Settings of what disturbs the robots that a policy learns with."""

    randomize: bool = False
    """Whether robots differ, sensors are noisy, robots are pushed and first states are off the reference, all by the
    recipe's table of randomization; what is said beside it then says nothing more, but for `rise`."""
    start: float = 0.0
    """Factor on the table's ranges of first states."""
    noise: float = 0.0
    """Factor on the noise of what the policy senses."""
    pushes: bool = False
    """Whether robots are pushed by the paper's table."""
    differ: bool = False
    """Whether robots differ in weight, strength, balance, grip and soles."""
    rise: float = 0.0
    """Share of the training over which first states and pushes grow to their size, from a quarter of it; 0 where they
    are as large from the beginning on."""

    def __post_init__(self) -> None:
        if not 0 <= self.rise <= 1:
            raise ConfigError(f"rise is {self.rise}; a share from 0 to 1 is needed")


CALM = DisturbancesCfg()
"""None"""
NEAR = DisturbancesCfg(start=0.2)
"""First states a fifth of the ranges off"""
RANDOMIZED = DisturbancesCfg(randomize=True)
"""All of the recipe's table"""


class Disturbances:
    """What disturbs E robots over a training; `table` is the recipe's."""

    def __init__(
        self,
        cfg: DisturbancesCfg,
        table: RandomizationCfg,
        robot: Robot,
        environments: int,
        rng: np.random.Generator,
    ) -> None:
        self._cfg = cfg
        self.randomization: Randomization | None = None
        if cfg.randomize or cfg.differ:
            own = table if cfg.randomize else DIFFERING
            self.randomization = draw_randomization(rng, environments, robot.n_joints, own, robot.n_bodies)
        self._events = events_of(cfg, table, self.randomization, robot)

    def events(self, progress: float) -> EventsCfg:
        """Return what happens to the robots once a share of the training is over."""
        rise = self._cfg.rise
        return milder(self._events, grown(progress / rise)) if rise else self._events


def grown(share: float) -> float:
    """Return the size of first states and pushes after a share of the time over which they grow, of their full size."""
    return min(1.0, MILDEST + (1 - MILDEST) * share)


def events_of(
    cfg: DisturbancesCfg, table: RandomizationCfg, randomization: Randomization | None, robot: Robot
) -> EventsCfg:
    """Return the table in full where environments are randomized; where they are not, what the settings ask for."""
    if randomization is None or not cfg.randomize:
        facts = None if randomization is None else randomization.facts(robot)
        return EventsCfg(noise=cfg.noise, pushes=cfg.pushes, start=cfg.start, facts=facts)
    return EventsCfg(
        noise=1.0, pushes=True, start=1.0, joint_bias=randomization.joint_bias, delay=randomization.delay,
        torque=table.torque, facts=randomization.facts(robot), push_every=table.push_every,
        push_linear=table.push_linear, push_angular=table.push_angular,
    )  # fmt: skip
