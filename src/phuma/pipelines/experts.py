"""Experts to learn from: the clips of a dataset with their certified performances, made where they are missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from phuma.dataset.amend import Runner
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import quoted
from phuma.errors import ConfigError, PhumaError
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.certify import CertifyCfg
from phuma.pipelines.certify_dataset import certify_dataset, is_certified, limited_runner
from phuma.pipelines.evaluate_policy import chosen_clips, dataset_library
from phuma.robots import Robot, spec_of
from phuma.sim.model import CONTROL_RATE
from phuma.sim.mujoco_cpu import MujocoSimulation

SUBSTEPS = 4
"""Physics steps per control step with which motions are certified"""
REPLAYED, SAME = 5, 1e-3
"""Control steps of each performance that are replayed, and how far from it, m or rad, they may lead"""


def certify_missing(
    dataset: Dataset,
    robot: Robot,
    where: str | None,
    split: str | None,
    run: Runner,
    progress: Callable[[int, int, int], None] = lambda done, before, total: None,
) -> list[tuple[str, str]]:
    """Certify the dataset's kept clips of a robot that have no performance with feedback yet, under a condition and of
    one split or, with None, of both.

    Returns recordings that failed as a whole, with the reasons; no clip at all is an error.
    """
    cfg, root = CertifyCfg(gains=True), Path(dataset.root)
    clips = chosen_clips(dataset, robot, where, split)
    if others := {entry.row["robot"] for entry in clips} - {robot.name}:
        raise ConfigError(
            f"{root} holds motions of {', '.join(others)}; experts of {robot.name} need its own: "
            f"`phuma build ... --robot {spec_of(robot)}`, or `phuma train ... --from scratch`"
        )
    if all(is_certified(entry.row, root, cfg) for entry in clips):
        return []
    conditions = [f"robot = {quoted(robot.name)}"]
    if split is not None:
        conditions.append(f"split = {quoted(split)}")
    if where is not None:
        conditions.append(f"({where}\n)")
    return certify_dataset(root, cfg, run, {robot.name: spec_of(robot)}, " AND ".join(conditions), progress=progress)


def expert_library(
    root: str | Path, robot: Robot, where: str | None = None, split: str | None = None, jobs: int | None = None
) -> MotionLibrary:
    """Return the clips of a dataset to learn from, with their performances: certified first where they are not yet, on
    `jobs` processes, all cores by default."""
    certify_missing(Dataset(root), robot, where, split, limited_runner(jobs))
    return only_performed(dataset_library(root, robot, where, split, performed=True))


def only_performed(library: MotionLibrary) -> MotionLibrary:
    """Return the motions that have a performance which happens again in a simulation of the robot as it is now; the
    others are left out with the reason. None left is an error."""
    reasons = _faults(library)
    kept = [n for n in range(len(library)) if n not in reasons]
    out = library.part(kept)
    out.left_out += [*library.left_out, *((library.names[n], reason) for n, reason in sorted(reasons.items()))]
    if not kept:
        name, reason = out.left_out[0]
        raise PhumaError(f"none of {len(out.left_out)} clips has a performance to go by; {name}: {reason}")
    return out


def _faults(library: MotionLibrary) -> dict[int, str]:
    """Return why motions cannot be learned from experts, by their numbers."""
    performed = {n: p for n, p in enumerate(library.performances) if p is not None}
    reasons = dict.fromkeys(set(range(len(library))) - set(performed), "is not certified; `phuma certify` performs it")
    if not performed:
        return reasons
    simulation = MujocoSimulation(library.robot, len(performed), SUBSTEPS)
    simulation.restore(*(np.stack([p.states[k][0] for p in performed.values()]) for k in range(2)))
    off = np.zeros(len(performed))
    for t in range(REPLAYED):
        simulation.step(np.stack([p.target[t] for p in performed.values()]))
        there = np.stack([p.states.qpos[t + 1] for p in performed.values()])
        off = np.maximum(off, np.abs(simulation.qpos - there).max(axis=1))
    simulation.close()
    for n, distance in zip(performed, off):
        if not distance < SAME:
            reasons[n] = (
                f"has a certificate of another {library.robot.name}: its performance does not happen again, after "
                f"{REPLAYED / CONTROL_RATE:g} s it is {distance:.2g} off; `phuma certify --again` performs it anew"
            )
    return reasons
