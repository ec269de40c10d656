"""A training run from its first step to its last: with a budget, curves, checkpoints and a look at how it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from phuma import __version__
from phuma.errors import ConfigError, PhumaError, ReadError, missing_extra
from phuma.evaluation import ERRORS, SHARES
from phuma.files.lock import locked
from phuma.learning.config import LearnCfg
from phuma.learning.library import MotionLibrary
from phuma.learning.policy import info_of
from phuma.learning.run import RunFolder, RunInfo
from phuma.policies import judge_policy, library_id

try:
    import torch
    from torch.utils.tensorboard import SummaryWriter

    from phuma.learning.torch_policy import TorchPolicy
    from phuma.learning.trainer import Trainer
except ModuleNotFoundError as e:
    raise missing_extra(e, "training") from None

TELL_EVERY = 10.0  # s
LOOK_EVERY = 60.0
"""s between checkpoints, and between looks at how it does; looks that take long are rarer, for 1/20 of the time"""
LOOK_SHARE = 20
LOOK_AT = 32
"""motions at most, evenly over the library"""


@dataclass(frozen=True)
class Budget:
    """How long a run is, earlier sessions included; whichever ends first."""

    steps: int | None = None
    """of environments"""
    minutes: float | None = None

    def over(self, steps: int, seconds: float) -> bool:
        return steps >= (self.steps or np.inf) or seconds >= 60 * (self.minutes or np.inf)


@dataclass(frozen=True)
class Progress:
    """How a run is doing."""

    steps: int
    """of environments, in all"""
    seconds: float
    """in all"""
    rate: float
    """environment steps a second since the last time"""
    values: Mapping[str, float]
    """what `Trainer.iterate` told, averaged since the last time"""
    look: Mapping[str, Any] | None
    """The last `total` of an evaluation: see `evaluation.summarise`"""


@dataclass
class _Recent:
    """What was told since the last time."""

    steps: int
    time: float = field(default_factory=time.monotonic)
    sums: dict[str, float] = field(default_factory=dict)
    count: int = 0

    def add(self, values: Mapping[str, float]) -> None:
        self.sums = {name: self.sums.get(name, 0.0) + value for name, value in values.items()}
        self.count += 1


def train_policy(
    library: MotionLibrary,
    out: str | Path,
    cfg: LearnCfg | None,
    budget: Budget,
    data: Mapping[str, Any] | None = None,
    device: str = "cpu",
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[Progress], object] = lambda progress: None,
) -> RunFolder:
    """Train on a library until the budget is used up or `stop()`; the run is in the folder `out`.

    Without `cfg` the run in `out` goes on as it was begun, from its last checkpoint; other motions are an error.
    `data` says where the motions came from. Training that diverges is an error, and the last checkpoint stays."""
    torch.set_num_threads(1)
    folder = RunFolder(out)
    if cfg is None:
        info = folder.info()
        _check_data(info, library, folder)
    else:
        folder.check_free()
        about = {**(data or {}), "id": library_id(library)}
        info = RunInfo(info_of(library.robot, cfg, about, __version__), cfg, len(library))
    trainer = Trainer(library, info.cfg, device)
    if cfg is not None:
        folder.begin(info)
    with locked(folder.lock):
        seconds = 0.0
        if cfg is not None:
            folder.save(trainer.snapshot() | {"seconds": np.array(0.0)})
        elif folder.checkpoint.exists():
            seconds = _restore(trainer, folder)
        _Session(trainer, folder, info, seconds, tell).run(budget, stop)
    return folder


def _check_data(info: RunInfo, library: MotionLibrary, folder: RunFolder) -> None:
    policy = info.policy
    if policy.robot != library.robot.name:
        raise ConfigError(f"the run in {folder.root} is of robot {policy.robot}, not {library.robot.name}")
    policy.check(library.robot)
    if policy.data.get("id") != (found := library_id(library)):
        raise ConfigError(
            f"the run in {folder.root} learned from {info.motions} other motions ({policy.data.get('id')}) than these "
            f"{len(library)} ({found}); give its own dataset, {policy.data.get('dataset')}, unchanged"
        )


def _restore(trainer: Trainer, folder: RunFolder) -> float:
    """Go on from the last checkpoint; returns the seconds that were spent."""
    arrays = folder.load()
    try:
        trainer.restore(arrays)
        return float(arrays["seconds"])
    except (PhumaError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as e:
        raise ReadError(folder.checkpoint, f"is not of this run: {type(e).__name__} {e}") from None


class _Session:
    """From where the trainer is to the end of the budget."""

    def __init__(
        self, trainer: Trainer, folder: RunFolder, info: RunInfo, spent: float, tell: Callable[[Progress], object]
    ) -> None:
        self.trainer, self.folder, self.tell = trainer, folder, tell
        self.began = time.monotonic() - spent
        self.policy = TorchPolicy(trainer.net, info.policy)
        self.shown = trainer.library.part(np.linspace(0, len(trainer.library) - 1, LOOK_AT).round().astype(int))
        self.look: Mapping[str, Any] | None = None
        self.recent = _Recent(trainer.steps)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def run(self, budget: Budget, stop: Callable[[], bool]) -> None:
        trainer = self.trainer
        saved, next_look = self.seconds, self.seconds + LOOK_EVERY
        with SummaryWriter(str(self.folder.root), purge_step=trainer.steps + 1, flush_secs=10) as curves:
            while not (stop() or budget.over(trainer.steps, self.seconds)):
                values = trainer.iterate()
                self.recent.add(values)
                for name, value in values.items():
                    curves.add_scalar(name if "/" in name else f"training/{name}", value, trainer.steps)
                if self.seconds >= next_look:
                    next_look = self._take_look(curves)
                if self.seconds - saved >= LOOK_EVERY:
                    self._save()
                    saved = self.seconds
                if time.monotonic() - self.recent.time >= TELL_EVERY:
                    self._tell(curves)
            self._save()
            if not stop():
                self._take_look(curves)
            self._tell(curves)

    def _save(self) -> None:
        self.folder.save(self.trainer.snapshot() | {"seconds": np.array(self.seconds)})

    def _take_look(self, curves: SummaryWriter) -> float:
        """See how it does without noise, from first frames; returns when to do so again."""
        before = self.seconds
        total = judge_policy(self.policy, self.shown)["total"]
        self.look = total
        for name in SHARES:
            curves.add_scalar(f"tracking/{name}", total[name], self.trainer.steps)
        for name in ERRORS:
            if (value := total["up_to_failure"][name]) is not None:
                curves.add_scalar(f"errors/{name}", value, self.trainer.steps)
        return self.seconds + max(LOOK_EVERY, LOOK_SHARE * (self.seconds - before))

    def _tell(self, curves: SummaryWriter) -> None:
        recent, now = self.recent, time.monotonic()
        if not recent.count:
            return
        rate = (self.trainer.steps - recent.steps) / (now - recent.time)
        curves.add_scalar("training/steps_per_second", rate, self.trainer.steps)
        means = {name: value / recent.count for name, value in recent.sums.items()}
        self.tell(Progress(self.trainer.steps, self.seconds, rate, means, self.look))
        self.recent = _Recent(self.trainer.steps)
