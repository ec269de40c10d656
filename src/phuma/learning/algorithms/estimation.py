"""Estimation: distillation of a policy whose actions are estimates, from the truth.

    loss = mean w log(1 + ((e - e_true) / c)^2)

An estimate that is off by less than c, how exactly its number is to be known, counts by its square; one that is far
off, after a push that was not felt yet, hardly counts more, as nothing can be done about it. By squares alone pushes
would be all that is learned of, and noise would stay in what is sensed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from phuma.learning.algorithms.distillation import Distillation
from phuma.learning.algorithms.storage import Batch
from phuma.learning.env.deviation import EXACT


def estimation_loss(estimate: Tensor, truth: Tensor, weight: Tensor, exact: float = EXACT) -> Tensor:
    """Return the mean over samples and numbers of  w log(1 + ((e - e_true) / c)^2)."""
    return (weight[:, None] * torch.log1p(((estimate - truth) / exact) ** 2)).mean()


class Estimation(Distillation):
    """Supervised updates of a policy that estimates."""

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        estimate = self.student.actor(batch.observation)
        return {"imitation_loss": estimation_loss(estimate, batch.fields["label"], batch.fields["weight"])}
