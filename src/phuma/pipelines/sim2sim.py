"""Judge a policy in many worlds, and compare each with the one that it was trained in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phuma.core.rollout import Rollout
from phuma.errors import ConfigError
from phuma.evaluation import Difference, difference
from phuma.learning.deploy.policy import Policy
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluate_policy import judge_rollouts, physics_steps, try_in
from phuma.robots import Robot
from phuma.runtime.progress import progress_bar
from phuma.sim.maker_model import maker_model
from phuma.sim.model_differences import model_differences
from phuma.sim.world_simulation import why_not, world_model
from phuma.sim.worlds import LOOK, MAKER, TRAINED, WORLDS, World
from phuma.sim.worlds_file import read_worlds

NO_MODEL = "the maker's own model file of the robot was not given: --model FILE.xml"


@dataclass(frozen=True)
class Judged:
    """How a policy does in a world, or why it was not tried there."""

    world: World
    document: Mapping[str, Any] | None = None
    """The document of `judge_rollouts`."""
    difference: Difference | None = None
    """SR@0.5 less that of the world of training."""
    cpu_seconds: float = 0.0
    """CPU time of this process for it; the network of an ONNX file runs in another one."""
    reason: str | None = None
    """Why it was not tried."""
    differs: tuple[str, ...] = ()
    """How its own model of the robot, where it has one, differs from ours."""


def all_worlds(file: str | Path | None = None, model: str | Path | None = None) -> dict[str, World]:
    """Return the built-in worlds by name, that of the maker's model file where it is given, and those of a user's
    file."""
    own = {} if file is None else read_worlds(file)
    return {**WORLDS, **({} if model is None else {MAKER: World(model=Path(model))}), **own}


def judge_worlds(
    policy: Policy,
    library: MotionLibrary,
    worlds: Mapping[str, World],
    episodes: int = 1,
    seed: int = 0,
    bar: Callable[[int], object] = lambda count: None,
) -> dict[str, Judged]:
    """Return how a policy does in each of these worlds, among them that of its training; `bar(1)` is called after each
    rollout. A world that cannot be simulated on this machine has a reason instead."""
    reasons = {name: why_not(world) for name, world in worlds.items()}
    _check(policy, library, {name: world for name, world in worlds.items() if reasons[name] is None})
    out: dict[str, Judged] = {}
    for name in (TRAINED, *(name for name in worlds if name != TRAINED)):
        if (reason := reasons[name]) is not None:
            out[name] = Judged(worlds[name], reason=reason)
            bar(len(library) * episodes)
            continue
        began = time.process_time()
        document = judge_rollouts(_counted(try_in(worlds[name], policy, library, episodes, seed), bar), library)
        seconds = time.process_time() - began
        gained = difference(document, out[TRAINED].document or {}) if out else None
        out[name] = Judged(worlds[name], document, gained, seconds, differs=differences_of(worlds[name], library.robot))
    return out


def judge_all_worlds(
    policy: Policy, library: MotionLibrary, file: Path | None, model: Path | None, episodes: int, seed: int
) -> dict[str, Judged]:
    """Judge a policy in all worlds, with those of `all_worlds` that are given by files, and show the progress."""
    worlds = all_worlds(file, model)
    with progress_bar("rollout", len(worlds) * len(library) * episodes) as bar:
        judged = judge_worlds(policy, library, worlds, episodes, seed, bar.update)
    if MAKER not in judged:
        judged[MAKER] = Judged(worlds[TRAINED], reason=NO_MODEL)
    return judged


def differences_of(world: World, robot: Robot) -> tuple[str, ...]:
    """Return how the robot of a world differs from ours, where the world has a model file of its own."""
    return () if world.model is None else model_differences(maker_model(world.model, robot, 1), robot)


def _check(policy: Policy, library: MotionLibrary, worlds: Mapping[str, World]) -> None:
    """Find faults of worlds before any of them is simulated."""
    for name, world in worlds.items():
        try:
            world_model(world, library.robot, physics_steps(policy.info, world.physics_dt))
        except ConfigError as e:
            raise ConfigError(f"world {name!r}: {e}") from None


def _counted(rollouts: Iterator[Rollout], bar: Callable[[int], object]) -> Iterator[Rollout]:
    for rollout in rollouts:
        bar(1)
        yield rollout


def worst_world(judged: Mapping[str, Judged]) -> str | None:
    """Return the name of the world in which the policy loses most, of those in which it loses significantly; None where
    there is none."""
    lost = {name: one.difference.points for name, one in judged.items() if one.difference and one.difference.loses}
    return min(lost, key=lambda name: lost[name]) if lost else None


def first_look(judged: Mapping[str, Judged], name: str) -> str:
    """Return the first thing to look at where a policy fails in a world: by its change or, where it combines several,
    by the one that loses most by itself; by all of them where none was tried by itself and loses."""
    changes = judged[name].world.changes
    alone = {change: one.difference.points for one in judged.values() for change in changes
             if one.difference and one.difference.loses and one.world.changes == {change: changes[change]}}  # fmt: skip
    chosen = [min(alone, key=lambda change: alone[change])] if alone else list(changes)
    differs = "; ".join(judged[name].differs)
    return "; ".join(
        f"{LOOK[change]}: {differs}" if differs and change == "model" else LOOK[change] for change in chosen
    )


def world_document(judged: Mapping[str, Judged]) -> dict[str, Any]:
    """Return plain values of what was found: `worlds`, `not_tried` and `worst`."""
    worlds = {}
    for name, one in judged.items():
        if one.document is not None:
            points, *interval = one.difference or (0.0, 0.0, 0.0)
            gained = {"difference": points, "difference_interval": interval, "cpu_seconds": one.cpu_seconds}
            differs = {} if one.world.model is None else {"differs": list(one.differs)}
            worlds[name] = {**one.document["total"], **gained, **differs}
    worst = worst_world(judged)
    return {
        "worlds": worlds,
        "not_tried": [{"world": n, "reason": one.reason} for n, one in judged.items() if one.reason is not None],
        "worst": None if worst is None else {"world": worst, "look": first_look(judged, worst)},
    }
