"""Policies of tokens: the robot's own state, and one token a coming frame, of which the own one becomes the action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from phuma.learning.env.observation import Observation, ObservationGroup
from phuma.learning.nets.actor_critic import Net
from phuma.learning.nets.config import TransformerCfg
from phuma.learning.nets.mlp import mlp
from phuma.learning.nets.normalizer import Normalizer
from phuma.learning.nets.transformer import Encoder, Layer, encoder_operations
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE

CLAMP, LEAST = 5.0, 1e-3
"""Most standard deviations that an input is from its mean, and the least of these: millimetres count"""


class TokenNet(Net):
    """A policy that sees the whole coming motion. `own` is its own state; `first` is the coming frame relative to the
    robot, `later` are coming frames that depend on the motion alone: all frames share one normalizer and one network
    that makes tokens, and what several environments see alike is encoded once. What is `beside` them goes straight to
    the last layers."""

    times: Tensor

    def __init__(
        self, own: ObservationGroup, first: ObservationGroup, later: ObservationGroup,
        beside: Sequence[ObservationGroup], robot: Robot, cfg: TransformerCfg, outputs: int,
    ) -> None:  # fmt: skip
        super().__init__()
        assert later.coming is not None
        self.own, self.first, self.later, self.squashed = own.name, first.name, later.name, cfg.squashed
        self.own_normalizer = Normalizer(own.width(robot), CLAMP, LEAST)
        self.frame_normalizer = Normalizer(first.width(robot), CLAMP, LEAST)
        steps = torch.tensor([0, *later.coming.offsets.tolist()], dtype=torch.float32) + 1
        self.register_buffer("times", _standardized(steps / CONTROL_RATE)[:, None])
        self.own_token = mlp([own.width(robot), *cfg.embedding, cfg.width], activation=nn.ReLU)
        self.frame_token = mlp([first.width(robot) + 1, *cfg.embedding, cfg.width], activation=nn.ReLU)
        self.encoder = Encoder(cfg.width, cfg.layers, cfg.heads, cfg.feedforward)
        self.beside = nn.ModuleDict({group.name: Normalizer(group.width(robot), CLAMP, LEAST) for group in beside})
        width = cfg.width + sum(group.width(robot) for group in beside)
        self.layers = mlp([width, *cfg.hidden, outputs], activation=nn.ReLU)

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        own = self.own_token(self.own_normalizer(observation[self.own]))
        first = self._tokens(observation[self.first][:, None], self.times[:1])
        tokens = torch.cat([own[:, None], first, self._later(observation[self.later], features)], 1)
        beside = [normalizer(observation[name]) for name, normalizer in self.beside.items()]
        out = self.layers(torch.cat([self.encoder(tokens), *beside], -1))
        return out.tanh() if self.squashed else out

    @property
    def observed(self) -> tuple[str, ...]:
        return self.own, self.first, self.later, *self.beside

    def see(self, observation: Observation) -> None:
        self.own_normalizer.update(observation[self.own])
        self.frame_normalizer.update(observation[self.first])
        for name, normalizer in self.beside.items():
            assert isinstance(normalizer, Normalizer)
            normalizer.update(observation[name])

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        self.frame_normalizer.update(features[self.later])

    def _later(self, given: Tensor, features: Mapping[str, Tensor] | None) -> Tensor:
        """Return (E, frames, width) the tokens of later frames; those that begin alike are alike, and encoded once."""
        if features is None:
            return self._tokens(given, self.times[1:])
        first, which = given[:, 0].unique(return_inverse=True)
        seen = given.new_empty(len(first), given.shape[1]).index_copy_(0, which, given)
        return self._tokens(features[self.later][seen], self.times[1:]).index_select(0, which)

    def _tokens(self, frames: Tensor, times: Tensor) -> Tensor:
        normal = self.frame_normalizer(frames)
        return self.frame_token(torch.cat([normal, times.expand(normal.shape[0], -1, -1)], -1))


class FlatNet(Net):
    """Plain layers over groups and all frames of a group of coming frames: the critic of a policy of tokens."""

    def __init__(
        self, plain: ObservationGroup, first: ObservationGroup, later: ObservationGroup, robot: Robot,
        cfg: TransformerCfg, outputs: int,
    ) -> None:  # fmt: skip
        super().__init__()
        assert later.coming is not None
        self.own, self.first, self.later = plain.name, first.name, later.name
        self.own_normalizer = Normalizer(plain.width(robot), CLAMP, LEAST)
        self.frame_normalizer = Normalizer(first.width(robot), CLAMP, LEAST)
        inputs = plain.width(robot) + (1 + later.coming.frames) * first.width(robot)
        self.layers = mlp([inputs, *cfg.critic, outputs], activation=nn.ReLU)

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        later = observation[self.later]
        frames = later if features is None else features[self.later][later]
        parts = [self.own_normalizer(observation[self.own]), self.frame_normalizer(observation[self.first])]
        return self.layers(torch.cat([*parts, self.frame_normalizer(frames).flatten(1)], -1))

    @property
    def observed(self) -> tuple[str, ...]:
        return self.own, self.first, self.later

    def see(self, observation: Observation) -> None:
        self.own_normalizer.update(observation[self.own])
        self.frame_normalizer.update(observation[self.first])

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        self.frame_normalizer.update(features[self.later])


def token_operations(net: TokenNet, shared: float = 0.0, plain: bool = False) -> int:
    """Return the multiply-adds of one action of a policy of tokens, of whose later frames a share was encoded already;
    `plain` for an implementation that shares nothing and computes all tokens of its last layer."""
    first = net.encoder.layers[0]
    assert isinstance(first, Layer)
    count, width = len(net.times), first.out_proj.in_features
    later = (count - 1) * (1.0 if plain else 1.0 - shared)
    tokens = _operations(net.own_token) + (1 + later) * _operations(net.frame_token)
    inner = encoder_operations(1 + count, width, len(net.encoder.layers), first.linear1.out_features, plain)
    return round(tokens) + inner + _operations(net.layers)


def _operations(layers: nn.Sequential) -> int:
    return sum(layer.weight.numel() for layer in layers if isinstance(layer, nn.Linear))


def _standardized(x: Tensor) -> Tensor:
    return (x - x.mean()) / x.std() if len(x) > 1 else torch.zeros_like(x)
