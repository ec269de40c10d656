"""Train a policy from the first step to the last: stages, budget, curves, checkpoints and evaluations."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from phuma import __version__
from phuma.errors import ConfigError, PhumaError, ReadError, missing_extra
from phuma.evaluation import ERRORS, SHARES
from phuma.io.lock import locked
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes.recipe import EXPERTS, RunCfg, recipe_named
from phuma.learning.run.folder import RunFolder, RunInfo, run_info
from phuma.pipelines.evaluate_policy import judge_policy, library_id
from phuma.pipelines.settling import Settling
from phuma.runtime.distributed import decided, number

try:
    import torch
    from torch.utils.tensorboard import SummaryWriter

    from phuma.learning.deploy.torch_policy import TorchPolicy, policy_of_run
    from phuma.learning.run.runner import StageRunner
    from phuma.pipelines.best_policy import Best
    from phuma.pipelines.teachers import teacher_of
except ModuleNotFoundError as e:
    raise missing_extra(e, "training") from None

LOG_EVERY = 10.0  # s between logs
SAVE_EVERY = 60.0
"""Seconds between checkpoints."""
EVALUATE_EVERY = 20.0
"""Least seconds between evaluations, which take at most about 1/20 of the time."""
EVALUATION_SHARE = 20
EVALUATED = 32
"""The number of motions that are evaluated, at most; they are spread evenly over the library."""
ROLLOUTS = 16
"""The number of rollouts of an evaluation, at least."""
DISTURBED = {"start": 1.0, "noise": 1.0, "pushes": True}
"""How a policy is evaluated that is fine-tuned with randomization."""


@dataclass(frozen=True)
class Budget:
    """Limit the length of a run, earlier sessions included; the limit that is reached first ends it."""

    steps: int | None = None
    """Environment steps; None is no limit."""
    minutes: float | None = None
    """Minutes of training; None is no limit."""
    shares: Mapping[str, float] | None = None
    """Shares of the stages by their names, in any unit; None for the recipe's"""

    def used(self, steps: int, seconds: float) -> float:
        """Return the share of the budget that is used up, by environment steps or seconds."""
        return max(steps / (self.steps or np.inf), seconds / (60 * (self.minutes or np.inf)))


@dataclass(frozen=True)
class Progress:
    """Hold the progress of a run, as it is logged."""

    stage: str
    steps: int
    """Environment steps of the whole run."""
    seconds: float
    """Seconds of training of the whole run."""
    rate: float
    """Environment steps per second since the last log."""
    values: Mapping[str, float]
    """What `StageRunner.iterate` returned, averaged since the last log."""
    evaluation: Mapping[str, Any] | None
    """The `total` of the last evaluation, see `evaluation.summarise`; None before the first one."""


@dataclass
class _Recent:
    """Sum the values of the iterations since the last log."""

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
    cfg: RunCfg | None,
    budget: Budget,
    data: Mapping[str, Any] | None = None,
    device: str = "cpu",
    stop: Callable[[], bool] = lambda: False,
    log: Callable[[Progress], object] = lambda progress: None,
) -> RunFolder:
    """Train on a library until the budget is used up or `stop()` is true; return the run's folder `out`.

    Without `cfg` the run in `out` goes on as it was begun, from its last checkpoint; other motions are an error.
    `data` says where the motions came from. Training that diverges is an error, and the last checkpoint stays. Of
    several processes that train together the first one decides, evaluates and writes.
    """
    torch.set_num_threads(1)
    first_of_all = number() == 0
    folder = RunFolder(out)
    if cfg is None:
        info = folder.info()
        _check_data(info, library, folder)
    else:
        if first_of_all:
            folder.check_free()
        info = run_info(library.robot, cfg, len(library), {**(data or {}), "id": library_id(library)}, __version__)
    recipe, ends = recipe_named(info.cfg.algo), 0.0
    first = None if cfg is None else _runner(library, folder, info, next(iter(cfg.stages)), device)
    if cfg is not None and first_of_all:
        folder.begin(info)  # after the runner is made: what cannot begin leaves no folder behind
    stages = {name: recipe.stages[name] for name in info.cfg.stages}
    shares = budget.shares or {name: stage.share for name, stage in stages.items()}
    whole = sum(shares.values())
    with locked(folder.lock) if first_of_all else nullcontext():
        for name in stages:
            begins, ends = ends, ends + shares[name] / whole
            later = tuple(stages)[tuple(stages).index(name) + 1 :]
            if decided(any(folder.checkpoint(other).exists() for other in later) or stop(), device):
                continue  # it is done, or nothing more is to be done
            runner, first = first or _runner(library, folder, info, name, device), None
            _Training(runner, library, folder, info, log).run(budget, (begins, min(ends, 1.0)), stop)
    return folder


