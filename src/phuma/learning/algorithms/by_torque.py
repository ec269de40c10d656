"""Distillation in which the joints count by the torques that their actions make.

An action of 1 is a quarter of a motor's torque limit, so a wrist of 5 N m asks for large actions, which nobody who is
told of the pelvis alone can guess; counted alike, such joints weigh as much as legs that have to carry the robot.
"""

from __future__ import annotations

from torch import Tensor

from phuma.learning.algorithms.distillation import Distillation
from phuma.learning.algorithms.storage import Batch
from phuma.learning.nets.masked_net import MaskedNet


def torque_loss(action: Tensor, label: Tensor, weight: Tensor, limit: Tensor) -> Tensor:
    """Return the mean over samples and joints of  w t^2 (a - a_teacher)^2  over that of t^2, with torque limits t."""
    squared = limit**2
    return (weight[:, None] * squared * (action - label) ** 2).mean() / squared.mean()


class TorqueDistillation(Distillation):
    """Supervised updates of a masked policy by the torques that its actions make."""

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        own = self.student.actor
        assert isinstance(own, MaskedNet)
        action = own(batch.observation, self.net.features)
        loss = torque_loss(action, batch.fields["label"], batch.fields["weight"], own.torque_limit)
        return {"imitation_loss": loss}
