"""Settings of networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from phuma.errors import ConfigError

WIDEST, DEEPEST = 8192, 20
"""Largest width and number of layers: an untrusted run may not ask for any amount of memory."""


class ConvSizes(NamedTuple):
    """The sizes of a convolutional encoder."""

    frame: int
    """Width of the layer of a frame"""
    channels: tuple[int, ...]
    """Channels of the convolutions"""
    kernels: tuple[int, ...]
    """Frames that each convolution sees at a time"""
    strides: tuple[int, ...]
    """Frames from one such window to the next"""
    out: int
    """Width of the code"""


@dataclass(frozen=True)
class NetworkCfg:
    """Settings that the networks of every policy have."""

    name: ClassVar[str]
    widths: ClassVar[tuple[str, ...]] = ()
    """Names of settings that are widths of layers"""
    init_std: float = 0.4
    """Standard deviation of the actions at first."""

    def __post_init__(self) -> None:
        for name in self.widths:
            widths = getattr(self, name)
            if not all(isinstance(width, int) and 1 <= width <= WIDEST for width in widths) or len(widths) > DEEPEST:
                raise ConfigError(f"{name} is {widths}; expected at most {DEEPEST} whole numbers from 1 to {WIDEST}")


@dataclass(frozen=True)
class MLPCfg(NetworkCfg):
    """Sizes of a policy of plain layers and of its critic."""

    name: ClassVar[str] = "mlp"
    widths: ClassVar[tuple[str, ...]] = ("hidden", "encoder", "estimator")
    hidden: tuple[int, ...] = (256, 128, 64)
    """Widths of the hidden layers."""
    encoder: tuple[int, int] = (16, 64)
    """Width of the motion encoder's hidden layer, and of its output."""
    estimator: tuple[int, ...] = (128, 64)
    """Widths of the hidden layers that estimate what no sensor reads."""
    norm: bool = False
    """Whether each hidden layer is followed by a layer norm."""


@dataclass(frozen=True)
class ConvCfg(MLPCfg):
    """Sizes of a policy of plain layers, and of its critic, with a convolutional encoder each."""

    name: ClassVar[str] = "conv"
    widths: ClassVar[tuple[str, ...]] = (*MLPCfg.widths, "channels", "kernels", "strides")
    channels: tuple[int, ...] = (40, 20)
    """Channels of the motion encoder's convolutions, between its layer of a frame and its output."""
    kernels: tuple[int, ...] = (6, 4)
    """Frames that each convolution sees at a time."""
    strides: tuple[int, ...] = (2, 2)
    """Frames from one such window to the next."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_convolutions(self.future_encoder)

    @property
    def future_encoder(self) -> ConvSizes:
        """Return the sizes of the encoder of the coming motion."""
        return ConvSizes(self.encoder[0], self.channels, self.kernels, self.strides, self.encoder[1])


@dataclass(frozen=True)
class LatentCfg(ConvCfg):
    """Sizes of a policy that is given a latent of what no robot senses, or of its past instead."""

    name: ClassVar[str] = "latent"
    widths: ClassVar[tuple[str, ...]] = (
        *ConvCfg.widths, "privileged", "past_encoder", "past_channels", "past_kernels", "past_strides"
    )  # fmt: skip
    privileged: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers from privileged facts to the latent."""
    past_encoder: tuple[int, int] = (30, 64)
    """Width of the past's encoder's layer of a step, and of the latent."""
    past_channels: tuple[int, ...] = (20, 10)
    """Channels of its convolutions."""
    past_kernels: tuple[int, ...] = (4, 2)
    """Control steps that each convolution sees at a time."""
    past_strides: tuple[int, ...] = (2, 1)
    """Control steps from one such window to the next."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_convolutions(self.history_encoder)

    @property
    def history_encoder(self) -> ConvSizes:
        """Return the sizes of the encoder of the past."""
        own = self.past_encoder
        return ConvSizes(own[0], self.past_channels, self.past_kernels, self.past_strides, own[1])


def check_convolutions(sizes: ConvSizes) -> None:
    """Check that each convolution has channels, a kernel and a stride."""
    if not len(sizes.channels) == len(sizes.kernels) == len(sizes.strides):
        raise ConfigError(
            f"channels {sizes.channels}, kernels {sizes.kernels} and strides {sizes.strides}; expected one of each per "
            "convolution"
        )


@dataclass(frozen=True)
class TransformerCfg(NetworkCfg):
    """Sizes of a policy of tokens, one of the robot's own state and one a coming frame, and of its critic."""

    name: ClassVar[str] = "transformer"
    widths: ClassVar[tuple[str, ...]] = ("embedding", "hidden", "critic", "latent")
    width: int = 64
    """Width of a token."""
    layers: int = 1
    """Layers of attention."""
    heads: int = 4
    """Heads of attention."""
    feedforward: int = 128
    """Width of what follows the attention in each layer."""
    embedding: tuple[int, ...] = (128,)
    """Widths of the hidden layers that make tokens."""
    hidden: tuple[int, ...] = (256, 128)
    """Widths of the hidden layers after the own token."""
    critic: tuple[int, ...] = (256, 128, 64)
    """Widths of the critic's hidden layers."""
    latent: tuple[int, ...] = ()
    """For a masked policy that draws what it is not told: width of the latent, then of the hidden layers of its
    posterior; empty for one that acts by what it is told alone."""
    squashed: bool = False
    """Whether actions are within -1 and 1."""
    fixed_std: bool = False
    """Whether the standard deviation of the actions is not learned."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("width", WIDEST), ("feedforward", WIDEST), ("layers", DEEPEST), ("heads", self.width)):
            if not isinstance(number := getattr(self, name), int) or not 1 <= number <= most:
                raise ConfigError(f"{name} is {number!r}; expected a whole number from 1 to {most}")
        if self.width % self.heads:
            raise ConfigError(f"a width of {self.width} does not split into {self.heads} heads; choose a divisor of it")


NETWORKS: dict[str, type[NetworkCfg]] = {cfg.name: cfg for cfg in (MLPCfg, ConvCfg, LatentCfg, TransformerCfg)}
"""Settings by the network's name, as a run's description has it."""
