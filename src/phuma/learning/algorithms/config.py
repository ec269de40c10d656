"""The settings of learning algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from phuma.errors import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self

FEWEST = 16
"""Steps of the optimizer between two times of acting for any number of motions"""


@dataclass(frozen=True)
class AlgorithmCfg:
    """Settings that every algorithm has."""

    name: ClassVar[str]
    settles: ClassVar[bool] = False
    """Whether evaluations that no longer improve mean that nothing more is to be learned"""
    taught: ClassVar[bool] = False
    """Whether it learns from a teacher's labels"""
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

    def for_motions(self, motions: int) -> Self:
        """Return the settings for so many motions."""
        return self


@dataclass(frozen=True)
class PPOCfg(AlgorithmCfg):
    """Settings of proximal policy optimisation."""

    name: ClassVar[str] = "ppo"
    counts: ClassVar[tuple[str, ...]] = ("horizon", "epochs", "minibatches")
    epochs: int = 4
    """Passes over the samples of an update."""
    minibatches: int = 3
    """Parts into which the samples of a pass are split."""
    critic_rate: float | None = 1e-3
    """Learning rate of the critic and of the actions' standard deviation; None for the actor's, whatever it is."""
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
    taught: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("horizon", "updates", "batch", "memory")
    updates: int = 96
    """Steps of the optimizer between two times of acting, for one motion; for n motions their share 1 / sqrt(n)."""
    batch: int = 1024
    """Samples of a step."""
    memory: int = 400_000
    """Samples that are kept, drawn from all: 0.5 to 2.4 kB each on the G1, by what is observed."""
    tolerance: float = 300.0
    """Cost of a deviation from the teacher's way at which its labels count half."""
    average: float = 0.995
    """Share of the averaged weights that a step leaves as it is."""
    norm: bool = False
    """Whether the length of the difference to a label is minimised, not its mean square."""
    by_torque: bool = False
    """Whether joints count by the torques that their actions make, where the recipe leaves that open."""

    def for_motions(self, motions: int) -> Self:
        """Many motions are visited for longer, and as many steps as one needs would learn them by heart."""
        return replace(self, updates=max(min(self.updates, FEWEST), round(self.updates / motions**0.5)))


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

    def for_motions(self, motions: int) -> Self:
        """As many passes as the public code makes, however many motions there are."""
        return self


@dataclass(frozen=True)
class FinetuningCfg(PPOCfg):
    """Settings of PPO from a distilled policy."""

    name: ClassVar[str] = "finetuning"
    taught: ClassVar[bool] = True
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


@dataclass(frozen=True)
class LatentPPOCfg(PPOCfg):
    """Settings of PPO of a teacher that knows what its student has to guess."""

    name: ClassVar[str] = "latent_ppo"
    counts: ClassVar[tuple[str, ...]] = (*PPOCfg.counts, "guess_every")
    regulariser: float = 0.1
    """Weight of the distance between what is known and what is guessed, once it has risen."""
    rise: float = 0.1
    """Share of the training over which it rises."""
    guess_every: int = 20
    """Iterations of which the last acts by what is guessed, and learns to guess."""
    std: tuple[float, float] = (0.2, 1.2)
    """Bounds of the actions' standard deviation."""


ALGORITHMS: dict[str, type[AlgorithmCfg]] = {
    cfg.name: cfg for cfg in (PPOCfg, DistillationCfg, VariationalCfg, FinetuningCfg, LatentPPOCfg)
}
"""Settings by the algorithm's name, as a run's description has it."""
