"""A recipe: what one tracker observes, what rewards it, its networks and how it learns, in one or more stages.

A recipe is one file in this folder that defines RECIPE; its name is the file's. Nothing else has to know of it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from phuma.core.names import did_you_mean, known_name
from phuma.errors import ConfigError
from phuma.learning.algorithms.config import AlgorithmCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.task import Task
from phuma.learning.nets.config import NetworkCfg
from phuma.robots.robot import Robot

if TYPE_CHECKING:
    import torch

    from phuma.learning.algorithms.algorithm import Algorithm
    from phuma.learning.algorithms.distillation import Teacher
    from phuma.learning.env.observation import Observation
    from phuma.learning.nets.actor_critic import Actor

EXPERTS, SCRATCH = "experts", "scratch"
"""What a run begins from: certified performances, or nothing."""
FINETUNED = "finetuned"
"""Name of a run that begins from experts and goes on with PPO."""
CPU, PAPER = "cpu", "paper"
"""Names of presets that every recipe should have."""
DEPLOY = "deploy"
"""Name of the preset whose policies other projects' programs can run."""


@dataclass(frozen=True)
class StageCfg:
    """The settings of one stage, by concern."""

    environment: EnvironmentCfg
    network: NetworkCfg
    algorithm: AlgorithmCfg

    def __post_init__(self) -> None:
        samples = self.environment.environments * self.algorithm.horizon
        if samples < (least := self.algorithm.least_samples):
            raise ConfigError(f"{self.environment.environments} environments are too few for {least} minibatches")

    @property
    def steps_per_update(self) -> int:
        """Return the environment steps between two updates."""
        return self.environment.environments * self.algorithm.horizon


@dataclass(frozen=True)
class RunCfg:
    """The settings of a whole run."""

    algo: str
    """Name of the recipe."""
    stages: Mapping[str, StageCfg]
    """Settings by the names of the recipe's stages, in their order."""
    seed: int = 0
    """Seed of all that is random."""
    teacher: str | None = None
    """What labels a stage none of whose teachers is in this run: EXPERTS, or the folder of another run."""

    def __post_init__(self) -> None:
        recipe = recipe_named(self.algo)
        ways = (*recipe.ways.values(), *((name,) for name in recipe.alone))
        if tuple(self.stages) not in ways:
            known = ", or ".join(" and ".join(way) for way in ways)
            raise ConfigError(f"stages are {', '.join(self.stages)}; {self.algo} has {known}")
        for stage in self.stages:
            taught = self.stages[stage].algorithm.taught and recipe.stages[stage].teachers
            if taught and self.teacher_of(stage) is None:
                raise ConfigError(f"{stage} alone needs a teacher: --teacher RUN, or --teacher {EXPERTS}")

    def teacher_of(self, stage: str) -> str | None:
        """Return what labels a stage's actions: a stage of this run, EXPERTS or the folder of another run; None where
        it is not taught."""
        if not self.stages[stage].algorithm.taught:
            return None
        own = recipe_named(self.algo).stages[stage].teachers
        return next((name for name in own if name in self.stages or name == EXPERTS), self.teacher if own else None)

    def with_environment(self, **changes: Any) -> RunCfg:
        """Return the settings with these fields of every stage's environments changed."""
        stages = {
            name: replace(cfg, environment=cfg.environment.changed(**changes)) for name, cfg in self.stages.items()
        }
        return replace(self, stages=stages)


@dataclass(frozen=True)
class Stage:
    """One stage of a run: a policy that learns one task by one algorithm."""

    task: Callable[[EnvironmentCfg], Task]
    network: Callable[[Task, Robot, NetworkCfg], Actor]
    algorithm: Callable[[Actor, AlgorithmCfg, Observation, torch.Generator, Teacher | None], Algorithm]
    share: float = 1.0
    """Share of the run's budget that this stage is given."""
    teacher: str | tuple[str, ...] | None = None
    """The earlier stage whose policy labels this one's actions, or EXPERTS; or several, of which the run has one or
    says another teacher itself."""
    begins_with: str | None = None
    """The earlier stage with whose policy this one begins; it never ends with a worse one."""

    @property
    def teachers(self) -> tuple[str, ...]:
        """Return the names of those that can label this stage's actions."""
        return self.teacher if isinstance(self.teacher, tuple) else () if self.teacher is None else (self.teacher,)


