"""Policies at work on the motions of datasets: loaded, tried out and judged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phuma.dataset.category import GROUPS
from phuma.dataset.dataset import Dataset, Entry
from phuma.errors import ConfigError, PhumaError, ReadError, missing_extra
from phuma.evaluation import judge, summarise
from phuma.learning.attempts import START, attempt
from phuma.learning.library import MotionLibrary
from phuma.learning.policy import Policy, PolicyInfo
from phuma.learning.run import RunFolder
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.learning.simulation.native import NativeSimulation
from phuma.learning.task import Disturbances
from phuma.motion import Provenance
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot, built_in_robots, load_robot
from phuma.rollout import Rollout

SPLITS = ("train", "test")
UNREADABLE = "cannot be read"
"""How the reason begins for which a clip is left out that is no motion at all: a fault of the dataset"""
FINE = 4
"""Physics steps a control step of 20 ms that policies are judged with where it matters: 5 ms"""


def load_policy(path: str | Path, robot: Robot | None = None) -> Policy:
    """Of a training run's folder, by torch, or of an ONNX file, by onnxruntime alone. That it does not fit its robot is
    an error; `robot` is needed where that is not a built-in one."""
    path = Path(path)
    if path.is_dir():
        folder = RunFolder(path)
        info = folder.info().policy
        robot = robot or robot_named(info.robot)
        fitting(path, info, robot)
        try:
            from phuma.learning.torch_policy import policy_of_run
        except ModuleNotFoundError as e:
            raise missing_extra(e, "the policy of a training run") from None
        return policy_of_run(folder, robot)
    if not path.exists():
        raise ReadError(path, "does not exist; expected the folder of a training run or a policy.onnx")
    from phuma.learning.onnx_policy import load_onnx

    policy = load_onnx(path)
    fitting(path, policy.info, robot or robot_named(policy.info.robot))
    return policy


def fitting(path: Path, info: PolicyInfo, robot: Robot) -> None:
    """That the policy in `path` is of this robot."""
    try:
        info.check(robot)
    except ConfigError as e:
        raise ConfigError(f"{path}: {e}") from None


def robot_named(name: str) -> Robot:
    """Of a policy's robot. Only a built-in one: the name is a file's word, and must not choose a folder to read."""
    if name not in built_in_robots():
        raise ConfigError(
            f"the policy's robot is {name}, which is not built in ({', '.join(built_in_robots())}): give its folder by "
            "--robot"
        )
    return load_robot(name)


def dataset_library(
    dataset: str | Path | Dataset,
    robot: Robot,
    where: str | None = None,
    split: str | None = None,
    bar: Callable[[list[Entry]], Iterable[Entry]] = iter,
) -> MotionLibrary:
    """The kept clips of a dataset that are of this robot, of one split or, with None, of both; `where` is SQL. Clips
    that no robot can be asked to follow, or that cannot be read, are in `left_out`; none left is an error."""
    chosen = chosen_clips(dataset if isinstance(dataset, Dataset) else Dataset(dataset), robot, where, split)
    library = MotionLibrary(robot)
    for entry in bar(chosen):
        try:
            library.add(entry.id, entry.motion(), entry.row["category"])
        except ReadError as e:
            library.left_out.append((entry.id, f"{UNREADABLE}: {e}"))
    if not library.names:
        name, reason = library.left_out[0]
        raise PhumaError(f"none of {len(chosen)} clips can be followed; {name}: {reason}")
    return library


def chosen_clips(data: Dataset, robot: Robot, where: str | None = None, split: str | None = None) -> list[Entry]:
    """The kept clips of a dataset that are of this robot, of one split or, with None, of both; none is an error."""
    entries = [entry for entry in data.entries(where) if entry.row["robot"] == robot.name]
    chosen = [entry for entry in entries if split in (None, entry.row["split"])]
    if not chosen:
        raise ConfigError(_nothing(data, robot, where, split, entries))
    return chosen


def exit_code(library: MotionLibrary) -> int:
    """Of a command that used it: 1 if some of its files could not be read."""
    return int(any(reason.startswith(UNREADABLE) for _, reason in library.left_out))


def _nothing(data: Dataset, robot: Robot, where: str | None, split: str | None, entries: list[Entry]) -> str:
    """Why no clip is left."""
    robots = [name for (name,) in data.query("SELECT DISTINCT robot FROM manifest ORDER BY robot")[1]]
    if robot.name not in robots:
        return f"{data.root} has no motion of robot {robot.name}; it is of: {', '.join(robots) or 'none'} (see --robot)"
    under = f" under {where!r}" if where else ""
    if not entries:
        return f"{data.root} has no kept clip of {robot.name}{under}; `phuma status {data.root}` says what it holds"
    others = sorted({str(entry.row["split"]) for entry in entries})
    those = "; `phuma evaluate ... --split train` judges those" if split == "test" else ""
    return (
        f"the {split} split of {data.root} is empty{under}: all {len(entries)} kept clips of {robot.name} are in "
        f"{', '.join(others)}{those}. Splits follow from the recordings' names; about a tenth of many recordings is in "
        "test"
    )


def library_id(library: MotionLibrary) -> str:
    """The same for the same motions under the same names, whatever dataset they are in."""
    digest = hashlib.sha256(library.robot.name.encode())
    for name, motion in zip(library.names, library.motions):
        digest.update(f"\n{name} {motion.shape}\n".encode())
        digest.update(np.ascontiguousarray(motion).data)
    return digest.hexdigest()[:16]


def reference_motion(library: MotionLibrary, number: int) -> RobotMotion:
    """What a policy is asked to do: one of the library's motions at control rate."""
    motion, robot = library.motions[number].astype(float), library.robot
    about = Provenance(source=library.names[number], format="motion library")
    root_pos, root_quat, joint_pos = motion[:, :3], motion[:, 3:7], motion[:, 7:]
    contact = np.zeros((len(motion), 4))
    return RobotMotion(
        robot.name, robot.joint_names, CONTROL_RATE, root_pos, root_quat, joint_pos, contact, None, about
    )


