"""The interface of a learning algorithm, as the runner calls it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from phuma.core.rotations import Array
from phuma.learning.algorithms.storage import Storage
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import Actor
from phuma.runtime.distributed import average_gradients


class Outcome(NamedTuple):
    """The outcome of one control step of E environments, as tensors."""

    reward: Tensor
    """(E,) rewards."""
    terminated: Tensor
    """(E,) bool: whether the episode failed; nothing comes after."""
    truncated: Tensor
    """(E,) bool: whether the motion or the time is over; the episode could have gone on."""
    final: Observation | None
    """Observations of the truncated episodes alone at their end, in their order; None if there are none."""

    @property
    def done(self) -> Tensor:
        """Return (E,) bool: whether the episode ended, by failure or by time."""
        return self.terminated | self.truncated


class Algorithm(ABC):
    """An algorithm that improves a policy: `act`, then `record` for each control step, then `update`, and again."""

    net: Actor
    optimizer: torch.optim.Optimizer
    storage: Storage
    progress: float = 0.0
    """Share of the training that is over, for what goes by a schedule"""

    @abstractmethod
    def act(self, observation: Observation) -> Tensor:
        """Return (E, N) actions for a control step of learning."""

    @abstractmethod
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        """Remember what an action led to."""

    @abstractmethod
    def update(self, observation: Observation) -> dict[str, float]:
        """Improve the policy, given what is observed after the last step; return means of what is worth watching."""

    def forget(self) -> None:  # noqa: B027 (most remember nothing)
        """Forget samples of motions that are no longer learned from."""

    def descend(self, loss: Tensor, max_norm: float, *clipped: list[nn.Parameter]) -> None:
        """Make a step of the optimizer along a loss's gradients, the mean over all processes that train together; those
        of each list of parameters are cut at a length of `max_norm`."""
        self.optimizer.zero_grad()
        loss.backward()
        average_gradients(p for group in self.optimizer.param_groups for p in group["params"])
        for parameters in clipped:
            nn.utils.clip_grad_norm_(parameters, max_norm)
        self.optimizer.step()

    @property
    def rate(self) -> float:
        """Return the actor's learning rate."""
        return self.optimizer.param_groups[0]["lr"]

    def snapshot(self) -> dict[str, Array]:
        """Return the algorithm's state beside the network's weights, as arrays by names."""
        tensors: dict[str, Tensor] = {}
        for i, own in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": value for name, value in own.items()}
        return {name: value.cpu().numpy().copy() for name, value in tensors.items()} | {"rate": np.array(self.rate)}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot."""
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in arrays.items():
            if name.startswith("optimizer."):
                _, i, kind = name.split(".")
                state.setdefault(int(i), {})[kind] = torch.from_numpy(value.copy())
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": state})
        self.optimizer.param_groups[0]["lr"] = float(arrays["rate"])


def below(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
