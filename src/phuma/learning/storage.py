"""What robots saw and did between two updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from phuma.learning.task import Observation


class Batch(NamedTuple):
    """B samples."""

    observation: Observation
    action: Tensor
    mean: Tensor
    """(B, N) of the policy that acted"""
    log_std: Tensor
    """(N,) of the policy that acted"""
    log_likelihood: Tensor
    value: Tensor
    advantage: Tensor
    """(B,) with mean 0 and deviation 1 over all samples"""
    target: Tensor
    """(B,) returns"""


class Storage:
    """T control steps of E robots."""

    def __init__(self, steps: int, observation: Observation, joints: int) -> None:
        count, device = len(observation["goal"]), observation["goal"].device
        self.observation = {
            k: torch.empty((steps, *v.shape), dtype=v.dtype, device=device) for k, v in observation.items()
        }
        self.action, self.mean = (torch.empty(steps, count, joints, device=device) for _ in range(2))
        self.log_likelihood, self.value, self.reward, self.done, self.advantage, self.target = (
            torch.empty(steps, count, device=device) for _ in range(6)
        )
        self.log_std = torch.empty(joints, device=device)
        self.filled = 0

    def begin(self, log_std: Tensor) -> None:
        """Anew, with a policy of this spread."""
        self.filled, self.log_std = 0, log_std.detach().clone()

    def add(
        self,
        observation: Observation,
        action: Tensor,
        mean: Tensor,
        log_likelihood: Tensor,
        reward: Tensor,
        done: Tensor,
    ) -> None:
        """One control step of all. The reward of an attempt that was cut short holds gamma V of what it saw last."""
        t = self.filled
        for name, group in observation.items():
            self.observation[name][t] = group
        self.action[t], self.mean[t], self.log_likelihood[t] = action, mean, log_likelihood
        self.reward[t], self.done[t] = reward, done
        self.filled += 1

    def flat(self) -> Observation:
        """(T E, ...) all that was seen."""
        return {name: group.flatten(0, 1) for name, group in self.observation.items()}

    def batches(self, epochs: int, minibatches: int, generator: torch.Generator) -> Iterator[Batch]:
        """All samples in another order each epoch."""
        flat = self.flat()
        action, mean, log_likelihood, value, advantage, target = (
            x.flatten(0, 1)
            for x in (self.action, self.mean, self.log_likelihood, self.value, self.advantage, self.target)
        )
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(epochs):
            order = torch.randperm(len(action), generator=generator).to(action.device)
            for rows in order.chunk(minibatches):
                yield Batch(
                    {name: group[rows] for name, group in flat.items()},
                    action[rows], mean[rows], self.log_std, log_likelihood[rows],
                    value[rows], advantage[rows], target[rows],
                )  # fmt: skip
