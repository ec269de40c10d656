"""The job on policies: learn from a training set for so many CPU seconds, and be judged three times near the end."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from phuma.control.bundle import strands_of
from phuma.core.rollout import Rollout
from phuma.errors import PhumaError
from phuma.evaluation import judge
from phuma.evaluation.asked import WITHIN, judge_asked
from phuma.evaluation.judging import Score
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.learning.deploy.policy import Policy, info_of
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.motions.library import MotionLibrary, performance_of
from phuma.learning.nets.config import NETWORKS
from phuma.learning.recipes.recipe import RunCfg, StageCfg, recipe_named
from phuma.pipelines.evaluate_policy import try_in
from phuma.pipelines.experts import only_performed
from phuma.robots import Robot, cached_robot
from phuma.robots.whole import role_bodies, whole_robot
from phuma.sim.feedback import Strand
from phuma.sim.world_simulation import why_not
from phuma.sim.worlds import WORLDS, World
from phuma.studies.frame.folder import key_of
from phuma.studies.frame.plan import EVALUATIONS
from phuma.studies.frame.study import CLOSE, LOOSE, Tracker

EPISODES = 4
"""Rollouts of a motion in an evaluation, from starts a fifth of the paper's ranges off"""
LAST = 0.1
"""Share of the training in which its last evaluations lie, evenly; the last one is at its end"""
JUDGED_AT = 0.005
"""Physics step in s at which all are judged"""
Line = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """A policy that is to be trained and judged; motions are files that are named by their content."""

    motions: tuple[tuple[str, str, str | None], ...]
    """Names, files and performances of what is learned from"""
    tests: Mapping[str, tuple[tuple[str, str, str | None], ...]]
    """The same of what the policy is judged on, by the sets' names"""
    tracker: Tracker
    seed: int
    seconds: float
    robot: str
    worlds: tuple[str, ...] = ()
    shown: str | None = None
    """Folder for a rollout that succeeds and one that fails, of each set; None for none"""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        def content(motions: tuple[tuple[str, str, str | None], ...]) -> list[Any]:
            return [(name, Path(file).stem, performed is not None) for name, file, performed in motions]

        tests = {name: content(own) for name, own in self.tests.items()}
        tracker = {name: getattr(self.tracker, name) for name in ("algo", "begin", "stage", "environment", "network")}
        own = content(self.motions), tests, tracker, self.seed, self.seconds, self.robot, self.worlds
        object.__setattr__(self, "key", key_of("policy", *own))


def train(item: Training) -> Line:
    """Return what came of a training: CPU seconds, steps, and shares of successful rollouts of each motion, by set.
    What cannot be learned is a line with the reason."""
    import torch

    torch.set_num_threads(1)
    robot = cached_robot(item.robot)
    try:
        library = library_of(item.motions, robot)
        library = only_performed(library) if item.tracker.taught else library
        if not len(library):
            raise PhumaError("there is no clip to learn from")
        tests = {name: library_of(own, robot) for name, own in item.tests.items()}
        judged: list[dict[str, dict[str, dict[str, float]]]] = []

        def look(policy: Policy) -> None:
            last = len(judged) == EVALUATIONS - 1
            judged.append({name: judge_set(policy, own, item, name, last) for name, own in tests.items() if len(own)})
            if last:
                judged[-1] |= in_worlds(policy, tests, item.worlds)

        seconds, steps = learn(library, settings(item.tracker, item.seed), item.seconds, look)
    except PhumaError as e:
        return {"failed": str(e)}
    sets = {name: _mean([each[name] for each in judged if name in each]) for name in judged[-1]}
    gc.collect()  # networks, memory and simulation know each other, and are large
    return {"seconds": round(seconds, 1), "steps": steps, "clips": len(library), "sets": sets}


