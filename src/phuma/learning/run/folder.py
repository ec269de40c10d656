"""A training run on disk: a folder with what it was made of, the checkpoints of its stages and its curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.names import did_you_mean
from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError
from phuma.io.atomic import save_npz, write_atomic
from phuma.io.json_file import read_json
from phuma.io.npz import load_npz
from phuma.io.probe import Probe
from phuma.learning.algorithms.config import ALGORITHMS
from phuma.learning.deploy.policy import OBSERVED, PolicyInfo, info_from_plain, info_of
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import DisturbancesCfg
from phuma.learning.nets.config import NETWORKS, MLPCfg
from phuma.learning.recipes.recipe import RunCfg, StageCfg
from phuma.learning.run import version_1, version_2
from phuma.robots.robot import Robot

FORMAT, VERSION = "phuma-run", 3


@dataclass(frozen=True)
class RunInfo:
    """The description of a run, written before it begins."""

    policies: Mapping[str, PolicyInfo]
    """Descriptions of the policies of each stage: for which robot, as it was then, and from what data"""
    cfg: RunCfg
    motions: int
    """Number of motions that the run learns from"""

    def __post_init__(self) -> None:
        for stage, policy in self.policies.items():
            environment = self.cfg.stages[stage].environment
            for name in OBSERVED:
                if (own := getattr(policy, name)) != (given := getattr(environment, name)):
                    raise ConfigError(f"{name} is {own!r} of the policy and {given!r} of its learning")

    def policy(self, stage: str) -> PolicyInfo:
        """Return the description of a stage's policy."""
        if stage not in self.policies:
            raise ConfigError(f"no stage {stage!r}; the run has: {', '.join(self.policies)}")
        return self.policies[stage]

    @property
    def last(self) -> PolicyInfo:
        """Return the description of the last stage's policy, which is the run's."""
        return self.policies[tuple(self.policies)[-1]]


def run_info(robot: Robot, cfg: RunCfg, motions: int, data: Mapping[str, Any], phuma: str) -> RunInfo:
    """Return the description of a new run."""
    policies = {
        stage: info_of(robot, cfg.algo, stage, own.environment, data, phuma) for stage, own in cfg.stages.items()
    }
    return RunInfo(policies, cfg, motions)


