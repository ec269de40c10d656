"""What is asked of an evaluation: the policy, the clips, the simulation; and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from phuma.errors import ConfigError
from phuma.learning.deploy.dialects.registry import OWN


@dataclass(frozen=True)
class EvaluateCfg:
    """What is asked of an evaluation."""

    policy: Path
    """The folder of a training run, or a policy.onnx"""
    dataset: Path
    """The folder of the dataset"""
    robot: str | None = None
    """Name or folder of the policy's robot, needed where it is not built in"""
    split: str | None = None
    """The clips to judge by: train, test or all; None for those that `own_clips` chooses"""
    where: str | None = None
    """Only clips under this condition, in SQL; None for that of training on this dataset"""
    physics_dt: float | None = None
    """Length of a physics step, s; None for that of training"""
    noise: float = 0.0
    """Noise of observations, as a multiple of the paper's"""
    pushes: bool = False
    """Whether the robot is pushed every 1 to 3 s"""
    seed: int = 0
    """Seed of all random numbers"""
    stage: str | None = None
    """The stage of a run; None for the last one that was begun"""
    dialect: str = OWN
    """Whose layout a policy.onnx has"""
    episodes: int = 1
    """Rollouts per clip"""
    condition: str | None = None
    """What a masked policy is told; None for what it was trained with"""
    out: Path | None = None
    """The folder that every rollout is written to; None to write none"""
    sim2sim: bool = False
    """Whether it is judged in every world instead"""
    worlds: Path | None = None
    """A file of worlds beside the built-in ones"""
    model: Path | None = None
    """The maker's own model file of the robot, which is a world"""


def check_numbers(asked: EvaluateCfg) -> None:
    """Raise a ConfigError for options that are out of range, and for an `out` that is not empty."""
    check_range("episodes", asked.episodes, 1, 10_000)
    check_rollouts(asked.noise, asked.seed)
    if not asked.sim2sim and (asked.worlds is not None or asked.model is not None):
        raise ConfigError("--worlds and --model are for --sim2sim: give that too")
    if asked.sim2sim:
        check_alone("--sim2sim", asked.physics_dt, asked.noise, asked.pushes)
        if asked.out is not None:
            raise ConfigError("--sim2sim and --out: rollouts are written of one world at a time; leave one out")
    if asked.out is not None and asked.out.exists() and (not asked.out.is_dir() or any(asked.out.iterdir())):
        raise ConfigError(f"{asked.out} exists and is not an empty folder; choose another one for the rollouts")


def check_rollouts(noise: float, seed: int) -> None:
    """Raise a ConfigError for a noise or a seed that is out of range."""
    check_range("noise", noise, 0.0, 100.0)
    check_range("seed", seed, 0, 2**32 - 1)


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Raise a ConfigError if the value of an option is not between `least` and `most`."""
    if not least <= value <= most:
        raise ConfigError(f"--{name} {value:g}; expected {least:g} to {most:g}")


def check_alone(option: str, physics_dt: float | None, noise: float, pushes: bool) -> None:
    """Raise a ConfigError where a world is asked for by an option and the simulation is described beside it."""
    given = {"--physics-dt": physics_dt is not None, "--noise": noise != 0, "--pushes": pushes}
    for name in (name for name, there in given.items() if there):
        raise ConfigError(f"{option} and {name}: worlds say that; write one of your own and name its file by --worlds")
