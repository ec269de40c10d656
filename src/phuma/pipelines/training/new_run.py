"""The settings of a new run, as they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from phuma.errors import ConfigError
from phuma.learning.recipes.recipe import CPU, EXPERTS, FINETUNED, SCRATCH, Recipe, RunCfg, StageCfg, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.training.options import ALGO, OBSERVATIONS, TrainCfg

REMEMBERED = 10
"""Control steps from which a policy that learns with noise and pushes estimates its velocity"""
RISE = 0.5
"""Share of a training by trial and error over which pushes grow"""


def new_run(asked: TrainCfg) -> RunCfg:
    """Return the settings of a new run."""
    begin = asked.begin
    if asked.finetune is not None:
        if begin not in (None, EXPERTS):
            raise ConfigError(f"--finetune goes on after --from {EXPERTS}; --from {begin} is PPO already")
        begin = FINETUNED
    recipe = recipe_named(asked.algo or ALGO)
    stage, teacher = own_stage(asked, recipe), own_teacher(asked, recipe)
    cfg = recipe.settings(asked.preset or CPU, asked.seed or 0, begin, stage, teacher)
    if asked.condition is not None:
        cfg = with_condition(cfg, asked.condition)
    given: dict[str, Any] = {
        "randomize": asked.randomize,
        "base": asked.base,
        "differences": None if asked.observations is None else OBSERVATIONS.get(asked.observations),
    }
    if asked.no_future:
        given["future"] = False
    if asked.disturb:
        given |= {"noise": 1.0, "pushes": True, "differ": True}
    if (asked.randomize or asked.disturb) and asked.preset in (None, CPU):
        given["history"] = REMEMBERED
        if not taught_by_experts(cfg.algo, cfg.stages):
            given["rise"] = RISE
    return cfg.with_environment(**{name: value for name, value in given.items() if value is not None})


def with_condition(cfg: RunCfg, condition: str) -> RunCfg:
    """Return the settings with what masked stages are told; a run without one is an error."""
    masked = [n for n, own in cfg.stages.items() if recipe_named(cfg.algo).task(n, own.environment).masking]
    if not masked:
        raise ConfigError(f"--condition {condition}: {' and '.join(cfg.stages)} of {cfg.algo} is told everything")
    changed = {
        n: replace(own, environment=replace(own.environment, condition=condition)) if n in masked else own
        for n, own in cfg.stages.items()
    }
    return replace(cfg, stages=changed)


def own_stage(asked: TrainCfg, recipe: Recipe) -> str | None:
    """Return the stage that is asked for alone: the student where its teacher is named; by trial and error, a teacher
    is what some recipes call a tracker."""
    if asked.teacher is not None and asked.stage is None:
        return "student"
    by_trial = asked.stage == "teacher" and asked.begin == SCRATCH and "tracker" in recipe.alone
    return "tracker" if by_trial else asked.stage


def own_teacher(asked: TrainCfg, recipe: Recipe) -> str | None:
    """Return what a student alone learns from: experts, or the folder of a run."""
    if asked.teacher is None:
        return None
    stage = own_stage(asked, recipe)
    if stage not in recipe.alone:
        return asked.teacher  # which is an error of the stage, not of its teacher
    if stage != "student":
        raise ConfigError(f"--teacher goes with --stage student: a {asked.stage} has its own")
    if asked.teacher == EXPERTS:
        return EXPERTS
    if not RunFolder(asked.teacher).description.is_file():
        raise ConfigError(
            f"--teacher {asked.teacher}: no training run is there; give the folder of one that has a teacher, or "
            f"{EXPERTS}"
        )
    return str(Path(asked.teacher).resolve())


def taught_by_experts(algo: str, stages: Mapping[str, StageCfg]) -> bool:
    """Return whether a stage learns from experts."""
    return any(recipe_named(algo).taught_by(name, cfg) == EXPERTS for name, cfg in stages.items())
