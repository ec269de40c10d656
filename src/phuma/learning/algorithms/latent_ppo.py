"""PPO of a teacher that knows what its student has to guess (after RMA, https://arxiv.org/abs/2107.04034).

With PPO's loss L and the latents z of privileged facts and of the past, the actor minimises

    L + c mean |z_known - z_guessed|

where c rises, and the guess does not learn from that. Now and then an iteration acts by the guess, and the guess alone
learns, from what was met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.learning.algorithms.config import LatentPPOCfg
from phuma.learning.algorithms.ppo import PPO
from phuma.learning.algorithms.storage import Batch
from phuma.learning.env.observation import Observation
from phuma.learning.nets.latent_net import LatentTeacher


class LatentPPO(PPO):
    """PPO with a regulariser of the latent, and updates of the guess between its own."""

    net: LatentTeacher
    cfg: LatentPPOCfg

    def __init__(
        self, net: LatentTeacher, cfg: LatentPPOCfg, observation: Observation, generator: torch.Generator
    ) -> None:
        super().__init__(net, cfg, observation, generator)
        self.updates = 0
        self._told: dict[str, float] = {}

    @property
    def guessing(self) -> bool:
        """Return whether this iteration acts by the guess."""
        return (self.updates + 1) % self.cfg.guess_every == 0

    @torch.no_grad()
    def act(self, observation: Observation) -> Tensor:
        action = super().act(observation)
        if not self.guessing:
            return action
        guessed = self.net.label(observation, self.net.features)
        action, self._mean = action - self._mean + guessed, guessed
        return action

    def update(self, observation: Observation) -> dict[str, float]:
        """Improve the policy, or the guess; of what did not learn, the last values are returned."""
        self._told |= self._learn_to_guess() if self.guessing else super().update(observation)
        self.updates += 1
        with torch.no_grad():
            self.net.log_std.clamp_(*(math.log(bound) for bound in self.cfg.std))
        return dict(self._told)

    def actor_loss(self, loss: Tensor, mean: Tensor, batch: Batch) -> Tensor:
        return loss + self.weight * self.net.actor.regulariser(batch.observation)

    @property
    def weight(self) -> float:
        """Return the regulariser's weight: it rises along a line."""
        return self.cfg.regulariser * min(1.0, self.progress / self.cfg.rise)

    def _learn_to_guess(self) -> dict[str, float]:
        """Let the guess learn from what was met, and nothing else."""
        cfg, total, batches = self.cfg, 0.0, 0
        for batch in self.storage.batches(cfg.epochs, cfg.minibatches, self.generator):
            loss = self.net.actor.guess_loss(batch.observation)
            self.descend(loss, cfg.max_grad_norm, self.actor)
            total, batches = total + loss.item(), batches + 1
        return {"guess_loss": total / batches, "learning_rate": self.rate}

    def snapshot(self) -> dict[str, Array]:
        return super().snapshot() | {"updates": np.array(self.updates)}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        super().restore(arrays)
        self.updates = int(arrays["updates"])
