"""Masked policies: the robot's own state, now and in its past, and what it is told of some bodies in some frames, from
tokens to the action.

A plain one acts by its own state and by what its token comes to. A variational one draws the rest, as MaskedMimic does:
a *prior* says from what is told what the latent may be, a *posterior*, which knows the whole coming motion and serves
training alone, what it is, and a *decoder* acts by own state and latent:

    prior N(m, s),  posterior N(m + m', s'),  latent = m + m' + s' noise,  action = decoder(own, latent)

The policy that is judged takes the prior's mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
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

    times: Tensor
    torque_limit: Tensor
    """(N,) N m, of the joints that it moves"""

    def __init__(self, groups: Sequence[ObservationGroup], robot: Robot, cfg: TransformerCfg, outputs: int) -> None:
        super().__init__()
        own, sparse, *past = groups
        self.own, self.sparse, self.past = own.name, sparse.name, tuple(group.name for group in past)
        self.squashed = cfg.squashed
        limit = torch.from_numpy(robot.torque_limit.astype(np.float32))
        self.register_buffer("torque_limit", limit, persistent=False)
        self.own_normalizer = Normalizer(own.width(robot), CLAMP, LEAST)
        self.frame_normalizer = Normalizer(sparse_width(), CLAMP, LEAST)
        self.own_token = mlp([own.width(robot), *cfg.embedding, cfg.width], activation=nn.ReLU)
        for group in past:
            self.register_buffer("times", torch.arange(1.0 - group.history, 0.0)[:, None] / (group.history - 1))
            self.past_token = mlp([own.width(robot) + 1, *cfg.embedding, cfg.width], activation=nn.ReLU)
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
        past = self.remembered(observation)
        tokens = torch.cat([own[:, None], *past, self.frame_token(self.frame_normalizer(frames))], 1)
        unseen = frames[..., :-1].unflatten(-1, (len(ROLES), PER_BODY))[..., -2:].amax((-1, -2)) == 0
        attended = unseen.new_zeros(unseen.shape[0], tokens.shape[1] - unseen.shape[1])
        return self.encoder(tokens, torch.cat([attended, unseen], 1))

    def remembered(self, observation: Observation) -> list[Tensor]:
        """Return (E, H - 1, width) the tokens of the own state in the past, where it is observed."""
        out = []
        for name in self.past:
            before = self.own_normalizer(observation[name][:, :-1])  # the last is the present
            out.append(self.past_token(torch.cat([before, self.times.expand(before.shape[0], -1, -1)], -1)))
        return out

    @property
    def observed(self) -> tuple[str, ...]:
        return self.own, self.sparse, *self.past

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
        self, groups: Sequence[ObservationGroup], goal: tuple[ObservationGroup, ObservationGroup], robot: Robot,
        cfg: TransformerCfg, outputs: int,
    ) -> None:  # fmt: skip
        size, *hidden = cfg.latent
        super().__init__(groups, robot, cfg, outputs)
        own = groups[0]
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
