"""The settings of learning algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from phuma.errors import ConfigError


@dataclass(frozen=True)
class AlgorithmCfg:
    """Settings that every algorithm has."""

    name: ClassVar[str]
    settles: ClassVar[bool] = False
    """Whether evaluations that no longer improve mean that nothing more is to be learned"""
    horizon: int = 16
    """Control steps of each environment between two updates."""
    learning_rate: float = 1e-3
    """Learning rate of the actor at first."""
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    """Length at which gradients are cut."""

    counts: ClassVar[tuple[str, ...]] = ("horizon",)
    """Names of settings that are at least 1"""

    def __post_init__(self) -> None:
        for name in self.counts:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; at least 1 is needed")

    @property
    def least_samples(self) -> int:
        """Return how many samples an update needs."""
        return 1


@dataclass(frozen=True)
class PPOCfg(AlgorithmCfg):
    """Settings of proximal policy optimisation."""

    name: ClassVar[str] = "ppo"
    counts: ClassVar[tuple[str, ...]] = ("horizon", "epochs", "minibatches")
    epochs: int = 4
    """Passes over the samples of an update."""
    minibatches: int = 3
    """Parts into which the samples of a pass are split."""
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

    @property
    def least_samples(self) -> int:
        return self.minibatches


@dataclass(frozen=True)
class DistillationCfg(AlgorithmCfg):
    """Settings of imitating a teacher that labels what the student visits."""

    name: ClassVar[str] = "distillation"
    settles: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("horizon", "updates", "batch", "memory")
    updates: int = 96
    """Steps of the optimizer between two times of acting."""
    batch: int = 1024
    """Samples of a step."""
    memory: int = 200_000
    """Samples that are kept, the latest: about 1 kB each on the G1."""
    tolerance: float = 300.0
    """Cost of a deviation from the teacher's way at which its labels count half."""
    average: float = 0.995
    """Share of the averaged weights that a step leaves as it is."""


@dataclass(frozen=True)
class VariationalCfg(DistillationCfg):
    """Settings of imitation by a policy with a latent."""

    name: ClassVar[str] = "variational"
    kl_first: float = 1e-4
    """Weight of the divergence of posterior and prior at first."""
    kl_last: float = 1e-2
    """Its weight in the end."""
    kl_from: float = 0.3
    """Share of the training after which it rises."""
    kl_until: float = 0.6
    """Share of the training after which it stays."""


@dataclass(frozen=True)
class FinetuningCfg(PPOCfg):
    """Settings of PPO from a distilled policy."""

    name: ClassVar[str] = "finetuning"
    learning_rate: float = 1e-4
    desired_kl: float = 0.01
    clip: float = 0.2
    entropy: float = 0.0
    anchor: float = 1.0
    """Weight of keeping to the teacher's labels at first; it fades to nothing."""
    tolerance: float = 300.0
    """Cost of a deviation from the teacher's way at which its labels count half."""
    warmup: float = 0.05
    """Share of the training in which the critic learns alone."""


ALGORITHMS: dict[str, type[AlgorithmCfg]] = {
    cfg.name: cfg for cfg in (PPOCfg, DistillationCfg, VariationalCfg, FinetuningCfg)
}
"""Settings by the algorithm's name, as a run's description has it."""
