"""All that a training run is made of."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.errors import ConfigError

WIDEST, DEEPEST = 8192, 20
"""Of networks: a run of a stranger's may not ask for any amount of memory"""


@dataclass(frozen=True)
class LearnCfg:
    """Of a training run; presets are in `PRESETS`."""

    algo: str = "beyondmimic"
    """What is learned and how: `beyondmimic`"""
    environments: int = 256
    """Robots at a time"""
    horizon: int = 16
    """Control steps of each between two updates"""
    substeps: int = 2
    """Physics steps a control step of 20 ms"""
    base: str = "feedforward"
    """What an action is added to: `feedforward`, `reference` or `default`"""
    future: bool = True
    """Whether the policy sees the coming 1.9 s"""
    randomize: bool = False
    """Robots that differ, noise, pushes, first states off the reference: the paper's table"""
    hidden: tuple[int, ...] = (256, 128, 64)
    """Widths of the actor's and of the critic's layers"""
    encoder: tuple[int, int] = (16, 64)
    """Width of the motion encoder's layer, and of its output"""
    init_std: float = 0.4
    """Of the actions, at first"""
    learning_rate: float = 1e-3
    """Of the actor, at first; see desired_kl"""
    critic_rate: float = 1e-3
    """Learning rate of the critic and of the actions' spread"""
    desired_kl: float = 0.03
    """The actor's learning rate rises while an update has changed the policy by less than half of this, and falls once
    it is more than twice this; 0 for a fixed rate"""
    weight_decay: float = 0.0
    epochs: int = 4
    minibatches: int = 3
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.3
    entropy: float = 0.002
    value: float = 1.0
    """Weight of the critic's loss"""
    max_grad_norm: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.algo not in ALGORITHMS:
            raise ConfigError(f"no algorithm {self.algo!r}; there is: {', '.join(ALGORITHMS)}")
        if self.base not in BASES:
            raise ConfigError(f"no base {self.base!r}; there are: {', '.join(BASES)}")
        for name in ("environments", "horizon", "substeps", "epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; at least 1 is needed")
        for name in ("hidden", "encoder"):
            widths = getattr(self, name)
            if not all(isinstance(width, int) and 1 <= width <= WIDEST for width in widths) or len(widths) > DEEPEST:
                raise ConfigError(f"{name} is {widths}; expected at most {DEEPEST} whole numbers from 1 to {WIDEST}")
        if self.environments * self.horizon < self.minibatches:
            raise ConfigError(f"{self.environments} environments are too few for {self.minibatches} minibatches")


ALGORITHMS = ("beyondmimic",)
BASES = ("feedforward", "reference", "default")
PRESETS: dict[str, LearnCfg] = {
    "cpu": LearnCfg(),
    "paper": LearnCfg(
        environments=8192,
        substeps=4,
        base="default",
        hidden=(768, 512, 256),
        encoder=(60, 128),
        init_std=1.0,
        learning_rate=1e-5,
        critic_rate=1e-5,
        desired_kl=0.0,
        weight_decay=0.01,
        horizon=24,
        epochs=8,
        minibatches=4,
        clip=0.2,
        entropy=0.005,
        randomize=True,
    ),
}
