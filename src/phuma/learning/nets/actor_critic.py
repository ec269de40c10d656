"""Policies and critics over groups of observations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from phuma.learning.env.observation import Observation, ObservationGroup
from phuma.learning.nets.config import ConvCfg, MLPCfg
from phuma.learning.nets.conv_encoder import ConvEncoder
from phuma.learning.nets.mlp import mlp
from phuma.learning.nets.motion_encoder import FrameEncoder, MotionEncoder
from phuma.learning.nets.normalizer import Normalizer
from phuma.robots.robot import Robot


def motion_encoder(frames: int, width: int, cfg: MLPCfg) -> FrameEncoder:
    """Return the encoder of coming frames that the settings ask for."""
    if isinstance(cfg, ConvCfg):
        return ConvEncoder(frames, width, cfg.future_encoder)
    return MotionEncoder(frames, width, *cfg.encoder)


class Net(nn.Module, ABC):
    """What a policy or a critic is made of: a network over groups of an observation."""

    layers: nn.Sequential
    """Its last layers"""

    @abstractmethod
    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        """Return (E, outputs). Where `features` are given, the observation's coming frames are rows of them."""

    @property
    @abstractmethod
    def observed(self) -> tuple[str, ...]:
        """Return the names of all groups that it needs, to act and to learn."""

    @abstractmethod
    def see(self, observation: Observation) -> None:
        """Update the normalizers with observations."""

    @abstractmethod
    def see_features(self, features: Mapping[str, Tensor]) -> None:
        """Update the normalizers with frames of the reference."""

    def estimation_loss(self, observation: Observation) -> Tensor:
        """Return the loss of what the network estimates for itself; 0 where nothing is estimated."""
        return torch.zeros(())


class GroupNet(Net):
    """A network over groups of an observation: normalized and joined, with encoded coming frames, through layers. A
    single coming frame is not encoded.

    Groups that have a history are what `estimated` groups, which no sensor reads, are estimated from; the layers are
    given the estimates instead of them. `more` is the number of inputs that a subclass adds."""

    def __init__(
        self,
        groups: Sequence[ObservationGroup],
        robot: Robot,
        cfg: MLPCfg,
        outputs: int,
        estimated: Sequence[ObservationGroup] = (),
        more: int = 0,
    ) -> None:
        super().__init__()
        plain = [group for group in groups if group.coming is None]
        single = [group for group in groups if group.coming is not None and group.coming.frames == 1]
        present = [group for group in plain if group.history == 1]
        past = [group for group in plain if group.history > 1]
        assert bool(past) == bool(estimated), "a history and what is estimated from it come together"
        self.groups, self.past, self.single = (tuple(group.name for group in some) for some in (present, past, single))
        self.estimated = tuple(group.name for group in estimated)
        self.normalizers = nn.ModuleDict(
            {group.name: Normalizer(group.width(robot)) for group in (*plain, *single, *estimated)}
        )
        numbers = sum(group.width(robot) for group in estimated)
        if past:
            remembered = sum(group.history * group.width(robot) for group in past)
            self.estimator = mlp([remembered, *cfg.estimator, numbers])
        self.encoders = nn.ModuleDict(
            {
                group.name: motion_encoder(group.coming.frames, group.width(robot), cfg)
                for group in groups
                if group.coming is not None and group not in single
            }
        )
        inputs = sum(group.width(robot) for group in (*present, *single)) + len(self.encoders) * cfg.encoder[1]
        self.layers = mlp([inputs + numbers + more, *cfg.hidden, outputs], cfg.norm)

    def forward(self, observation: Observation, features: Mapping[str, Tensor] | None = None) -> Tensor:
        """Return (E, outputs). Where `features` are given, the observation's coming frames are rows of them."""
        return self.layers(torch.cat(self.inputs(observation, features), -1))

    def inputs(self, observation: Observation, features: Mapping[str, Tensor] | None) -> list[Tensor]:
        """Return what the layers are given, in parts."""
        parts = [self.normalizers[name](observation[name]) for name in self.groups]
        if self.past:
            parts.append(self.estimate(observation).detach())
        for name in self.single:
            frame = observation[name][:, 0]
            parts.append(self.normalizers[name](frame if features is None else features[name][frame]))
        for name, encoder in self.encoders.items():
            assert isinstance(encoder, FrameEncoder)
            given = observation[name]
            parts.append(encoder(given) if features is None else encoder.shared(features[name], given))
        return parts

    @property
    def observed(self) -> tuple[str, ...]:
        return (*self.groups, *self.past, *self.single, *self.estimated, *self.encoders)

    def estimate(self, observation: Observation) -> Tensor:
        """Return (E, numbers) what no sensor reads, estimated from the past, normalized as all inputs are."""
        past = [self.normalizers[name](observation[name]).flatten(1) for name in self.past]
        return self.estimator(torch.cat(past, -1))

    def estimation_loss(self, observation: Observation) -> Tensor:
        """Return the mean of  (estimate - truth)^2  in standard deviations of the truth; 0 where nothing is
        estimated."""
        if not self.past:
            return torch.zeros(())
        truth = torch.cat([self.normalizers[name](observation[name]) for name in self.estimated], -1)
        return ((self.estimate(observation) - truth) ** 2).mean()

    def see(self, observation: Observation) -> None:
        """Update the normalizers with observations."""
        for name in (*self.groups, *self.past, *self.estimated):
            normalizer = self.normalizers[name]
            assert isinstance(normalizer, Normalizer)
            normalizer.update(observation[name])

    def see_features(self, features: Mapping[str, Tensor]) -> None:
        """Update the encoders' normalizers with frames of the reference."""
        for name, encoder in self.encoders.items():
            assert isinstance(encoder, FrameEncoder)
            encoder.normalizer.update(features[name])
        for name in self.single:
            normalizer = self.normalizers[name]
            assert isinstance(normalizer, Normalizer)
            normalizer.update(features[name])