def _check_data(info: RunInfo, library: MotionLibrary, folder: RunFolder) -> None:
    policy = info.last
    if policy.robot != library.robot.name:
        raise ConfigError(f"the run in {folder.root} is of robot {policy.robot}, not {library.robot.name}")
    policy.check(library.robot)
    if policy.data.get("id") != (found := library_id(library)):
        raise ConfigError(
            f"the run in {folder.root} learned from {info.motions} other motions ({policy.data.get('id')}) than these "
            f"{len(library)} ({found}); give its own dataset, {policy.data.get('dataset')}, unchanged"
        )


def _runner(library: MotionLibrary, folder: RunFolder, info: RunInfo, stage: str, device: str) -> StageRunner:
    """Return the runner of a stage with the networks of earlier stages that it needs."""
    own = recipe_named(info.cfg.algo).stages[stage]
    begin = None if own.begins_with is None else policy_of_run(folder, library.robot, own.begins_with).net.to(device)
    if info.cfg.teacher_of(stage) in (None, EXPERTS):
        return StageRunner(library, info.cfg, stage, device, begin=begin)
    teacher = teacher_of(folder, library.robot, info, stage)
    return StageRunner(
        library, info.cfg, stage, device, teacher=teacher.net.to(device), teacher_base=teacher.info.base, begin=begin
    )


