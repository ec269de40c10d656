"""Load policies, roll them out on the motions of datasets, and judge the rollouts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.control.bundle import strands_of
from phuma.core.rollout import Rollout
from phuma.dataset.category import GROUPS
from phuma.dataset.dataset import Dataset, Entry
from phuma.errors import ConfigError, PhumaError, ReadError, missing_extra
from phuma.evaluation import judge, summarise
from phuma.evaluation.asked import judge_asked, summarise_asked
from phuma.io.inside import inside
from phuma.learning.deploy.dialects.registry import DIALECTS
from phuma.learning.deploy.policy import Policy, PolicyInfo
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.motions.library import MotionLibrary, Performance, performance_of
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.live import LiveEpisode
from phuma.learning.run.rollouts import START, roll_out
from phuma.robots import Robot, built_in_robots, is_built_in, load_robot
from phuma.robots.locked_motion import is_of_free, locked_motion, lost_by_locking
from phuma.robots.whole import role_bodies, whole_robot
from phuma.sim.events import EventsCfg
from phuma.sim.feedback import Strand
from phuma.sim.feedforward import CERTIFIED
from phuma.sim.world_simulation import simulation_in
from phuma.sim.worlds import World

if TYPE_CHECKING:
    from phuma.learning.deploy.foreign_policy import ForeignPolicy

SPLITS = ("train", "test")
UNREADABLE = "cannot be read"
"""The start of the reason for which an unreadable clip is left out: a fault of the dataset."""
FINEST = 1e-4
"""The shortest physics step that can be asked for, s."""


def load_policy(path: str | Path, robot: Robot | None = None, stage: str | None = None) -> Policy:
    """Load the policy of a training run's folder, with torch, or of an ONNX file, with onnxruntime alone.

    A policy that does not fit its robot is an error; `robot` is needed where that is not a built-in one. `stage` is the
    run's to take, by default the last one that has a checkpoint; a file that is of another one is an error.
    """
    path = Path(path)
    if path.is_dir():
        folder = RunFolder(path)
        stage = folder.begun_stage(stage)
        info = folder.info().policy(stage)
        robot = robot or robot_named(info.robot)
        fitting(path, info, robot)
        try:
            from phuma.learning.deploy.torch_policy import policy_of_run
        except ModuleNotFoundError as e:
            raise missing_extra(e, "the policy of a training run") from None
        return policy_of_run(folder, robot, stage)
    if not path.exists():
        raise ReadError(path, "does not exist; expected the folder of a training run or a policy.onnx")
    from phuma.learning.deploy.onnx_policy import load_onnx

    policy = load_onnx(path)
    if stage not in (None, policy.info.stage):
        raise ConfigError(f"--stage {stage}: {path} holds the stage {policy.info.stage} alone; give the run's folder")
    fitting(path, policy.info, robot or robot_named(policy.info.robot))
    return policy


def load_stranger(path: str | Path, dialect: str, robot: Robot | None = None) -> ForeignPolicy:
    """Load a policy in the layout of another project, for a built-in robot or for `robot`, with onnxruntime alone.

    Its `robot` is the one to evaluate it with: it has the file's gains and default pose.
    """
    from phuma.learning.deploy.foreign_policy import load_foreign

    robots = [load_robot(name) for name in built_in_robots()] if robot is None else [robot]
    return load_foreign(path, DIALECTS[dialect], robots)


def fitting(path: Path, info: PolicyInfo, robot: Robot) -> None:
    """Raise a ConfigError if the policy in `path` does not fit this robot."""
    try:
        info.check(robot)
    except ConfigError as e:
        raise ConfigError(f"{path}: {e}") from None


def robot_named(name: str) -> Robot:
    """Return the built-in robot of this name, joints locked or not; the name comes from a file, so it must not choose a
    folder to read."""
    if not is_built_in(name):
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
    performed: bool = False,
) -> MotionLibrary:
    """Return a dataset's kept clips of this robot, of one split or, with None, of both; `where` is SQL.

    A dataset without clips of a robot with locked joints gives those of the free one, without these joints. With
    `performed` they come with their certified performances, where they have any. Clips that no robot can be asked
    to follow, or that cannot be read, are in `left_out`; none left is an error.
    """
    chosen = chosen_clips(dataset if isinstance(dataset, Dataset) else Dataset(dataset), robot, where, split)
    library = MotionLibrary(robot)
    for entry in bar(chosen):
        try:
            performance = performance_in(entry, robot) if performed else None
            motion = entry.motion()
            library.add(entry.id, locked_motion(motion, robot), entry.row["category"], performance)
            library.lost[entry.id] = lost_by_locking(motion, robot)
        except ReadError as e:
            library.left_out.append((entry.id, f"{UNREADABLE}: {e}"))
        except PhumaError as e:  # it needs a joint that is locked
            library.left_out.append((entry.id, str(e)))
    if not library.names:
        name, reason = library.left_out[0]
        raise PhumaError(f"none of {len(chosen)} clips can be followed; {name}: {reason}")
    return library


def performance_in(entry: Entry, robot: Robot) -> Performance | None:
    """Return how a clip of a dataset is performed; None where it was not performed to the end, within 0.5 m."""
    if not entry.row.get("certified_loosely") or entry.row["robot"] != robot.name:
        return None

    def feedback() -> list[Strand]:
        return strands_of(entry.performance().reordered(robot.joint_names), robot, os.cpu_count() or 1)

    try:
        return performance_of(entry.performance(), robot, feedback)
    except ReadError:
        raise
    except PhumaError as e:
        raise ReadError(inside(entry.root, entry.row["certified_file"]), str(e)) from None


def chosen_clips(data: Dataset, robot: Robot, where: str | None = None, split: str | None = None) -> list[Entry]:
    """Return the dataset's kept clips of this robot, or else of the free one, of one split or, with None, of both; none
    is an error."""
    every = list(data.entries(where))
    entries = [entry for entry in every if entry.row["robot"] == robot.name] or [
        entry for entry in every if is_of_free(entry.row["robot"], robot)
    ]
    chosen = [entry for entry in entries if split in (None, entry.row["split"])]
    if not chosen:
        raise ConfigError(_nothing(data, robot, where, split, entries))
    return chosen


def exit_code(library: MotionLibrary) -> int:
    """Return the exit code of a command that used a library: 1 if some of its files could not be read."""
    return int(any(reason.startswith(UNREADABLE) for _, reason in library.left_out))


def _nothing(data: Dataset, robot: Robot, where: str | None, split: str | None, entries: list[Entry]) -> str:
    """Return the reason why no clip is left."""
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
    """Return a hash that is the same for the same motions under the same names, whatever dataset they are in."""
    digest = hashlib.sha256(library.robot.name.encode())
    for name, motion in zip(library.names, library.motions):
        qpos = motion.qpos
        digest.update(f"\n{name} {qpos.shape}\n".encode())
        digest.update(qpos.data)
    for performance in filter(None, library.performances):
        digest.update(performance.target.tobytes())
    return digest.hexdigest()[:16]


def try_out(
    policy: Policy,
    library: MotionLibrary,
    physics_dt: float | None = None,
    noise: float = 0.0,
    pushes: bool = False,
    episodes: int = 1,
    seed: int = 0,
    start: float | None = None,
) -> Iterator[Rollout]:
    """Yield rollouts of all motions of the library from their first frames, `episodes` of each, as they are made.

    Physics steps are the training's, or last `physics_dt` seconds; all collision shapes are used in both. `noise` is
    a multiple of the paper's, `start` one of its ranges of first states: by default a single episode starts on the
    reference, and several start a fifth of the ranges off, each elsewhere.
    """
    return try_in(World(physics_dt=physics_dt, noise=noise, pushes=pushes), policy, library, episodes, seed, start)


def try_in(
    world: World,
    policy: Policy,
    library: MotionLibrary,
    episodes: int = 1,
    seed: int = 0,
    start: float | None = None,
) -> Iterator[Rollout]:
    """Yield rollouts as `try_out` does, in any world."""
    policy.info.check(library.robot)
    if start is None:
        start = START if episodes > 1 else 0.0
    events = EventsCfg(noise=world.noise, pushes=world.pushes, start=start, delay=world.delay)
    robot = policy.info.task.tracked(library.robot)
    simulation = simulation_in(world, robot, physics_steps(policy.info, world.physics_dt))
    return roll_out(policy, library, simulation, episodes, events, seed)


def live_episode(world: World, policy: Policy, library: MotionLibrary, seed: int = 0) -> LiveEpisode:
    """Return an episode of the only motion of a library, to be simulated step by step, in any world."""
    policy.info.check(library.robot)
    events = EventsCfg(noise=world.noise, pushes=world.pushes, delay=world.delay)
    robot = policy.info.task.tracked(library.robot)
    simulation = simulation_in(world, robot, physics_steps(policy.info, world.physics_dt))
    return LiveEpisode(policy, library, simulation(1), events, seed)


def physics_steps(info: PolicyInfo, physics_dt: float | None) -> int:
    """Return the physics steps per control step: those of training, or such that each lasts `physics_dt` seconds."""
    if physics_dt is None:
        return info.substeps
    control = 1 / info.control_rate
    steps = round(control / physics_dt) if physics_dt >= FINEST else 0
    if steps < 1 or abs(steps * physics_dt - control) > 1e-9:
        raise ConfigError(
            f"a physics step of {physics_dt:g} s: a control step of {control:g} s has to be a whole number of steps of "
            f"at least {FINEST:g} s, for example {control / 4:g} or {control / 2:g}"
        )
    return steps


def judge_rollouts(rollouts: Iterable[Rollout], library: MotionLibrary) -> dict[str, Any]:
    """Compare rollouts with the motions they were to follow; return the document of `evaluation.summarise`."""
    index = {name: number for number, name in enumerate(library.names)}
    scores = []
    for rollout in rollouts:
        number = index[rollout.motion]
        scores.append(judge(rollout, library.motions[number], library.robot, library.categories[number]))
    return summarise(scores, GROUPS)


def follows_performances(info: PolicyInfo) -> bool:
    """Return whether a policy follows certified performances of motions, where they have any."""
    return info.base == CERTIFIED or info.task.performed


def judge_what_was_asked(rollouts: Iterable[Rollout], library: MotionLibrary, info: PolicyInfo) -> dict[str, Any]:
    """Return how near a masked policy's bodies stayed that it was told of, and which these are."""
    robot, index = whole_robot(library.robot), {name: number for number, name in enumerate(library.names)}
    named = role_bodies(robot)
    bodies = [named[role] for role in CONDITIONS[info.condition].roles]
    each = [judge_asked(rollout, library.motions[index[rollout.motion]], robot, bodies) for rollout in rollouts]
    return {"condition": info.condition, "bodies": bodies, **summarise_asked(each)}


def judge_policy(policy: Policy, library: MotionLibrary, **how: Any) -> dict[str, Any]:
    """Roll out a policy with the options of `try_out` and return the document of `judge_rollouts`."""
    return judge_rollouts(try_out(policy, library, **how), library)
