"""Distillation: the student acts, a teacher labels every state that it visits, and the student learns all labels
(DAgger, https://arxiv.org/abs/1011.0686)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.learning.algorithms.algorithm import Algorithm, Outcome, below
from phuma.learning.algorithms.config import DistillationCfg
from phuma.learning.algorithms.memory import Memory
from phuma.learning.algorithms.storage import Batch, Storage
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import Actor

LARGEST = 5.0
"""Largest action of a label: what is beyond asks for more than any motor gives"""
ANNEALED, LEAST = 0.3, 0.05
"""Share of the training after which the learning rate falls, and the factor to which it falls"""


class Label(NamedTuple):
    """The labels of E environments."""

    action: Tensor
    """(E, N) what the teacher would do"""
    cost: Tensor
    """(E,) what the deviation from the teacher's way costs, in its own unit; 0 on it"""


Teacher = Callable[[Observation], Label]
"""Function from what is observed, and the environments as they are then, to labels."""


def imitation_loss(action: Tensor, label: Tensor, weight: Tensor) -> Tensor:
    """Return the mean over samples and joints of  w (a - a_teacher)^2."""
    return (weight[:, None] * (action - label) ** 2).mean()


def norm_loss(action: Tensor, label: Tensor, weight: Tensor) -> Tensor:
    """Return the mean over samples of  w |a - a_teacher|."""
    return (weight * (action - label).norm(dim=-1)).mean()


def trust(cost: Tensor, tolerance: float) -> Tensor:
    """Return (E,) the weight of labels,  1 / (1 + cost / tolerance):  far from its way, a teacher knows less."""
    return 1 / (1 + cost / tolerance)


def annealed_rate(rate: float, progress: float) -> float:
    """Return the learning rate: as it is at first, then falling along a line."""
    left = min(1.0, (1 - progress) / (1 - ANNEALED))
    return rate * max(LEAST, left)


class Distillation(Algorithm):
    """Supervised updates of a student from its teacher's labels, of all that it visited. `net` is the average of the
    student's weights over the last updates, which acts better than any of them; the student itself explores."""

    def __init__(
        self,
        net: Actor,
        cfg: DistillationCfg,
        observation: Observation,
        generator: torch.Generator,
        teacher: Teacher,
    ) -> None:
        self.net, self.cfg, self.generator, self.teacher = net, cfg, generator, teacher
        self.student = deepcopy(net)
        self.parameters = [p for p in self.student.actor.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=cfg.learning_rate, weight_decay=cfg.weight_decay, fused=True
        )
        label = teacher(observation).action
        self.storage = Storage(cfg.horizon, observation, {"label": label.shape[1:], "weight": ()})
        self.memory = Memory(cfg.memory, self._own(observation), {"label": label.shape[1:], "weight": ()})

    @torch.no_grad()
    def act(self, observation: Observation) -> Tensor:
        if self.storage.filled == self.cfg.horizon:
            self.storage.begin()
        self._label = self.teacher(observation)
        return self.explored(observation)

    def explored(self, observation: Observation) -> Tensor:
        """Return (E, N) the actions by which the student finds states to be labelled."""
        return self.student.actor(observation, self.net.features)

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return what is minimised, by names: the sum of all."""
        action = self.student.actor(batch.observation, self.net.features)
        imitation = norm_loss if self.cfg.norm else imitation_loss
        return {
            "imitation_loss": imitation(action, batch.fields["label"], batch.fields["weight"]),
            "estimation_loss": self.student.actor.estimation_loss(batch.observation),
        }

    def _own(self, observation: Observation) -> Observation:
        """Return what the student observes, without what its teacher alone does."""
        return {name: observation[name] for name in self.net.actor.observed}

    @torch.no_grad()
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        label = self._label.action.clamp(-LARGEST, LARGEST)
        weight = trust(self._label.cost, self.cfg.tolerance)
        self.storage.add(observation, label=label, weight=weight)
        self.memory.add(self._own(observation), self.generator, label=label, weight=weight)

    def update(self, observation: Observation) -> dict[str, float]:
        cfg, means = self.cfg, dict[str, float]()
        with torch.no_grad():
            for mine, theirs in zip(self.student.buffers(), self.net.buffers()):
                mine.copy_(theirs)
        self.optimizer.param_groups[0]["lr"] = annealed_rate(cfg.learning_rate, self.progress)
        for _ in range(cfg.updates):
            batch = self.memory.draw(cfg.batch, self.generator)
            losses = self.losses(batch)
            self.descend(sum(losses.values(), torch.zeros(())), cfg.max_grad_norm, self.parameters)
            with torch.no_grad():
                for mean, own in zip(self.net.actor.parameters(), self.student.actor.parameters()):
                    mean.lerp_(own, 1 - cfg.average)
            for name, value in losses.items():
                means[name] = means.get(name, 0.0) + value.item() / cfg.updates
        weight = float(self.storage["weight"].mean())
        return means | {"trust": weight, "learning_rate": self.rate}

    def forget(self) -> None:
        """Forget the samples: other motions are learned from now."""
        self.memory.forget()

    def snapshot(self) -> dict[str, Array]:
        arrays = super().snapshot()
        arrays |= {f"student.{name}": value.numpy().copy() for name, value in self.student.state_dict().items()}
        return arrays | {f"memory.{name}": value for name, value in self.memory.snapshot().items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        super().restore(arrays)
        weights = {name: torch.from_numpy(value.copy()) for name, value in below(arrays, "student.").items()}
        self.student.load_state_dict(weights)
        self.memory.restore(below(arrays, "memory."))