@dataclass(frozen=True)
class Recipe:
    """A recipe: all that a tracker is made of."""

    name: str
    about: str
    """Description in one line for the command's help."""
    stages: Mapping[str, Stage]
    """Stages by name, in the order in which they are learned; the last one's policy is the run's."""
    presets: Mapping[str, Mapping[str, StageCfg]]
    """Settings of every stage, by the preset's name."""
    beginnings: Mapping[str, tuple[str, ...]] | None = None
    """Names of the stages of a run in their order, by what it begins from; None for all of them, from scratch"""
    otherwise: Mapping[str, Mapping[str, Mapping[str, StageCfg]]] = field(default_factory=dict)
    """Settings of stages that are not as in the presets, by what a run begins from and the preset's name"""
    alone: tuple[str, ...] = ()
    """Names of stages that can be a run by themselves"""
    patience: float = 1.0
    """Factor on the time that a run from experts takes where nothing else is asked for"""

    def __post_init__(self) -> None:
        assert all(set(preset) <= set(self.stages) for preset in self.presets.values())

    @property
    def ways(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the stages of a run in their order, by what it begins from; the best comes first."""
        return self.beginnings or {SCRATCH: tuple(self.stages)}

    def settings(
        self,
        preset: str = CPU,
        seed: int = 0,
        begin: str | None = None,
        stage: str | None = None,
        teacher: str | None = None,
    ) -> RunCfg:
        """Return the settings of a run by a preset, that begins from `begin`, the best by default; or of one `stage` of
        it alone, with its teacher where that is not learned in the run."""
        if preset not in self.presets:
            raise ConfigError(
                f"no preset {preset!r}{did_you_mean(preset, self.presets)}; {self.name} has: {', '.join(self.presets)}"
            )
        known = self.presets[preset]
        ways = {name: way for name, way in self.ways.items() if all(each in known for each in way)}
        begin = begin or next(iter(ways))
        if begin not in ways:
            raise ConfigError(
                f"{self.name} with preset {preset} does not begin from {begin!r}; it does from: {', '.join(ways)}"
            )
        own, names = {**known, **self.otherwise.get(begin, {}).get(preset, {})}, ways[begin]
        if stage is not None:
            if stage not in self.alone:
                raise ConfigError(
                    f"no stage {stage!r}{did_you_mean(stage, self.alone)}; {self.name} can learn alone: "
                    f"{', '.join(self.alone) or 'none'}"
                )
            names = (stage,)
        return RunCfg(self.name, {name: own[name] for name in names}, seed, teacher)

    def way_of(self, cfg: RunCfg) -> str | None:
        """Return what a run of these settings began from: its stages learn by these algorithms then."""
        kinds = {stage: type(own.algorithm) for stage, own in cfg.stages.items()}
        for begin in self.ways:
            stages = self.settings(begin=begin).stages
            whole = tuple(stages) == tuple(kinds) or (len(kinds) == 1 and set(kinds) <= {*stages} & {*self.alone})
            if whole and all(type(stages[stage].algorithm) is kind for stage, kind in kinds.items()):
                return begin
        return None

    def taught_by(self, stage: str, cfg: StageCfg) -> str | None:
        """Return whose labels a stage of these settings learns from first of all: an earlier stage, EXPERTS, or
        nobody."""
        return next(iter(self.stages[stage].teachers), None) if cfg.algorithm.taught else None

    def task(self, stage: str, cfg: EnvironmentCfg) -> Task:
        """Return the task of a stage, with the groups that its teacher observes."""
        own = self.stages[stage]
        task = own.task(cfg)
        teachers = [name for name in own.teachers if name != EXPERTS]
        return replace(task, teacher=self.stages[teachers[0]].task(cfg).actor) if teachers else task


_REGISTERED: dict[str, Recipe] = {}


def register(recipe: Recipe) -> Recipe:
    """Register a recipe that lies outside this folder."""
    _REGISTERED[recipe.name] = recipe
    return recipe


def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes, without loading them."""
    import phuma.learning.recipes as folder

    own = [module.name for module in pkgutil.iter_modules(folder.__path__) if module.name != "recipe"]
    return tuple(sorted({*own, *_REGISTERED}))


def recipe_named(name: str) -> Recipe:
    """Return a recipe by its name; nothing is imported but files of this folder."""
    name = known_name(name, recipe_names(), "algorithm")
    if name not in _REGISTERED:
        register(import_module(f"phuma.learning.recipes.{name}").RECIPE)
    return _REGISTERED[name]