def _restore(runner: StageRunner, folder: RunFolder, best: Best | None) -> float:
    """Restore the stage's last checkpoint and return the seconds that were spent on the stage."""
    arrays = folder.load(runner.stage)
    try:
        runner.restore(arrays)
        if best is not None:
            best.restore(arrays)
        return float(arrays["seconds"])
    except (PhumaError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as e:
        raise ReadError(folder.checkpoint(runner.stage), f"is not of this run: {type(e).__name__} {e}") from None


class _Training:
    """Train a stage from where it is to the end of its share of the budget."""

    def __init__(
        self,
        runner: StageRunner,
        library: MotionLibrary,
        folder: RunFolder,
        info: RunInfo,
        log: Callable[[Progress], object],
    ) -> None:
        self.runner, self.folder, self.log, self.stage = runner, folder, log, runner.stage
        stage = runner.stage
        begun = bool(decided(folder.checkpoint(stage).exists(), runner.device))
        recipe, environment = recipe_named(info.cfg.algo), runner.cfg.environment
        self.best = None if recipe.stages[stage].begins_with is None else Best()
        self.how = DISTURBED if self.best is not None and environment.disturbances.randomize else {}
        self.began = time.monotonic() - (_restore(runner, folder, self.best) if begun else 0.0)
        earlier = [folder.spent(name) for name in info.cfg.stages if name != stage]
        self.steps_before, self.seconds_before = (sum(each) for each in zip((0, 0.0), *earlier))
        self.policy = TorchPolicy(self.runner.net, info.policy(stage))
        self.evaluated = library.part(np.linspace(0, len(library) - 1, EVALUATED).round().astype(int))
        self.episodes = max(1, ROLLOUTS // len(self.evaluated))
        self.evaluation: Mapping[str, Any] | None = None
        self.settling = Settling()
        self.recent = _Recent(self.runner.steps)
        self.curve = f"{stage}/" if len(info.cfg.stages) > 1 else ""
        if not begun and number() == 0:
            self._save()

    @property
    def seconds(self) -> float:
        """Return the seconds that were spent on this stage."""
        return time.monotonic() - self.began

    def run(self, budget: Budget, part: tuple[float, float], stop: Callable[[], bool]) -> None:
        """Train until the end of this part of the whole run's budget, given as two shares of it, or `stop()`."""
        runner = self.runner
        saved, next_evaluation = self.seconds, self.seconds + EVALUATE_EVERY
        settles = budget.minutes is not None and runner.cfg.algorithm.settles

        def progress() -> float:
            if stop():
                return 1.0
            used = budget.used(self.steps_before + runner.steps, self.seconds_before + self.seconds)
            own = (used - part[0]) / (part[1] - part[0])
            return self.settling.progress(own, self.seconds) if settles else own

        if number():
            while (now := decided(1.0, runner.device)) < 1.0:
                runner.iterate(max(now, 0.0))
            decided(0.0, runner.device)  # all is saved
            return
        with SummaryWriter(str(self.folder.root), purge_step=runner.steps + 1, flush_secs=10) as curves:
            if self.best is not None and self.best.score < 0:
                self._evaluate(curves)
            while (now := decided(progress(), runner.device)) < 1.0:
                values = runner.iterate(max(now, 0.0))
                self.recent.add(values)
                for name, value in values.items():
                    self._curve(curves, name if "/" in name else f"training/{name}", value)
                if self.seconds >= next_evaluation:
                    next_evaluation = self._evaluate(curves)
                if self.seconds - saved >= SAVE_EVERY:
                    self._save()
                    saved = self.seconds
                if time.monotonic() - self.recent.time >= LOG_EVERY:
                    self._log(curves)
            if not stop():
                self._evaluate(curves)
                if self.best is not None:
                    self.best.put(runner.net)
            self._save()
            self._log(curves)
        decided(0.0, runner.device)  # the others may read what is saved

    def _curve(self, curves: SummaryWriter, name: str, value: float) -> None:
        curves.add_scalar(f"{self.curve}{name}", value, self.runner.steps)

    def _save(self) -> None:
        best = {} if self.best is None else self.best.snapshot()
        self.folder.save(self.stage, self.runner.snapshot() | best | {"seconds": np.array(self.seconds)})

    def _evaluate(self, curves: SummaryWriter) -> float:
        """Evaluate the policy from first frames, without noise unless it is fine-tuned against that; return when to
        evaluate again."""
        before = self.seconds
        total = judge_policy(self.policy, self.evaluated, episodes=self.episodes, **self.how)["total"]
        self.evaluation = total
        if self.best is not None:
            self.best.add(total, self.runner.net)
        self.settling.add(total)
        for name in SHARES:
            self._curve(curves, f"tracking/{name}", total[name])
        for name in ERRORS:
            if (value := total["up_to_failure"][name]) is not None:
                self._curve(curves, f"errors/{name}", value)
        return self.seconds + max(EVALUATE_EVERY, EVALUATION_SHARE * (self.seconds - before))

    def _log(self, curves: SummaryWriter) -> None:
        recent, now = self.recent, time.monotonic()
        if not recent.count:
            return
        rate = (self.runner.steps - recent.steps) / (now - recent.time)
        self._curve(curves, "training/steps_per_second", rate)
        means = {name: value / recent.count for name, value in recent.sums.items()}
        steps, seconds = self.steps_before + self.runner.steps, self.seconds_before + self.seconds
        self.log(Progress(self.stage, steps, seconds, rate, means, self.evaluation))
        self.recent = _Recent(self.runner.steps)
