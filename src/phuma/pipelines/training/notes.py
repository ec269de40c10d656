"""What is said of a training: what makes its clips hard to learn, how long it takes, and what to do with the run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.following import punished
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes.recipe import RunCfg, StageCfg, recipe_named
from phuma.pipelines.evaluate_policy import chosen_clips
from phuma.pipelines.training.options import TrainCfg
from phuma.pipelines.training.table import clock
from phuma.robots import Robot, is_built_in, spec_of

SLOW = 50_000  # environment steps of an update that take a CPU many seconds


def advice(built: Mapping[str, Any]) -> list[str]:
    """Return a note if the way in which a dataset was built makes its clips hard to track."""
    curated = built.get("curate", {})
    contacts = curated.get("contacts")
    if contacts is None:  # a dataset of an earlier version
        swings_known = built.get("contact_speed") is not None or curated.get("preset") == "dynamic"
    else:
        swings_known = contacts != "paper"
    if "physink" not in str(built.get("method")) or swings_known:
        return []
    return [
        "Note: feet that swing low are held to stand in these clips, so that legs leap in steps. A dataset built with "
        "--contacts stance is learned better: docs/learning.md"
    ]


def penalty_notes(library: MotionLibrary, algo: str, stages: Mapping[str, StageCfg]) -> list[str]:
    """Return a note on clips that nobody can follow without being punished for it, where a stage learns by reward."""
    recipe, worst = recipe_named(algo), 0
    for stage, cfg in stages.items():
        if isinstance(cfg.algorithm, PPOCfg):
            worst = max(worst, len(punished(library, recipe.task(stage, cfg.environment))))
    if not worst:
        return []
    return [
        f"Note: in {worst} of {len(library)} clips even perfect following is punished somewhere, by the paper's "
        "penalty for joints beyond 90 % of their range; --preset cpu penalises only what is beyond the reference, too"
    ]


def resume_line(steps: int, seconds: float, over: bool) -> str:
    """Return where a resumed run continues, or that it has nothing to do."""
    where = f"{steps:,} environment steps and {clock(seconds)}"
    if over:
        return f"The run has {where} already: nothing to do, as --steps and --minutes are of the whole run"
    return f"Going on from {where}" if steps else "There is no checkpoint with a step in it: beginning anew"


def start_lines(budget: Any, cfg: RunCfg | None, device: str) -> list[str]:
    """Return lines on how long training takes; `budget` is a `train_policy.Budget`."""
    how = f"{budget.steps:,} environment steps" if budget.steps is not None else f"{budget.minutes:g} minutes"
    lines = [f"Training for {how} in all; Ctrl-C ends it with a checkpoint, --resume goes on"]
    first = None if cfg is None else next(iter(cfg.stages.values()))
    if first is not None and device == "cpu" and (update := first.steps_per_update) > SLOW:
        lines.append(f"Note: the first row comes after an update of {update:,} steps, which takes a CPU minutes")
    return lines


def next_steps(
    asked: TrainCfg, dataset: Dataset, robot: Robot, where: str | None, split: str, lawful: bool = False
) -> list[str]:
    """Return commands for this run, ready to be typed; a policy that acts by certificates needs those of other clips,
    too."""
    run, data = shlex.quote(str(asked.out)), shlex.quote(str(asked.dataset))
    own = "" if is_built_in(robot.name) else f" --robot {shlex.quote(spec_of(robot))}"
    chosen = (f" --where {shlex.quote(where)}" if where else "") + own
    try:
        chosen_clips(dataset, robot, where, "test")
        judged = f"phuma evaluate {run} {data}{chosen}", "how well it tracks, on clips that it has not seen"
        if split == "all":
            judged = f"phuma evaluate {run} {data} --split all{chosen}", "how well it tracks the clips"
    except ConfigError:
        judged = f"phuma evaluate {run} {data} --split train{chosen}", "how well it tracks; there are no others in test"
    certified = [(f"phuma certify {data}{chosen}", "certify other clips: it acts by their certificates")] * lawful
    commands = [
        *certified,
        judged,
        (f"phuma play {run} {data}{chosen}", "watch it"),
        (f"phuma policy export {run} --out policy.onnx{own}", "export it"),
        (f"tensorboard --logdir {run}", "curves"),
    ]
    width = max(len(command) for command, _ in commands)
    return [f"  {command:{width}}  {about}" for command, about in commands]
