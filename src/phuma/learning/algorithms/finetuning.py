"""Fine-tuning: PPO from a distilled policy, held to its teacher's labels while it finds its own way.

A distilled policy has high gain, so that the noise with which PPO explores throws it off its motion, and what it then
learns is to do less. Labels on PPO's own samples hold it: with PPO's loss L and labels a* of weight w, the actor
minimises

    L + c (1 - progress) mean w (mean - a*)^2

At first it acts as it was distilled, and only its critic learns.
"""

from __future__ import annotations

import torch
from torch import Tensor

from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.config import FinetuningCfg
from phuma.learning.algorithms.distillation import LARGEST, Teacher, imitation_loss, trust
from phuma.learning.algorithms.ppo import PPO
from phuma.learning.algorithms.storage import Batch
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import ActorCritic


class Finetuning(PPO):
    """PPO with a teacher's labels as an anchor that fades."""

    per_joint = (*PPO.per_joint, "label")
    numbers = (*PPO.numbers, "weight")
    cfg: FinetuningCfg

    def __init__(
        self,
        net: ActorCritic,
        cfg: FinetuningCfg,
        observation: Observation,
        generator: torch.Generator,
        teacher: Teacher,
    ) -> None:
        super().__init__(net, cfg, observation, generator)
        self.teacher = teacher

    @torch.no_grad()
    def act(self, observation: Observation) -> Tensor:
        self._label = self.teacher(observation)
        return super().act(observation)

    @torch.no_grad()
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        super().record(observation, action, outcome)
        now = self.storage.filled - 1
        self.storage["label"][now] = self._label.action.clamp(-LARGEST, LARGEST)
        self.storage["weight"][now] = trust(self._label.cost, self.cfg.tolerance)

    def actor_loss(self, loss: Tensor, mean: Tensor, batch: Batch) -> Tensor:
        """Return the loss with the anchor; nothing for the actor to minimise while the critic learns alone."""
        if self.progress < self.cfg.warmup:
            return torch.zeros((), device=mean.device)
        label = imitation_loss(mean, batch.fields["label"], batch.fields["weight"])
        return super().actor_loss(loss, mean, batch) + self.cfg.anchor * (1 - self.progress) * label
