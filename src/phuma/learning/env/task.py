"""A task: what environments observe, what is rewarded and when an episode is terminated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from phuma.core.tensors import Tensor
from phuma.learning.env.context import Context
from phuma.learning.env.observation import ObservationGroup
from phuma.sim.randomization import RandomizationCfg

Termination = Callable[[Context], Tensor]
"""Function to (E,) bool: whether an episode has failed."""


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
    estimated: tuple[ObservationGroup, ...] = ()
    """Groups that no sensor reads and that the policy's network estimates from what it observed in the past."""

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
        return replace(self, critic=(), estimated=(), teacher=(), rewards=())
