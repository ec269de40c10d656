"""Settings of networks."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.errors import ConfigError

WIDEST, DEEPEST = 8192, 20
"""Largest width and number of layers: an untrusted run may not ask for any amount of memory."""


@dataclass(frozen=True)
class NetworkCfg:
    """Sizes of the networks of a policy and its critic."""

    hidden: tuple[int, ...] = (256, 128, 64)
    """Widths of the hidden layers."""
    encoder: tuple[int, int] = (16, 64)
    """Width of the motion encoder's hidden layer, and of its output."""
    estimator: tuple[int, ...] = (128, 64)
    """Widths of the hidden layers that estimate what no sensor reads."""
    init_std: float = 0.4
    """Standard deviation of the actions at first."""

    def __post_init__(self) -> None:
        for name in ("hidden", "encoder", "estimator"):
            widths = getattr(self, name)
            if not all(isinstance(width, int) and 1 <= width <= WIDEST for width in widths) or len(widths) > DEEPEST:
                raise ConfigError(f"{name} is {widths}; expected at most {DEEPEST} whole numbers from 1 to {WIDEST}")
