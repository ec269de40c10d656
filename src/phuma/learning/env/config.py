"""Settings of the environments of a training run."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.errors import ConfigError
from phuma.learning.env.conditions import CONDITIONS
from phuma.sim.feedforward import BASES


@dataclass(frozen=True)
class EnvironmentCfg:
    """Settings of the environments that a policy learns in."""

    environments: int = 256
    """Number of environments that are simulated at a time."""
    substeps: int = 2
    """Physics steps per control step of 20 ms."""
    base: str = "feedforward"
    """Name of what an action is added to: one of `sim.feedforward.BASES`."""
    differences: bool = False
    """Whether the policy observes how far it is from the reference now, where its recipe leaves that open."""
    history: int = 1
    """Control steps of its past that the policy observes, the present one too, where its recipe leaves that open; 1 for
    none."""
    history_stride: int = 1
    """Control steps between them, where its recipe leaves that open."""
    future: bool = True
    """Whether the policy observes the coming motion, where its recipe leaves that open."""
    frames: int = 15
    """Coming frames that the policy observes, where its recipe leaves that open."""
    stride: int = 1
    """Control steps between them."""
    near: int = 10
    """Near frames of which a masked policy is told."""
    near_stride: int = 1
    """Control steps between them."""
    far: int = 50
    """Control steps from the coming frame to the far one of which a masked policy is told."""
    condition: str = "all"
    """Name of what a masked policy is told of the coming frames: one of `env.masking.CONDITIONS`, or any."""
    forgiving: bool = True
    """Whether a joint beyond its soft limit is penalised only as far as the reference does not ask for it."""
    randomize: bool = False
    """Whether robots differ, sensors are noisy, robots are pushed and first states are off the reference, by the
    paper's table of randomization."""
    mirror: bool = False
    """Whether the mirror image of every motion is learned from too, where the robot is symmetric."""
    first: float = 0.0
    """Share of episodes that begin at the first frame of a motion; the others begin anywhere."""
    start: float = 0.0
    """Factor on the table's ranges of first states, where environments are not randomized."""
    noise: float = 0.0
    """Factor on the noise of what the policy senses, where environments are not randomized."""
    pushes: bool = False
    """Whether robots are pushed by the paper's table, where environments are not randomized."""
    rise: float = 0.0
    """Share of the training over which first states and pushes grow to their size, from a quarter of it; 0 where they
    are as large from the beginning on."""
    differ: bool = False
    """Whether robots differ in weight, strength, balance, grip and soles, where environments are not randomized."""

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ConfigError(f"no base {self.base!r}; there are: {', '.join(BASES)}")
        for name in ("first", "rise"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; a share from 0 to 1 is needed")
        for name in (
            "environments",
            "substeps",
            "history",
            "history_stride",
            "frames",
            "stride",
            "near",
            "near_stride",
            "far",
        ):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; at least 1 is needed")
        if self.condition not in CONDITIONS:
            raise ConfigError(f"no condition {self.condition!r}; there are: {', '.join(CONDITIONS)}")
