"""A network that estimates a deviation: what is sensed of it, and a correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from phuma.learning.env import deviation
from phuma.learning.env.observation import Observation, ObservationGroup
from phuma.learning.nets.actor_critic import Net
from phuma.learning.nets.config import MLPCfg
from phuma.learning.nets.mlp import mlp
from phuma.learning.nets.normalizer import Normalizer
from phuma.robots.robot import Robot


class EstimatorNet(Net):
    """A correction of the newest row of the past, by layers over the whole past and what is known beside it.

    The past is one of what is sensed of a deviation, in its order; without noise the correction of that is nothing."""

    units: Tensor

    def __init__(self, past: ObservationGroup, beside: Sequence[ObservationGroup], robot: Robot, cfg: MLPCfg) -> None:
        super().__init__()
        numbers = deviation.size(robot.n_joints)
        assert past.width(robot) == numbers - deviation.UNSENSED
        self.past, self.beside = past.name, tuple(group.name for group in beside)
        self.normalizers = torch.nn.ModuleDict({g.name: Normalizer(g.width(robot)) for g in (past, *beside)})
        inputs = past.history * past.width(robot) + sum(group.width(robot) for group in beside)
        self.layers = mlp([inputs, *cfg.hidden, numbers], cfg.norm)
        self.register_buffer("units", torch.from_numpy(deviation.units(robot.n_joints)))

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        past = observation[self.past]
        parts = [self.normalizers[name](observation[name]).flatten(1) for name in self.observed]
        sensed = past[:, -1] / self.units[deviation.UNSENSED :]
        return self.layers(torch.cat(parts, -1)) + torch.nn.functional.pad(sensed, (deviation.UNSENSED, 0))

    @property
    def observed(self) -> tuple[str, ...]:
        return (self.past, *self.beside)

    def see(self, observation: Observation) -> None:
        for name in self.observed:
            normalizer = self.normalizers[name]
            assert isinstance(normalizer, Normalizer)
            normalizer.update(observation[name])

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        """Do nothing: no coming frames are observed."""
