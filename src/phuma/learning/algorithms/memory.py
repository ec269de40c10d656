"""A memory of samples from all of a training, of bounded size."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.learning.algorithms.storage import Batch
from phuma.learning.env.observation import Observation

LARGEST = 6e4
"""Largest number that is kept, near that of half precision"""


class Memory:
    """Samples, as many as there is room for: observations, in half precision, and named fields. Once there is no more
    room, they are drawn from all that were ever added, each with the same chance (Vitter's algorithm R,
    https://doi.org/10.1145/3147.3165)."""

    def __init__(self, room: int, observation: Observation, fields: Mapping[str, tuple[int, ...]]) -> None:
        example = next(iter(observation.values()))
        self.room, self.added, self.device = room, 0, example.device
        self._observation = {name: _space(room, group) for name, group in observation.items()}
        self._fields = {name: torch.empty(room, *shape, device=self.device) for name, shape in fields.items()}

    def __len__(self) -> int:
        return min(self.added, self.room)

    def forget(self) -> None:
        """Forget all samples."""
        self.added = 0

    def add(self, observation: Observation, generator: torch.Generator, **fields: Tensor) -> None:
        """Add a sample per environment, of which those that come after n others stay with a chance of room / (n + 1),
        each in the place of one that was drawn."""
        count = len(next(iter(fields.values())))
        rows, kept = _places(self.added, count, self.room, generator)
        rows, kept = rows.to(self.device), kept.to(self.device)
        for name, group in observation.items():
            own, new = self._observation[name], group[kept]
            own[rows] = (new.clamp(-LARGEST, LARGEST) if new.is_floating_point() else new).to(own.dtype)
        for name, values in fields.items():
            self._fields[name][rows] = values[kept]
        self.added += count

    def draw(self, count: int, generator: torch.Generator) -> Batch:
        """Return a batch of `count` samples, each drawn from all."""
        rows = torch.randint(len(self), (count,), generator=generator).to(self.device)
        observation = {name: group[rows] for name, group in self._observation.items()}
        return Batch(
            {name: group.float() if group.is_floating_point() else group.long() for name, group in observation.items()},
            {name: values[rows] for name, values in self._fields.items()},
        )

    def snapshot(self) -> dict[str, Array]:
        """Return all samples, by names, and how many were ever added."""
        held = {**self._observation, **{f"field.{name}": values for name, values in self._fields.items()}}
        arrays = {name: values[: len(self)].cpu().numpy().copy() for name, values in held.items()}
        return arrays | {"added": torch.tensor(self.added).numpy()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot."""
        self.added = int(arrays["added"])
        for name, space in {**self._observation, **{f"field.{name}": v for name, v in self._fields.items()}}.items():
            space[: len(self)] = torch.from_numpy(arrays[name].copy())


def _places(added: int, count: int, room: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return the places that samples take, each once, and which of the `count` samples take them."""
    number = added + torch.arange(count)
    drawn = (torch.rand(count, generator=generator, dtype=torch.float64) * (number + 1)).long()
    place = torch.where(number < room, number, drawn)
    latest = {where: which for which, where in enumerate(place.tolist()) if where < room}
    return torch.tensor([*latest], dtype=torch.long), torch.tensor([*latest.values()], dtype=torch.long)


def _space(room: int, group: Tensor) -> Tensor:
    """Return room for samples of a group. Half precision keeps what is observed to a thousandth of itself, less than
    what sensors are off by; rows of references fit into 32 bits."""
    kind = torch.float16 if group.is_floating_point() else torch.int32
    return torch.empty((room, *group.shape[1:]), dtype=kind, device=group.device)
