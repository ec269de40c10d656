"""What is asked of a training: the dataset, the run, how long, and how a new run is begun; and what is wrong with it.

None is what was not asked for: a new run takes the default, one that goes on what it was begun with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from phuma.errors import ConfigError

ROBOT, ALGO = "g1", "beyondmimic"
MOST = 1e12  # steps or minutes
OBSERVATIONS = {"paper": False, "differences": True}
"""Whether differences are observed, by the option's value"""


@dataclass(frozen=True)
class TrainCfg:
    """What is asked of a training."""

    dataset: Path
    """The folder of the dataset"""
    out: Path
    """The run's folder"""
    robot: str | None = None
    """Name or folder of the robot; None for ROBOT, or for the run's with `resume`"""
    where: str | None = None
    """Only clips under this condition, in SQL"""
    split: str | None = None
    """The clips to learn from: train or all; None for train"""
    minutes: float | None = None
    """Time to train; None for what `default_minutes` says, unless `steps` are given"""
    steps: int | None = None
    """Environment steps to train, instead of minutes"""
    jobs: int | None = None
    """Processes that certify; None for one for each processor"""
    ray: str | None = None
    """Address of the Ray cluster that certifies, empty for a Ray of its own; None for processes"""
    device: str = "cpu"
    """cpu, or cuda"""
    resume: bool = False
    """Whether the run in `out` goes on, with its settings"""
    finetune: float | None = None
    """Minutes of PPO after what is learned from experts"""
    begin: str | None = None
    """What a new run begins from: EXPERTS or SCRATCH; None for the best that the recipe can"""
    algo: str | None = None
    """The recipe's name; None for ALGO"""
    stage: str | None = None
    """The stage that is learned alone: teacher or student"""
    teacher: str | None = None
    """What a student alone learns from: a run, or EXPERTS"""
    condition: str | None = None
    """What a masked student is told"""
    preset: str | None = None
    """Sizes of networks and settings of learning; None for CPU"""
    randomize: bool | None = None
    """Whether physics is randomized, with noise and pushes"""
    disturb: bool | None = None
    """Whether there are noise and pushes, with physics as it is"""
    no_future: bool | None = None
    """Whether the policy does not see the coming 1.9 s"""
    observations: str | None = None
    """What the policy observes: a name of OBSERVATIONS"""
    base: str | None = None
    """What an action is added to"""
    seed: int | None = None
    """Seed of all random numbers; None for 0"""


def check_numbers(asked: TrainCfg) -> None:
    """Raise a ConfigError for options that are out of range."""
    if asked.minutes is not None and asked.steps is not None:
        raise ConfigError("--minutes and --steps: give one of them")
    if asked.finetune is not None and asked.steps is not None:
        raise ConfigError("--finetune is in minutes: give --minutes instead of --steps with it")
    for name in ("minutes", "steps", "finetune"):
        value = getattr(asked, name)
        if value is not None and not 0 < value < MOST:
            raise ConfigError(f"--{name} {value:g}; expected more than 0 and less than {MOST:g}")
    if asked.disturb and asked.randomize:
        raise ConfigError("--disturb and --randomize: give one of them; --randomize has noise and pushes, too")
    if asked.device.partition(":")[0] not in ("cpu", "cuda"):
        raise ConfigError(f"--device {asked.device!r}; expected cpu, cuda, or one of several like cuda:1")
    if asked.seed is not None and not 0 <= asked.seed < 2**32:
        raise ConfigError(f"--seed {asked.seed}; expected 0 to {2**32 - 1}")


def check_out(asked: TrainCfg) -> None:
    """Raise a ConfigError for a run inside the dataset, which holds only what its manifest names."""
    if asked.dataset.resolve() in (asked.out.resolve(), *asked.out.resolve().parents):
        raise ConfigError(f"--out {asked.out} lies in the dataset {asked.dataset}; choose a folder outside of it")


def check_device(device: str) -> None:
    """Raise a ConfigError for a device that torch does not find; torch has to be installed."""
    import torch

    if device != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"--device {device}: torch finds no GPU here; leave it out to train on the CPU")
