"""Distillation: the student acts, the teacher labels every state that it visits, and the student learns the labels."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from phuma.learning.algorithms.algorithm import Algorithm, Outcome
from phuma.learning.algorithms.config import DistillationCfg
from phuma.learning.algorithms.storage import Storage
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import Actor

Teacher = Callable[[Observation], Tensor]
"""Function from what a teacher observes to (E, N) actions."""


def imitation_loss(action: Tensor, label: Tensor) -> Tensor:
    """Return the mean over samples and joints of (a - a_teacher)^2."""
    return ((action - label) ** 2).mean()


class Distillation(Algorithm):
    """Supervised updates of a student from its teacher's labels (DAgger with the last rollouts alone)."""

    def __init__(
        self,
        net: Actor,
        cfg: DistillationCfg,
        observation: Observation,
        generator: torch.Generator,
        teacher: Teacher,
    ) -> None:
        self.net, self.cfg, self.generator, self.teacher = net, cfg, generator, teacher
        self.parameters = list(net.actor.parameters())
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=cfg.learning_rate, weight_decay=cfg.weight_decay, fused=True
        )
        self.storage = Storage(cfg.horizon, observation, {"label": teacher(observation).shape[1:]})

    @torch.no_grad()
    def act(self, observation: Observation) -> Tensor:
        if self.storage.filled == self.cfg.horizon:
            self.storage.begin()
        return self.net.mean(observation)

    @torch.no_grad()
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        self.storage.add(observation, label=self.teacher(observation))

    def update(self, observation: Observation) -> dict[str, float]:
        total, batches = 0.0, 0
        for batch in self.storage.batches(self.cfg.epochs, self.cfg.minibatches, self.generator):
            loss = imitation_loss(self.net.mean(batch.observation), batch.fields["label"])
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.parameters, self.cfg.max_grad_norm)
            self.optimizer.step()
            total, batches = total + loss.item(), batches + 1
        return {"imitation_loss": total / batches, "learning_rate": self.rate}
