"""The settings of learning algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from phuma.errors import ConfigError


@dataclass(frozen=True)
class AlgorithmCfg:
    """Settings that every algorithm has."""

    name: ClassVar[str]
    horizon: int = 16
    """Control steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Learning rate of the actor at first."""
    weight_decay: float = 0.0
    epochs: int = 4
    """Passes over the samples of an update."""
    minibatches: int = 3
    """Parts into which the samples of a pass are split."""
    max_grad_norm: float = 1.0
    """Length at which gradients are cut."""

    def __post_init__(self) -> None:
        for name in ("horizon", "epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; at least 1 is needed")


@dataclass(frozen=True)
class PPOCfg(AlgorithmCfg):
    """Settings of proximal policy optimisation."""

    name: ClassVar[str] = "ppo"
    critic_rate: float = 1e-3
    """Learning rate of the critic and of the actions' standard deviation."""
    desired_kl: float = 0.03
    """Divergence per update to aim at: the actor's learning rate rises while an update changes the policy by less than
    half of this, and falls once it is more than twice this; 0 for a fixed rate."""
    gamma: float = 0.99
    """Discount per control step."""
    lam: float = 0.95
    """Decay of advantages over control steps."""
    clip: float = 0.3
    """Clipping range: how far the likelihood of an action may change for its gain to count."""
    entropy: float = 0.002
    """Weight of the actions' entropy."""
    value: float = 1.0
    """Weight of the critic's loss."""


@dataclass(frozen=True)
class DistillationCfg(AlgorithmCfg):
    """Settings of imitating a teacher that labels what the student visits."""

    name: ClassVar[str] = "distillation"


ALGORITHMS: dict[str, type[AlgorithmCfg]] = {cfg.name: cfg for cfg in (PPOCfg, DistillationCfg)}
"""Settings by the algorithm's name, as a run's description has it."""
