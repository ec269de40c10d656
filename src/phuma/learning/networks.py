"""The policy and its critic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from phuma.learning.config import LearnCfg
from phuma.learning.task import Observation

ACTOR, CRITIC, FUTURE = ("proprioception", "goal"), ("critic",), "future"
"""Groups of the observation that are joined as they are; the future goes through an encoder"""


class Normaliser(nn.Module):
    """(x - mean) / std, with both of all that was seen while learning; over the last axis."""

    mean: Tensor
    var: Tensor
    count: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))
        self.register_buffer("count", torch.zeros(()))

    @property
    def std(self) -> Tensor:
        """Not less than 0.01, so that what hardly ever changes is not blown up when it does."""
        return self.var.sqrt() + 1e-2

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.std

    @torch.no_grad()
    def update(self, x: Tensor) -> None:
        """Take these samples in: counts n and m, means and variances are joined as Chan's formula does."""
        x = x.reshape(-1, x.shape[-1])
        m, mean, var = len(x), x.mean(0), x.var(0, unbiased=False)
        total = self.count + m
        off = mean - self.mean
        self.var = (self.count * self.var + m * var + off**2 * self.count * m / total) / total
        self.mean = self.mean + off * m / total
        self.count = total


class Encoder(nn.Module):
    """The future to (E, out): each frame through one layer, all of them through another."""

    def __init__(self, frames: int, width: int, hidden: int, out: int) -> None:
        super().__init__()
        self.normaliser = Normaliser(width)
        self.frame = nn.Linear(width, hidden)
        self.whole = nn.Linear(frames * hidden, out)

    def forward(self, future: Tensor) -> Tensor:
        """future (E, frames, width)"""
        return self._joined(self._each(future))

    def shared(self, features: Tensor, rows: Tensor) -> Tensor:
        """The same of features[rows], (E, frames): those that begin alike are alike. What several robots see is encoded
        once."""
        first, which = rows[:, 0].unique(return_inverse=True)
        seen = rows.new_empty(len(first), rows.shape[1]).index_copy_(0, which, rows)
        if len(features) > seen.numel():
            whole = self(features[seen])
        else:  # index_select, because the gradient of an embedding or of features[seen] takes three times as long
            whole = self._joined(self._each(features).index_select(0, seen.flatten()).view(*seen.shape, -1))
        return whole.index_select(0, which)

    def _each(self, frames: Tensor) -> Tensor:
        return nn.functional.silu(self.frame(self.normaliser(frames)))

    def _joined(self, each: Tensor) -> Tensor:
        return nn.functional.silu(self.whole(each.flatten(1)))


class Net(nn.Module):
    """Groups of an observation, normalised and joined, with the encoded future, through layers."""

    def __init__(self, groups: dict[str, int], frames: int, width: int, cfg: LearnCfg, outputs: int) -> None:
        super().__init__()
        self.groups = tuple(groups)
        self.normalisers = nn.ModuleDict({name: Normaliser(size) for name, size in groups.items()})
        self.encoder = Encoder(frames, width, *cfg.encoder) if cfg.future else None
        inputs = sum(groups.values()) + (cfg.encoder[1] if cfg.future else 0)
        self.layers = layers([inputs, *cfg.hidden, outputs])

    def forward(self, observation: Observation, features: Tensor | None = None) -> Tensor:
        """Where `features` are given, the observation's future is rows of them."""
        parts = [self.normalisers[name](observation[name]) for name in self.groups]
        if self.encoder is not None:
            future = observation[FUTURE]
            parts.append(self.encoder(future) if features is None else self.encoder.shared(features, future))
        return self.layers(torch.cat(parts, -1))


def layers(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with SiLU between them."""
    out: list[nn.Module] = []
    for a, b in pairwise(widths):
        out += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*out[:-1])


class ActorCritic(nn.Module):
    """A normal distribution of actions, the same spread everywhere, and the value of what is seen."""

    features: Tensor

    def __init__(self, observation: Observation, features: Tensor, joints: int, cfg: LearnCfg) -> None:
        super().__init__()
        frames, width = observation[FUTURE].shape[1], features.shape[1]
        sizes = {name: observation[name].shape[-1] for name in (*ACTOR, *CRITIC)}
        self.actor = Net({name: sizes[name] for name in ACTOR}, frames, width, cfg, joints)
        self.critic = Net({name: sizes[name] for name in CRITIC}, frames, width, cfg, 1)
        last = self.actor.layers[-1]
        assert isinstance(last, nn.Linear)
        nn.init.normal_(last.weight, std=0.01)  # first actions are near nought, that is, near the base
        nn.init.zeros_(last.bias)
        self.log_std = nn.Parameter(torch.full((joints,), cfg.init_std).log())
        self.register_buffer("features", features, persistent=False)
        self.use(features)

    def use(self, features: Tensor) -> None:
        """Of the references that the futures of coming observations are rows of."""
        self.features = features
        for net in (self.actor, self.critic):
            if net.encoder is not None:
                net.encoder.normaliser.update(features)

    def mean(self, observation: Observation) -> Tensor:
        """(E, N) actions"""
        return self.actor(observation, self.features)

    def value(self, observation: Observation) -> Tensor:
        """(E,)"""
        return self.critic(observation, self.features)[:, 0]

    def see(self, observation: Observation) -> None:
        """Take what was seen into the normalisers."""
        for net in (self.actor, self.critic):
            for name in net.groups:
                normaliser = net.normalisers[name]
                assert isinstance(normaliser, Normaliser)
                normaliser.update(observation[name])