def try_out(
    policy: Policy,
    library: MotionLibrary,
    full_collision: bool = False,
    noise: float = 0.0,
    pushes: bool = False,
    episodes: int = 1,
    seed: int = 0,
) -> Iterator[Rollout]:
    """Rollouts of all motions of the library from their first frames, `episodes` of each, as they are made.

    Physics steps are the training's, or of 5 ms with `full_collision`; all collision shapes are there in both. `noise`
    is times the paper's. A single episode begins on the reference, several begin somewhat off it, each elsewhere."""
    policy.info.check(library.robot)
    disturbances = Disturbances(noise=noise, pushes=pushes, start=START if episodes > 1 else 0.0)
    simulation = partial(NativeSimulation, library.robot, substeps=physics_steps(policy.info, full_collision))
    return attempt(policy, library, simulation, episodes, disturbances, seed)


def physics_steps(info: PolicyInfo, full_collision: bool) -> int:
    """A control step."""
    return max(FINE, info.substeps) if full_collision else info.substeps


def judge_rollouts(rollouts: Iterable[Rollout], library: MotionLibrary) -> dict[str, Any]:
    """The document of `evaluation.summarise`; rollouts are held against what the policy was asked to do."""
    place = {name: number for number, name in enumerate(library.names)}
    scores = []
    for rollout in rollouts:
        number = place[rollout.motion]
        scores.append(judge(rollout, reference_motion(library, number), library.robot, library.categories[number]))
    return summarise(scores, GROUPS)


def judge_policy(policy: Policy, library: MotionLibrary, **how: Any) -> dict[str, Any]:
    """The same of `try_out`, whose options these are."""
    return judge_rollouts(try_out(policy, library, **how), library)
