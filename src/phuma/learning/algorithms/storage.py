"""Storage of what environments observed and did between two updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from phuma.learning.env.observation import Observation


class Batch(NamedTuple):
    """A batch of B samples."""

    observation: Observation
    fields: dict[str, Tensor]
    """(B, ...) arrays by the names of the storage's fields."""


class Storage:
    """T control steps of E environments: observations, and named fields of any shape such as actions, a teacher's
    labels, masks or latents."""

    def __init__(self, steps: int, observation: Observation, fields: Mapping[str, tuple[int, ...]]) -> None:
        example = next(iter(observation.values()))
        count, device = len(example), example.device
        self.observation = {
            k: torch.empty((steps, *v.shape), dtype=v.dtype, device=device) for k, v in observation.items()
        }
        self.fields = {name: torch.empty(steps, count, *shape, device=device) for name, shape in fields.items()}
        self.filled = 0

    def __getitem__(self, name: str) -> Tensor:
        """Return (T, E, ...) the values of a field."""
        return self.fields[name]

    def begin(self) -> None:
        """Forget all control steps."""
        self.filled = 0

    def add(self, observation: Observation, **fields: Tensor) -> None:
        """Add one control step of all environments; fields that are not given are filled in later."""
        for name, group in observation.items():
            self.observation[name][self.filled] = group
        for name, value in fields.items():
            self.fields[name][self.filled] = value
        self.filled += 1

    def flat(self) -> Observation:
        """Return (T E, ...) all observations."""
        return {name: group.flatten(0, 1) for name, group in self.observation.items()}

    def batches(self, epochs: int, minibatches: int, generator: torch.Generator) -> Iterator[Batch]:
        """Yield batches of all samples, in another order in each epoch."""
        observation = self.flat()
        fields = {name: values.flatten(0, 1) for name, values in self.fields.items()}
        samples = len(next(iter(observation.values())))
        device = next(iter(observation.values())).device
        for _ in range(epochs):
            order = torch.randperm(samples, generator=generator).to(device)
            for rows in order.chunk(minibatches):
                yield Batch(
                    {name: group[rows] for name, group in observation.items()},
                    {name: values[rows] for name, values in fields.items()},
                )
