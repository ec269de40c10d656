"""Masked policies: the robot's own state and what it is told of some bodies in some frames, from tokens to the action.

A plain one acts by its own state and by what its token comes to. A variational one draws the rest, as MaskedMimic does:
a *prior* says from what is told what the latent may be, a *posterior*, which knows the whole coming motion and serves
training alone, what it is, and a *decoder* acts by own state and latent:

    prior N(m, s),  posterior N(m + m', s'),  latent = m + m' + s' noise,  action = decoder(own, latent)

The policy that is judged takes the prior's mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from phuma.learning.env.conditions import ROLES
from phuma.learning.env.observation import Observation, ObservationGroup
from phuma.learning.env.terms.maximal import PER_BODY, sparse_width
from phuma.learning.nets.actor_critic import Net
from phuma.learning.nets.config import TransformerCfg
from phuma.learning.nets.mlp import mlp
from phuma.learning.nets.normalizer import Normalizer
from phuma.learning.nets.token_net import CLAMP, LEAST, FlatNet
from phuma.learning.nets.transformer import Encoder
from phuma.robots.robot import Robot

LARGEST_LOG = 5.0
"""Largest logarithm of a variance, and the negative of the smallest"""


class MaskedNet(Net):
    """A policy that is told a part of the coming motion; frames of which nothing is told are not attended to."""

    def __init__(
        self, own: ObservationGroup, sparse: ObservationGroup, robot: Robot, cfg: TransformerCfg, outputs: int
    ) -> None:
        super().__init__()
        self.own, self.sparse, self.squashed = own.name, sparse.name, cfg.squashed
        self.own_normalizer = Normalizer(own.width(robot), CLAMP, LEAST)
        self.frame_normalizer = Normalizer(sparse_width(), CLAMP, LEAST)
        self.own_token = mlp([own.width(robot), *cfg.embedding, cfg.width], activation=nn.ReLU)
        self.frame_token = mlp([sparse_width(), *cfg.embedding, cfg.width], activation=nn.ReLU)
        self.encoder = Encoder(cfg.width, cfg.layers, cfg.heads, cfg.feedforward)
        self.layers = mlp([own.width(robot) + cfg.width, *cfg.hidden, outputs], activation=nn.ReLU)

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        return self.decoded(observation, self.encoded(observation))

    def decoded(self, observation: Observation, told: Tensor) -> Tensor:
        """Return (E, N) actions by own state, which no narrow token should stand before, and by what is told."""
        return self.squash(self.layers(torch.cat([self.own_normalizer(observation[self.own]), told], -1)))

    def squash(self, action: Tensor) -> Tensor:
        """Return actions within -1 and 1, where they are to be."""
        return action.tanh() if self.squashed else action

    def encoded(self, observation: Observation) -> Tensor:
        """Return (E, width): what the own token comes to."""
        own = self.own_token(self.own_normalizer(observation[self.own]))
        frames = observation[self.sparse].unflatten(-1, (-1, sparse_width()))
        tokens = torch.cat([own[:, None], self.frame_token(self.frame_normalizer(frames))], 1)
        unseen = frames[..., :-1].unflatten(-1, (len(ROLES), PER_BODY))[..., -2:].amax((-1, -2)) == 0
        return self.encoder(tokens, torch.cat([torch.zeros_like(unseen[:, :1]), unseen], 1))

    @property
    def observed(self) -> tuple[str, ...]:
        return self.own, self.sparse

    def see(self, observation: Observation) -> None:
        self.own_normalizer.update(observation[self.own])
        self.frame_normalizer.update(observation[self.sparse].unflatten(-1, (-1, sparse_width())))

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        pass  # it is told nothing that depends on the motion alone


class Latent(NamedTuple):
    """Normal distributions of latents."""

    mean: Tensor
    """(E, Z)"""
    log_var: Tensor
    """(E, Z)"""


class VariationalNet(MaskedNet):
    """A masked policy with a latent; `goal` are the groups by which its posterior sees the whole coming motion."""

    def __init__(
        self, own: ObservationGroup, sparse: ObservationGroup, goal: tuple[ObservationGroup, ObservationGroup],
        robot: Robot, cfg: TransformerCfg, outputs: int,
    ) -> None:  # fmt: skip
        size, *hidden = cfg.latent
        super().__init__(own, sparse, robot, cfg, outputs)
        self.latent_size = size
        heads = [mlp([cfg.width, *cfg.hidden, size], activation=nn.ReLU) for _ in range(2)]
        self.prior_mean, self.prior_log_var = heads
        self.posterior = FlatNet(own, *goal, robot, replace(cfg, critic=tuple(hidden)), 2 * size)
        self.layers = mlp([own.width(robot) + size, *cfg.hidden, outputs], activation=nn.ReLU)

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        return self.decoded(observation, self.prior(observation).mean)

    def prior(self, observation: Observation) -> Latent:
        """Return what the latent may be, by what is told."""
        out = self.encoded(observation)
        return Latent(self.prior_mean(out), self.prior_log_var(out).clamp(-LARGEST_LOG, LARGEST_LOG))

    def informed(self, observation: Observation, features: Mapping[str, Tensor], prior: Latent) -> Latent:
        """Return what the latent is, by the whole coming motion: a correction of the prior's mean."""
        mean, log_var = self.posterior(observation, features).chunk(2, -1)
        return Latent(prior.mean + mean, log_var.clamp(-LARGEST_LOG, LARGEST_LOG))

    @property
    def observed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*super().observed, *self.posterior.observed)))

    def see(self, observation: Observation) -> None:
        super().see(observation)
        self.posterior.see(observation)

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        self.posterior.see_features(features)


def divergence(posterior: Latent, prior: Latent) -> Tensor:
    """Return the mean over samples of KL(posterior | prior), summed over the latent."""
    ratio = (posterior.log_var - prior.log_var).exp()
    off = (posterior.mean - prior.mean) ** 2 / prior.log_var.exp()
    return 0.5 * (ratio + off - 1 - posterior.log_var + prior.log_var).sum(-1).mean()
