"""Evaluate a policy on the clips of a dataset, in one world or in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from phuma.core.rollout import Rollout
from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.learning.deploy.dialects.registry import OWN
from phuma.learning.deploy.policy import Policy, PolicyInfo
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluate_policy import (
    chosen_clips,
    dataset_library,
    exit_code,
    follows_performances,
    judge_rollouts,
    judge_what_was_asked,
    load_policy,
    load_stranger,
    robot_named,
    try_out,
)
from phuma.pipelines.evaluating.document import about, failed, left_out, physics
from phuma.pipelines.evaluating.options import EvaluateCfg, check_numbers
from phuma.pipelines.evaluating.rollout_files import write_rollouts
from phuma.pipelines.experts import only_performed
from phuma.pipelines.follow_path import told
from phuma.pipelines.progress_bars import reading_bar
from phuma.pipelines.sim2sim import Judged, judge_all_worlds, world_document
from phuma.robots import Robot, load_robot
from phuma.runtime.progress import with_progress


class Evaluated(NamedTuple):
    """What came of an evaluation."""

    document: dict[str, Any]
    """Plain values, as `phuma evaluate --json` prints them"""
    library: MotionLibrary
    """The motions that the policy was to follow"""
    code: int
    """Exit code of the command"""
    worlds: Mapping[str, Judged] | None = None
    """How it does in each world, where it was judged in all"""


def evaluate(asked: EvaluateCfg) -> Evaluated:
    """Evaluate as is asked."""
    check_numbers(asked)
    policy, robot = loaded(asked)
    masked = policy.info.task.masking is not None
    if asked.condition is not None or masked:
        policy = told(policy, asked.condition)
    dataset = Dataset(asked.dataset)
    split, where = own_clips(asked, dataset, robot, policy.info)
    asked = replace(asked, split=split, where=where)
    library = dataset_library(
        dataset, robot, where, None if split == "all" else split, reading_bar, follows_performances(policy.info)
    )
    if policy.info.task.lawful:
        library = only_performed(library)
    if asked.sim2sim:
        return in_worlds(policy, library, asked)
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)  # a fault of it is reported before the work, not after
    rollouts: Iterable[Rollout] = rollouts_with_bar(policy, library, asked)
    if asked.out is not None or masked:
        rollouts = list(rollouts)
    if asked.out is not None:
        write_rollouts(asked.out, list(rollouts))
    judged = judge_rollouts(rollouts, library)
    document = {
        **judged,
        "policy": about(policy, robot),
        "split": asked.split,
        "where": asked.where,
        "physics": physics(policy.info, asked),
        "left_out": left_out(library),
        "failed": failed(judged, asked.policy),
    }
    if masked:
        document["asked"] = judge_what_was_asked(rollouts, library, policy.info)
    return Evaluated(document, library, 1 if document["failed"] else exit_code(library))


def in_worlds(policy: Policy, library: MotionLibrary, asked: EvaluateCfg) -> Evaluated:
    """Judge the policy in all worlds."""
    judged = judge_all_worlds(policy, library, asked.worlds, asked.model, asked.episodes, asked.seed)
    documents = [one.document for one in judged.values() if one.document is not None]
    faulty = {row["motion"]: row for document in documents for row in failed(document, asked.policy)}
    document = {
        **world_document(judged),
        "policy": about(policy, library.robot),
        "split": asked.split,
        "where": asked.where,
        "episodes": asked.episodes,
        "seed": asked.seed,
        "left_out": left_out(library),
        "failed": list(faulty.values()),
    }
    return Evaluated(document, library, 1 if faulty else exit_code(library), judged)


def own_clips(asked: EvaluateCfg, dataset: Dataset, robot: Robot, info: PolicyInfo) -> tuple[str, str | None]:
    """Return the split and the condition of the clips to judge by: those asked for, else those that the policy was
    trained for on this dataset and has not seen; where there are none, those that it learned from."""
    data = info.data if info.data.get("dataset") == asked.dataset.resolve().name else {}
    where = asked.where if asked.where is not None else data.get("where")
    if asked.split is not None:
        return asked.split, where
    learned = data.get("split") or "train"
    if learned == "all":
        return learned, where
    try:
        chosen_clips(dataset, robot, where, "test")
    except ConfigError:
        return learned, where
    return "test", where


def loaded(asked: EvaluateCfg) -> tuple[Policy, Robot]:
    """Return the policy and the robot to evaluate it with."""
    own = load_robot(asked.robot) if asked.robot else None
    if asked.dialect != OWN:
        stranger = load_stranger(asked.policy, asked.dialect, own)
        return stranger, stranger.robot
    policy = load_policy(asked.policy, own, asked.stage)
    return policy, own or robot_named(policy.info.robot)


def rollouts_with_bar(policy: Policy, library: MotionLibrary, asked: EvaluateCfg) -> Iterable[Rollout]:
    """Yield rollouts as they are made, with a progress bar."""
    rollouts = try_out(policy, library, asked.physics_dt, asked.noise, asked.pushes, asked.episodes, asked.seed)
    total = len(library) * asked.episodes
    return with_progress(rollouts, "rollout", total)