class Actor(nn.Module):
    """A policy from what it observes to actions."""

    def __init__(self, actor: Net) -> None:
        super().__init__()
        self.actor = actor
        last = actor.layers[-1]
        assert isinstance(last, nn.Linear)
        nn.init.normal_(last.weight, std=0.01)  # first actions are near zero, that is, near the base
        nn.init.zeros_(last.bias)
        self.features: Mapping[str, Tensor] = {}

    @property
    def nets(self) -> tuple[Net, ...]:
        return (self.actor,)

    def use(self, features: Mapping[str, Tensor]) -> None:
        """Set the references' features, of which observations hold rows, and update the normalizers with them."""
        self.features = features
        for net in self.nets:
            net.see_features(features)

    def mean(self, observation: Observation) -> Tensor:
        """Return (E, N) mean actions."""
        return self.actor(observation, self.features)

    def see(self, observation: Observation) -> None:
        """Update the normalizers with observations."""
        for net in self.nets:
            net.see(observation)

    def label(self, observation: Observation, features: Mapping[str, Tensor]) -> Tensor:
        """Return (E, N) what a student is to do."""
        return self.actor(observation, features)

    def learn_from(self, teacher: Actor) -> None:
        """Take over what a student has of its teacher: nothing, unless a subclass does."""


class ActorCritic(Actor):
    """A normal distribution of actions with one standard deviation everywhere, and the value of what is observed."""

    def __init__(self, actor: Net, critic: Net, joints: int, init_std: float, fixed_std: bool = False) -> None:
        super().__init__(actor)
        self.critic = critic
        self.log_std = nn.Parameter(torch.full((joints,), init_std).log(), requires_grad=not fixed_std)

    @property
    def nets(self) -> tuple[Net, ...]:
        return self.actor, self.critic

    def value(self, observation: Observation) -> Tensor:
        """Return (E,) values of what is observed."""
        return self.critic(observation, self.features)[:, 0]
