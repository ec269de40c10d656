"""Policies that are given a latent: of what no robot senses, or of the past, from which a robot can guess it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from phuma.learning.env.observation import Observation, ObservationGroup
from phuma.learning.nets.actor_critic import Actor, ActorCritic, GroupNet
from phuma.learning.nets.config import LatentCfg
from phuma.learning.nets.conv_encoder import ConvEncoder
from phuma.learning.nets.mlp import mlp
from phuma.learning.nets.normalizer import Normalizer
from phuma.robots.robot import Robot


class LatentNet(GroupNet):
    """A network over groups and a latent: of the group `privileged` by layers, or of the group `history` by
    convolutions; without privileged facts always the latter."""

    def __init__(
        self,
        groups: Sequence[ObservationGroup],
        history: ObservationGroup,
        privileged: ObservationGroup | None,
        robot: Robot,
        cfg: LatentCfg,
        outputs: int,
    ) -> None:
        latent = cfg.past_encoder[1]
        super().__init__(groups, robot, cfg, outputs, more=latent)
        self.history, self.privileged = history.name, None if privileged is None else privileged.name
        self.history_encoder = ConvEncoder(history.history, history.width(robot), cfg.history_encoder)
        if privileged is not None:
            self.normalizers[privileged.name] = Normalizer(privileged.width(robot))
            self.privileged_encoder = mlp([privileged.width(robot), *cfg.privileged, latent])
        self.frozen = False

    def forward(
        self, observation: Observation, features: Mapping[str, Tensor] | None = None, by_history: bool = False
    ) -> Tensor:
        """Return (E, outputs), from the privileged facts unless there are none or the past is asked for."""
        from_past = by_history or self.privileged is None
        latent = self.guessed(observation) if from_past else self.known(observation)
        return self.layers(torch.cat([*self.inputs(observation, features), latent], -1))

    @property
    def observed(self) -> tuple[str, ...]:
        privileged = () if self.privileged is None else (self.privileged,)
        return (*super().observed, self.history, *privileged)

    def known(self, observation: Observation) -> Tensor:
        """Return (E, latent) the latent of privileged facts."""
        assert self.privileged is not None
        return self.privileged_encoder(self.normalizers[self.privileged](observation[self.privileged]))

    def guessed(self, observation: Observation) -> Tensor:
        """Return (E, latent) the latent of the past."""
        return self.history_encoder(observation[self.history])

    def regulariser(self, observation: Observation) -> Tensor:
        """Return  mean |z_known - z_guessed|  with which privileged facts are told only as far as they can be guessed;
        the guess does not learn from it."""
        return _distance(self.known(observation), self.guessed(observation).detach())

    def guess_loss(self, observation: Observation) -> Tensor:
        """Return  mean |z_known - z_guessed|  from which the guess alone learns."""
        return _distance(self.known(observation).detach(), self.guessed(observation))

    def estimation_loss(self, observation: Observation) -> Tensor:
        """Return what a teacher that learns from labels minimises beside them: its guess learns all the time."""
        if self.privileged is None:
            return torch.zeros(())
        known, guessed = self.known(observation), self.guessed(observation)
        return _distance(known.detach(), guessed) + REGULARISER * _distance(known, guessed.detach())

    def freeze_history(self, encoder: nn.Module) -> None:
        """Take over the encoder of the past, normalizer and all, and leave it as it is."""
        self.history_encoder.load_state_dict(encoder.state_dict())
        self.history_encoder.requires_grad_(False)
        self.frozen = True

    def see(self, observation: Observation) -> None:
        super().see(observation)
        if self.privileged is not None:
            normalizer = self.normalizers[self.privileged]
            assert isinstance(normalizer, Normalizer)
            normalizer.update(observation[self.privileged])
        if not self.frozen:
            self.history_encoder.normalizer.update(observation[self.history])


REGULARISER = 0.1
"""Weight of the regulariser in the end"""


class LatentTeacher(ActorCritic):
    """A teacher that knows privileged facts and labels by its past, so that a student can do what it is told."""

    actor: LatentNet

    def label(self, observation: Observation, features: Mapping[str, Tensor]) -> Tensor:
        return self.actor(observation, features, by_history=True)


class LatentStudent(Actor):
    """A student that guesses as its teacher does."""

    actor: LatentNet

    def learn_from(self, teacher: Actor) -> None:
        """Take over the teacher's encoder of the past, for good."""
        assert isinstance(teacher.actor, LatentNet)
        self.actor.freeze_history(teacher.actor.history_encoder)


def _distance(one: Tensor, other: Tensor) -> Tensor:
    return (one - other).norm(dim=-1).mean()
