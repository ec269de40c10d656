"""Settings of the environments of a training run."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.errors import ConfigError
from phuma.sim.feedforward import BASES


OBSERVATIONS = ("paper", "differences")


@dataclass(frozen=True)
class EnvironmentCfg:
    """Settings of the environments that a policy learns in."""

    environments: int = 256
    """Number of environments that are simulated at a time."""
    substeps: int = 2
    """Physics steps per control step of 20 ms."""
    base: str = "feedforward"
    """Name of what an action is added to: one of `sim.feedforward.BASES`."""
    observations: str = "paper"
    """What the policy observes of itself and the reference: `paper`, or `differences` too, of one from the other."""
    future: bool = True
    """Whether the policy observes the coming motion, where its recipe leaves that open."""
    randomize: bool = False
    """Whether robots differ, sensors are noisy, robots are pushed and first states are off the reference, by the
    paper's table of randomization."""
    start: float = 0.0
    """Factor on the table's ranges of first states, where environments are not randomized."""

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ConfigError(f"no base {self.base!r}; there are: {', '.join(BASES)}")
        if self.observations not in OBSERVATIONS:
            raise ConfigError(f"no observations {self.observations!r}; there are: {', '.join(OBSERVATIONS)}")
        for name in ("environments", "substeps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; at least 1 is needed")
