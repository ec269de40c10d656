"""Settings of networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from phuma.errors import ConfigError

WIDEST, DEEPEST = 8192, 20
"""Largest width and number of layers: an untrusted run may not ask for any amount of memory."""


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


NETWORKS: dict[str, type[NetworkCfg]] = {cfg.name: cfg for cfg in (MLPCfg,)}
"""Settings by the network's name, as a run's description has it."""
