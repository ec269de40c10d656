"""A training run on disk: a folder with what it was made of, its last checkpoint and its curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from phuma.errors import ConfigError, ReadError
from phuma.files.arrays import load_npz
from phuma.files.atomic import save_npz, write_atomic
from phuma.files.probe import Probe
from phuma.learning.config import LearnCfg
from phuma.learning.policy import PolicyInfo, info_from_plain
from phuma.rotations import Array

FORMAT, VERSION = "phuma-run", 1


@dataclass(frozen=True)
class RunInfo:
    """What a run was made of; written before it begins."""

    policy: PolicyInfo
    """What is learned: for which robot, as it was then, and from what"""
    cfg: LearnCfg
    motions: int
    """How many it learns from"""

    def __post_init__(self) -> None:
        for name in ("algo", "base", "future", "substeps"):
            if (own := getattr(self.policy, name)) != (given := getattr(self.cfg, name)):
                raise ConfigError(f"{name} is {own!r} of the policy and {given!r} of its learning")


class RunFolder:
    """`run.json`, `checkpoint.npz` (no pickle), `events...` for TensorBoard, `.lock` of who trains."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.description, self.checkpoint = self.root / "run.json", self.root / "checkpoint.npz"
        self.lock = self.root / ".lock"

    def begin(self, info: RunInfo) -> None:
        """Make the folder; an earlier run in it is an error, and so is anything else."""
        self.check_free()
        self.root.mkdir(parents=True, exist_ok=True)
        policy, cfg = info.policy.as_plain(), asdict(info.cfg)
        document = {"format": FORMAT, "format_version": VERSION, "policy": policy, "cfg": cfg, "motions": info.motions}
        text = json.dumps(document, indent=2) + "\n"
        write_atomic(self.description, lambda f: f.write(text.encode()))

    def check_free(self) -> None:
        """That a run can begin here without overwriting anything."""
        if self.description.exists():
            raise ConfigError(f"{self.root} holds a run already: go on with --resume, or choose another folder")
        if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
            raise ConfigError(f"{self.root} exists and is not an empty folder; choose another one")

    def info(self) -> RunInfo:
        """What the run was made of; every fault of the file is a ReadError."""
        try:
            document = json.loads(self.description.read_text())
            if document["format"] != FORMAT:
                raise ValueError(f"format is {document['format']!r}, expected {FORMAT!r}")
            if (version := document["format_version"]) > VERSION:
                newer = f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma"
                raise ReadError(self.description, newer)
            known = {f.name for f in fields(LearnCfg)}
            given = {name: value for name, value in document["cfg"].items() if name in known}
            cfg: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items()}
            return RunInfo(info_from_plain(document["policy"]), LearnCfg(**cfg), int(document["motions"]))
        except ReadError:
            raise
        except (FileNotFoundError, NotADirectoryError):
            raise ReadError(self.root, "is not a training run: there is no run.json in it") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, ConfigError) as e:
            raise ReadError(self.description, f"is damaged: {type(e).__name__} {e}") from None

    def reached(self) -> tuple[int, float]:
        """Environment steps and seconds of the last checkpoint; zero without one."""
        if not self.checkpoint.exists():
            return 0, 0.0
        arrays = self.load()
        try:
            return int(arrays["counts"][1]), float(arrays["seconds"])
        except (KeyError, IndexError, ValueError, TypeError):
            raise ReadError(self.checkpoint, "does not say how far it is: is it of this run?") from None

    def save(self, arrays: Mapping[str, Array]) -> None:
        """Take the place of the last checkpoint, whole or not at all."""
        save_npz(self.checkpoint, {"format": np.array(FORMAT), **arrays})

    def load(self) -> dict[str, Array]:
        """The last checkpoint; it is never unpickled, and one that is cut short is a ReadError."""
        if not self.checkpoint.exists():
            raise ReadError(self.root, "has no checkpoint: train it first, or go on with it by `phuma train --resume`")
        try:
            arrays = load_npz(self.checkpoint, Probe(self.checkpoint).arrays)
        except ReadError as e:
            raise ReadError(
                self.checkpoint, f"is cut short, or no checkpoint ({e.problem}); take a copy of it, or begin a new run"
            ) from None
        if str(arrays.pop("format", "")) != FORMAT:
            raise ReadError(self.checkpoint, f"is not a checkpoint of a {FORMAT}")
        for name, value in arrays.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise ReadError(self.checkpoint, f"holds numbers that mean nothing (NaN or infinite), in {name}")
        return arrays