def _mean(each: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return shares by motion, as means over the evaluations."""
    return {
        motion: {name: sum(one[motion][name] for one in each) / len(each) for name in shares}
        for motion, shares in each[-1].items()
    }


def library_of(motions: tuple[tuple[str, str, str | None], ...], robot: Robot) -> MotionLibrary:
    """Return the motions of files, with their performances where these are named."""
    out = MotionLibrary(robot)
    for name, file, performed in motions:
        performance = None
        if performed is not None:
            performance = performance_of(load_rollout(performed), robot, partial(feedback, performed, robot))
        out.add(name, load_robot_motion(file), None, performance)
    return out


def feedback(path: str, robot: Robot) -> list[Strand]:
    """Return the feedback along a performance."""
    return strands_of(load_rollout(path), robot)


def settings(tracker: Tracker, seed: int) -> RunCfg:
    """Return the settings of a tracker's run."""
    cfg = recipe_named(tracker.algo).settings(seed=seed, begin=tracker.begin, stage=tracker.stage)
    *_, last = cfg.stages
    own = cfg.stages[last]
    network = own.network if tracker.network is None else NETWORKS[tracker.network]()
    changed = StageCfg(own.environment.changed(**tracker.environment), network, own.algorithm)
    return replace(cfg, stages={**cfg.stages, last: changed})


def learn(library: MotionLibrary, cfg: RunCfg, seconds: float, look: Callable[[Policy], object]) -> tuple[float, int]:
    """Train all stages for so many CPU seconds of this process and show the policy near the end, EVALUATIONS times;
    return the CPU seconds and environment steps of the training alone."""
    from phuma.learning.deploy.torch_policy import TorchPolicy
    from phuma.learning.run.runner import StageRunner

    recipe, used, steps, until = recipe_named(cfg.algo), 0.0, 0, 0.0
    nets: dict[str, tuple[Any, str]] = {}
    whole = sum(recipe.stages[name].share for name in cfg.stages)
    *_, last = cfg.stages
    for name in cfg.stages:
        begins, until = until, until + seconds * recipe.stages[name].share / whole
        marks = [1 - LAST * k / (EVALUATIONS - 1) for k in reversed(range(EVALUATIONS))] if name == last else []
        began = time.process_time() - used
        teacher = next((nets[t] for t in recipe.stages[name].teachers if t in nets), None)
        about = info_of(library.robot, cfg.algo, name, cfg.stages[name].environment)
        runner = StageRunner(
            library, cfg, name, threads=1, teacher=teacher and teacher[0], teacher_base=teacher and teacher[1],
            begin=None if (first := recipe.stages[name].begins_with) is None else nets[first][0],
        )  # fmt: skip
        while True:
            used = time.process_time() - began
            progress = (used - begins) / (until - begins)
            while marks and progress >= marks[0]:
                marks.pop(0)
                look(TorchPolicy(runner.net, about))
                began = time.process_time() - used  # being judged is no training
            if progress >= 1:
                break
            runner.iterate(max(progress, 0.0))
        steps += runner.steps
        nets[name] = runner.net, about.base
    return used, steps


def judge_set(policy: Policy, library: MotionLibrary, item: Training, name: str, last: bool) -> Line:
    """Return the shares of each motion's rollouts that succeed, and write the rollouts that are shown after the last
    evaluation."""
    rollouts = list(try_in(World(physics_dt=JUDGED_AT), policy, library, EPISODES))
    if last and item.shown is not None:
        keep_shown(rollouts, library, Path(item.shown), shown_name(item.key, name))
    return shares_of(rollouts, library, policy)


def in_worlds(policy: Policy, tests: Mapping[str, MotionLibrary], worlds: tuple[str, ...]) -> Line:
    """Return the same by the names of worlds that this machine can simulate, of the first set."""
    library = next(iter(tests.values()))
    return {
        name: shares_of(list(try_in(WORLDS[name], policy, library, EPISODES)), library, policy)
        for name in worlds
        if why_not(WORLDS[name]) is None
    }


def shares_of(rollouts: list[Rollout], library: MotionLibrary, policy: Policy) -> dict[str, dict[str, float]]:
    """Return the shares of each motion's rollouts that succeed, and of one that is told a path how many followed it."""
    index, out = {name: n for n, name in enumerate(library.names)}, dict[str, list[dict[str, float]]]()
    asked = policy.info.task.masking is not None
    whole = whole_robot(library.robot)
    for rollout in rollouts:
        reference = library.motions[index[rollout.motion]]
        score = judge(rollout, reference, library.robot)
        own = {name: float(score.failed_at[name] is None) for name in (CLOSE, LOOSE)}
        if asked:
            named = role_bodies(whole)
            bodies = [named[role] for role in CONDITIONS[policy.info.condition].roles]
            near = judge_asked(rollout, reference, whole, bodies).within
            own |= {name.replace("within", "pelvis"): float(near[name]) for name in WITHIN}
        out.setdefault(rollout.motion, []).append(own)
    return {motion: {n: sum(o[n] for o in own) / len(own) for n in own[0]} for motion, own in out.items()}


def shown_name(key: str, test: str) -> str:
    """Return the beginning of the names of files that show a training on a set."""
    return f"{key}_{re.sub(r'[^a-z]+', '_', test)}"


def keep_shown(rollouts: list[Rollout], library: MotionLibrary, folder: Path, name: str) -> None:
    """Write a rollout that succeeds and one that fails: of each the motion whose name comes first, the same in all rows
    where it can be."""
    index = {motion: n for n, motion in enumerate(library.names)}
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[bool, Rollout] = {}
    for rollout in sorted(rollouts, key=lambda r: r.motion):
        score: Score = judge(rollout, library.motions[index[rollout.motion]], library.robot)
        found.setdefault(score.failed_at[CLOSE] is None, rollout)
    for good, rollout in found.items():
        save_rollout(folder / f"{name}_{'success' if good else 'failure'}.npz", rollout)
