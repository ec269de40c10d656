"""How long a training takes: what is asked for, or what its clips need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from phuma.learning.recipes.recipe import FINETUNED, StageCfg, recipe_named
from phuma.pipelines.training.options import TrainCfg

if TYPE_CHECKING:
    from phuma.pipelines.train_policy import Budget

MINUTES = 30.0
"""The minutes of training where neither minutes nor steps are asked for; of experts' few clips fewer."""
FEW = (3.0, 0.2)
"""Minutes of a stage's distillation in any case, and those that each clip adds"""


def budget_of(asked: TrainCfg, algo: str, stages: Mapping[str, StageCfg], clips: int, taught: bool) -> Budget:
    """Return the budget of a run of these stages on so many clips, `taught` by labels or not."""
    from phuma.pipelines.train_policy import Budget  # slow to import

    patience = recipe_named(algo).patience * (len(stages) - (FINETUNED in stages))
    minutes = distilling_minutes(clips, patience) if taught else MINUTES
    budget = Budget(asked.steps, minutes if asked.minutes is None and asked.steps is None else asked.minutes)
    if FINETUNED not in stages:
        return budget
    assert asked.finetune is not None
    return finetuning_budget(budget, asked.finetune, stages)


def distilling_minutes(clips: int, patience: float = 1.0) -> float:
    """Return the minutes in which so many clips are learned from experts."""
    return min(MINUTES, patience * (FEW[0] + FEW[1] * clips))


def finetuning_budget(budget: Budget, minutes: float, stages: Mapping[str, StageCfg]) -> Budget:
    """Return the budget of a run with so many minutes more for its last stage."""
    assert budget.minutes is not None
    *before, last = stages
    shares = {name: budget.minutes / len(before) for name in before} | {last: minutes}
    return replace(budget, minutes=budget.minutes + minutes, shares=shares)
