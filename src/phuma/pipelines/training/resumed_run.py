"""A run that goes on: with what it was begun, and whether that is what is asked for."""

from __future__ import annotations

from dataclasses import replace

from phuma.errors import ConfigError
from phuma.learning.recipes.recipe import EXPERTS, FINETUNED, RunCfg, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.training.new_run import own_stage, own_teacher
from phuma.pipelines.training.options import OBSERVATIONS, TrainCfg

OPTIONS = {"begin": "from"}
"""Names of options that are other words in Python"""


def resumed_data(folder: RunFolder, asked: TrainCfg) -> tuple[str | None, str]:
    """Return the condition and the split that a run was begun with; options that would make another run of it are an
    error."""
    info = folder.info()
    cfg, where, split = info.cfg, info.last.data.get("where"), info.last.data.get("split") or "train"
    recipe = recipe_named(cfg.algo)
    way = recipe.way_of(cfg)
    begin = EXPERTS if way == FINETUNED else way
    if (way == FINETUNED) != (asked.finetune is not None):
        told = "was begun with --finetune: give it again" if way == FINETUNED else "was begun without --finetune"
        raise ConfigError(f"the run in {folder.root} {told}")
    environment = next(iter(cfg.stages.values())).environment
    observations = next(name for name, value in OBSERVATIONS.items() if value == environment.differences)
    own = {
        "where": where, "algo": cfg.algo, "no_future": not environment.future,
        "randomize": environment.disturbances.randomize, "disturb": environment.disturbances.pushes,
        "base": environment.base, "seed": cfg.seed, "split": split, "begin": begin, "observations": observations,
        "condition": list(cfg.stages.values())[-1].environment.condition,
    }  # fmt: skip
    other = [name for name, value in own.items() if getattr(asked, name) not in (None, value)]
    other += ["stage"] * (asked.stage is not None and tuple(cfg.stages) != (own_stage(asked, recipe),))
    other += ["teacher"] * (asked.teacher is not None and own_teacher(asked, recipe) != cfg.teacher)
    if asked.preset is not None:
        other += ["preset"] * (not of_preset(cfg, asked.preset))
    if other:
        names = ", ".join(f"--{OPTIONS.get(name, name.replace('_', '-'))}" for name in other)
        raise ConfigError(
            f"{names}: the run in {folder.root} was begun otherwise and goes on as it was; leave that out"
        )
    return where, split


def of_preset(cfg: RunCfg, preset: str) -> bool:
    """Return whether a run has the settings of a preset but for what options change."""
    stages = recipe_named(cfg.algo).presets.get(preset, {})
    changed = ("disturbances", "future", "base", "differences", "history", "condition")
    for name, own in cfg.stages.items():
        if name not in stages:
            return False
        beside = {option: getattr(own.environment, option) for option in changed}
        if replace(stages[name], environment=replace(stages[name].environment, **beside)) != own:
            return False
    return True
