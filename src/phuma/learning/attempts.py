"""A policy at work: it tries motions from their first frame, and what it does is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from phuma.learning.library import MotionLibrary
from phuma.learning.policy import Policy
from phuma.learning.references import expand
from phuma.learning.simulation.interface import Simulation
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.learning.task import Disturbances, Tracking
from phuma.learning.tensors import to_numpy
from phuma.rollout import Rollout
from phuma.rotations import Array

START = 0.2
"""Times the table's ranges of first states: how far from its motion an attempt begins, so that several differ"""
AT_A_TIME = 256
"""robots"""
NEVER = np.iinfo(np.int64).max


def attempt(
    policy: Policy,
    library: MotionLibrary,
    simulation: Callable[[int], Simulation],
    episodes: int = 1,
    disturbances: Disturbances = Disturbances(start=START),  # noqa: B008 (it is frozen)
    seed: int = 0,
) -> Iterator[Rollout]:
    """Rollouts of all motions of the library, `episodes` of each; `simulation(robots)` makes a simulator of so many.

    Motions of like length are tried together, so the order is not the library's."""
    order = np.argsort([len(motion) for motion in library.motions], kind="stable")
    wanted = np.repeat(order, episodes)
    for start in range(0, len(wanted), AT_A_TIME):
        clips = wanted[start : start + AT_A_TIME]
        rng = np.random.default_rng([seed, start])
        yield from _together(policy, library, clips, simulation(len(clips)), disturbances, rng)


def _together(
    policy: Policy,
    library: MotionLibrary,
    clips: Array,
    simulation: Simulation,
    disturbances: Disturbances,
    rng: np.random.Generator,
) -> list[Rollout]:
    """One attempt a robot, at these motions."""
    used, places = np.unique(clips, return_inverse=True)
    references = expand(library, used, policy.base)
    first, last = references.first[places], references.last[places]
    path: list[Array] = []
    ended = np.full(len(clips), NEVER)

    def note(frames: Array, failed: Array) -> None:  # it must not know the task, which would never be let go of then
        ended[failed & (ended == NEVER)] = len(path)
        path.append(to_numpy(simulation.qpos).astype(np.float32))

    steps = int((last - first).max())
    task = Tracking(library.robot, simulation, references, lambda rows: first[rows], rng, disturbances, note, steps)
    path.append(to_numpy(simulation.qpos).astype(np.float32))
    observation = task.observe()
    while ((ended == NEVER) & (last - first >= len(path))).any():
        observation = task.step(policy.act(observation, task.references.features)).observation
    out = []
    for e, clip in enumerate(clips):
        frames = min(int(ended[e]), int(last[e] - first[e]) + 1)  # the state of a termination may mean nothing
        struck = int(ended[e]) if ended[e] <= last[e] - first[e] else None
        robot = library.robot
        root_pos, root_quat, joint_pos = np.split(np.stack([qpos[e] for qpos in path[:frames]]), (3, 7), axis=1)
        root_quat = root_quat / np.linalg.norm(root_quat, axis=1, keepdims=True)
        arrays = root_pos, root_quat, joint_pos
        out.append(Rollout(library.names[clip], robot.name, robot.joint_names, CONTROL_RATE, *arrays, struck))
    return out
