"""Distillation into a masked policy with a latent: it acts by what its posterior draws, and learns to act as its
teacher does while the prior, which is told a part of the motion alone, learns what the posterior draws.

    loss = w (a - a_teacher)^2 + beta KL(posterior | prior)

The noise of a latent is drawn once an episode, so that an episode is of one mind.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.config import VariationalCfg
from phuma.learning.algorithms.distillation import Distillation, Teacher, imitation_loss
from phuma.learning.algorithms.storage import Batch
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import Actor
from phuma.learning.nets.masked_net import VariationalNet, divergence


def divergence_weight(cfg: VariationalCfg, progress: float) -> float:
    """Return the weight of the divergence: the first one for a while, then along a line to the last one."""
    begin, end = cfg.kl_from, cfg.kl_until
    share = min(1.0, max(0.0, (progress - begin) / max(end - begin, 1e-9)))
    return cfg.kl_first + share * (cfg.kl_last - cfg.kl_first)


class VariationalDistillation(Distillation):
    """Supervised updates of a masked policy with a latent."""

    cfg: VariationalCfg

    def __init__(
        self,
        net: Actor,
        cfg: VariationalCfg,
        observation: Observation,
        generator: torch.Generator,
        teacher: Teacher,
    ) -> None:
        super().__init__(net, cfg, observation, generator, teacher)
        self.noise = self._drawn(len(next(iter(observation.values()))))

    @property
    def own(self) -> VariationalNet:
        """Return the student's network."""
        assert isinstance(self.student.actor, VariationalNet)
        return self.student.actor

    def explored(self, observation: Observation) -> Tensor:
        latent = self.own.informed(observation, self.net.features, self.own.prior(observation))
        noise = self.noise.to(latent.mean.device)
        return self.own.decoded(observation, latent.mean + (0.5 * latent.log_var).exp() * noise)

    @torch.no_grad()
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        super().record(observation, action, outcome)
        ended = outcome.done.cpu()
        if ended.any():
            self.noise[ended] = self._drawn(int(ended.sum()))

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        prior = self.own.prior(batch.observation)
        latent = self.own.informed(batch.observation, self.net.features, prior)
        noise = self._drawn(len(latent.mean)).to(latent.mean.device)
        action = self.own.decoded(batch.observation, latent.mean + (0.5 * latent.log_var).exp() * noise)
        weight = divergence_weight(self.cfg, self.progress)
        return {
            "imitation_loss": imitation_loss(action, batch.fields["label"], batch.fields["weight"]),
            "divergence_loss": weight * divergence(latent, prior),
        }

    def _drawn(self, count: int) -> Tensor:
        return torch.randn(count, self.own.latent_size, generator=self.generator)

    def snapshot(self) -> dict[str, Array]:
        return super().snapshot() | {"noise": self.noise.numpy().copy()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        super().restore(arrays)
        self.noise = torch.from_numpy(arrays["noise"].copy())