class RunFolder:
    """The folder of a run: `run.json`, `checkpoint_STAGE.npz` (no pickle), `events...` for TensorBoard, `.lock`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.description = self.root / "run.json"
        self.lock = self.root / ".lock"

    def checkpoint(self, stage: str) -> Path:
        """Return the file of a stage's last checkpoint."""
        own, before = self.root / f"checkpoint_{stage}.npz", self.root / version_1.CHECKPOINT
        return before if stage == version_1.STAGE and before.exists() and not own.exists() else own

    def begin(self, info: RunInfo) -> None:
        """Make the folder; an earlier run in it is an error, and so is anything else."""
        self.check_free()
        self.root.mkdir(parents=True, exist_ok=True)
        document = {
            "format": FORMAT,
            "format_version": VERSION,
            "algo": info.cfg.algo,
            "seed": info.cfg.seed,
            "teacher": info.cfg.teacher,
            "motions": info.motions,
            "stages": {
                name: {
                    "environment": asdict(own.environment),
                    "network": {"name": own.network.name, **asdict(own.network)},
                    "algorithm": {"name": own.algorithm.name, **asdict(own.algorithm)},
                    "policy": info.policies[name].as_plain(),
                }
                for name, own in info.cfg.stages.items()
            },
        }
        text = json.dumps(document, indent=2) + "\n"
        write_atomic(self.description, lambda f: f.write(text.encode()))

    def check_free(self) -> None:
        """Check that a run can begin here without overwriting anything."""
        if self.description.exists():
            raise ConfigError(f"{self.root} holds a run already: go on with --resume, or choose another folder")
        if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
            raise ConfigError(f"{self.root} exists and is not an empty folder; choose another one")

    def info(self) -> RunInfo:
        """Return the description of the run; every fault of the file is a ReadError."""
        if not self.description.exists():
            raise ReadError(self.root, "is not a training run: there is no run.json in it")
        try:
            document = read_json(self.description)
            if document["format"] != FORMAT:
                raise ValueError(f"format is {document['format']!r}, expected {FORMAT!r}")
            if (version := document["format_version"]) > VERSION:
                newer = f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma"
                raise ReadError(self.description, newer)
            return _info(of_this_version(document))
        except ReadError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError, ConfigError) as e:
            raise ReadError(self.description, f"is damaged: {type(e).__name__} {e}") from None

    def reached_stage(self) -> str:
        """Return the last stage that has a checkpoint."""
        stages = tuple(self.info().cfg.stages)
        begun = [stage for stage in stages if self.checkpoint(stage).exists()]
        return begun[-1] if begun else stages[0]

    def begun_stage(self, wanted: str | None) -> str:
        """Return the stage whose policy is wanted, which has to have a checkpoint; with None the last one that has."""
        if wanted is None:
            return self.reached_stage()
        begun = [stage for stage in self.info().cfg.stages if self.checkpoint(stage).exists()]
        if wanted not in begun:
            has = ", ".join(begun) or "no checkpoint of any stage"
            raise ConfigError(f"--stage {wanted}{did_you_mean(wanted, begun)}: {self.root} has {has}")
        return wanted

    def reached(self) -> tuple[int, float]:
        """Return the environment steps and seconds of all stages up to their last checkpoints."""
        each = [self.spent(stage) for stage in self.info().cfg.stages]
        return sum(steps for steps, _ in each), sum(seconds for _, seconds in each)

    def spent(self, stage: str) -> tuple[int, float]:
        """Return the environment steps and seconds of a stage's last checkpoint; zero without one."""
        if not self.checkpoint(stage).exists():
            return 0, 0.0
        arrays = self.load(stage)
        try:
            return int(arrays["counts"][1]), float(arrays["seconds"])
        except (KeyError, IndexError, ValueError, TypeError):
            raise ReadError(self.checkpoint(stage), "does not say how far it is: is it of this run?") from None

    def save(self, stage: str, arrays: Mapping[str, Array]) -> None:
        """Replace a stage's last checkpoint, whole or not at all; uncompressed, as samples hardly shrink."""
        save_npz(self.root / f"checkpoint_{stage}.npz", {"format": np.array(FORMAT), **arrays}, level=0)

    def load(self, stage: str) -> dict[str, Array]:
        """Return a stage's last checkpoint; it is never unpickled, and one that is cut short is a ReadError."""
        path = self.checkpoint(stage)
        if not path.exists():
            raise ReadError(self.root, "has no checkpoint: train it first, or go on with it by `phuma train --resume`")
        try:
            arrays = load_npz(path, Probe(path).arrays)
        except ReadError as e:
            raise ReadError(
                path, f"is cut short, or no checkpoint ({e.problem}); take a copy of it, or begin a new run"
            ) from None
        if str(arrays.pop("format", "")) != FORMAT:
            raise ReadError(path, f"is not a checkpoint of a {FORMAT}")
        for name, value in arrays.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise ReadError(path, f"holds non-finite values, in {name}")
        return version_1.checkpoint(arrays) if path.name == version_1.CHECKPOINT else arrays


def of_this_version(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a `run.json` of this or an earlier version in today's layout."""
    version = document["format_version"]
    if version == 1:
        document = version_1.description(document)
    return version_2.description(document) if version <= 2 else document


def _info(document: Mapping[str, Any]) -> RunInfo:
    """Return the run's description from the values of a `run.json` of this version."""
    stages, policies = {}, {}
    for name, own in document["stages"].items():
        network, algorithm = dict(own["network"]), dict(own["algorithm"])
        stages[name] = StageCfg(
            _environment(own["environment"]),
            _made(NETWORKS[network.pop("name", MLPCfg.name)], network),
            _made(ALGORITHMS[algorithm.pop("name")], algorithm),
        )
        policies[name] = info_from_plain(own["policy"])
    return RunInfo(
        policies, RunCfg(document["algo"], stages, document["seed"], document.get("teacher")), int(document["motions"])
    )


def _environment(values: Mapping[str, Any]) -> EnvironmentCfg:
    return _made(EnvironmentCfg, {**values, "disturbances": _made(DisturbancesCfg, values["disturbances"])})


def _made(kind: type, values: Mapping[str, Any]) -> Any:
    """Return a configuration from plain values; names that are not known here are left out."""
    known = {f.name for f in fields(kind)}
    given = {name: value for name, value in values.items() if name in known}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
