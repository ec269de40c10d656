"""A task: what environments observe, what is rewarded and when an episode is terminated."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core.tensors import Tensor
from phuma.learning.env import deviation
from phuma.learning.env.context import Context
from phuma.learning.env.masking import Masking
from phuma.learning.env.observation import ObservationGroup, RobotSizes
from phuma.robots.robot import Robot
from phuma.robots.whole import whole_robot
from phuma.sim.randomization import RandomizationCfg

Termination = Callable[[Context], Tensor]
"""Function to (E,) bool: whether an episode has failed."""


class Gains(NamedTuple):
    """Gains of the controllers of some joints."""

    joint: str
    """Part of the joints' names"""
    stiffness: float
    """N m/rad"""
    damping: float
    """N m s/rad"""


@dataclass(frozen=True)
class RewardTerm:
    """A term of the reward with its weight; a step's reward is the weighted sum times the control step."""

    value: Callable[[Context], Tensor]
    """Function to (E,) a number per environment."""
    weight: float

    @property
    def name(self) -> str:
        return self.value.__name__


@dataclass(frozen=True)
class Task:
    """The task of tracking a motion."""

    actor: tuple[ObservationGroup, ...]
    """Groups that the policy observes."""
    critic: tuple[ObservationGroup, ...] = ()
    """Groups that its critic observes."""
    teacher: tuple[ObservationGroup, ...] = ()
    """Groups that the policy that labels its actions observes, where there is one."""
    rewards: tuple[RewardTerm, ...] = ()
    terminations: tuple[Termination, ...] = ()
    base: str = "feedforward"
    """Name of what an action is added to; one of `motions.feedforward.BASES`."""
    randomization: RandomizationCfg = RandomizationCfg()  # noqa: RUF009 (it is frozen)
    """Ranges of what differs between robots and happens to them, where environments are randomized."""
    strict: tuple[Termination, ...] = ()
    """Terminations of training alone."""
    whole: bool = False
    """Whether the key bodies are all bodies of the robot, head and hands too."""
    gains: tuple[Gains, ...] = ()
    """Gains of the joints' controllers that are others than the robot's."""
    performed: bool = False
    """Whether the reference of a motion is its certified performance, where it has one; always so with that base."""
    reach: float = 0.0
    """How far off, in m, the place on the floor counts for experts that label: for policies that see where they are."""
    masking: Masking | None = None
    """What a masked policy is told of the coming motion."""
    lawful: bool = False
    """Whether an action says how far the robot is from a motion's certified performance, whose own law then says what
    to aim at: see `env.deviation`."""
    estimated: tuple[ObservationGroup, ...] = ()
    """Groups that no sensor reads and that the policy's network estimates from what it observed in the past."""

    def tracked(self, robot: Robot) -> Robot:
        """Return the robot as this task knows it: with its key bodies and gains."""
        return robot_of(robot, self.whole, self.gains)

    def actions(self, robot: RobotSizes) -> int:
        """Return how many numbers an action has."""
        return deviation.size(robot.n_joints) if self.lawful else robot.n_joints

    @property
    def groups(self) -> tuple[ObservationGroup, ...]:
        """Return all groups, each once."""
        return tuple(
            {group.name: group for group in (*self.actor, *self.critic, *self.estimated, *self.teacher)}.values()
        )

    @property
    def coming(self) -> tuple[ObservationGroup, ...]:
        """Return the groups of coming frames of the reference."""
        return tuple(group for group in self.groups if group.coming is not None)

    @property
    def sensed(self) -> tuple[ObservationGroup, ...]:
        """Return the groups that depend on the environments' states."""
        return tuple(group for group in self.groups if group.coming is None)

    @property
    def acting(self) -> Task:
        """Return the task of a policy that does not learn: nothing is rewarded, and the actor alone observes."""
        masking = self.masking and replace(self.masking, changing=False)
        return replace(self, critic=(), estimated=(), teacher=(), rewards=(), strict=(), masking=masking)


@lru_cache(maxsize=16)
def robot_of(robot: Robot, whole: bool, gains: tuple[Gains, ...]) -> Robot:
    """Return a robot with all bodies as key bodies, and with other gains of the joints that are named."""
    out = whole_robot(robot) if whole else robot
    if not gains:
        return out
    found = [next((g for g in gains if re.search(g.joint, name)), None) for name in robot.joint_names]
    stiffness = [own if g is None else g.stiffness for own, g in zip(robot.stiffness, found)]
    damping = [own if g is None else g.damping for own, g in zip(robot.damping, found)]
    return replace(out, stiffness=np.array(stiffness), damping=np.array(damping))
