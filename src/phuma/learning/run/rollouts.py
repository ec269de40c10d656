"""Roll out a policy: it follows motions from their first frame, and its states are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.core.tensors import like, to_numpy
from phuma.core.trajectory import split_qpos
from phuma.learning.deploy.policy import Policy
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand
from phuma.sim.events import EventsCfg
from phuma.sim.interface import Simulation
from phuma.sim.model import CONTROL_RATE

START = 0.2
"""Factor on the table's ranges of first states: how far from its motion an episode begins, so that several differ."""
AT_A_TIME = 256
"""Number of environments that are simulated together."""
NEVER = np.iinfo(np.int64).max


def roll_out(
    policy: Policy,
    library: MotionLibrary,
    simulation: Callable[[int], Simulation],
    episodes: int = 1,
    events: EventsCfg = EventsCfg(start=START),  # noqa: B008 (it is frozen)
    seed: int = 0,
) -> Iterator[Rollout]:
    """Yield rollouts of all motions of the library, `episodes` of each; `simulation(E)` makes a simulator of E
    environments. An action that is not finite ends its rollout, whose `fault` says so.

    Motions of like length are simulated together, so the order is not the library's."""
    order = np.argsort([len(motion) for motion in library.motions], kind="stable")
    wanted = np.repeat(order, episodes)
    for start in range(0, len(wanted), AT_A_TIME):
        clips = wanted[start : start + AT_A_TIME]
        rng = np.random.default_rng([seed, start])
        yield from _together(policy, library, clips, simulation(len(clips)), events, rng)


def _together(
    policy: Policy,
    library: MotionLibrary,
    clips: Array,
    simulation: Simulation,
    events: EventsCfg,
    rng: np.random.Generator,
) -> list[Rollout]:
    """Return one rollout per environment, of these motions."""
    used, indices = np.unique(clips, return_inverse=True)
    task = policy.info.task
    robot = task.tracked(library.robot)
    library = replace(library, robot=robot)
    references = expand(library, used, task)
    first, last = references.first[indices], references.last[indices]
    path: list[Array] = []
    ended = np.full(len(clips), NEVER)
    faults: dict[int, str] = {}

    def note(
        frames: Array, failed: Array
    ) -> None:  # it must not know the environment, which would never be let go of then
        ended[failed & (ended == NEVER)] = len(path)
        path.append(to_numpy(simulation.qpos).astype(np.float32))

    steps = int((last - first).max())
    env = TrackingEnv(library.robot, simulation, task, references, lambda rows: first[rows], rng, events, note, steps)
    path.append(to_numpy(simulation.qpos).astype(np.float32))
    observation = env.observe()
    while (running := (ended == NEVER) & (last - first >= len(path))).any():
        action = policy.act(observation, env.references.features)
        for row in np.flatnonzero(running & ~np.isfinite(action).all(axis=1)).tolist():
            faults[row], ended[row] = action_fault(action[row], len(path), library.robot.joint_names), len(path)
        # The others go on, in one simulation with it.
        finite = np.where(np.isfinite(action), action, np.zeros_like(action))
        observation = env.step(like(env.action, finite)).observation
    out = []
    for e, clip in enumerate(clips):
        frames = min(int(ended[e]), int(last[e] - first[e]) + 1)  # the state of a termination may be non-finite
        struck = int(ended[e]) if ended[e] <= last[e] - first[e] else None
        root_pos, root_quat, joint_pos = split_qpos(np.stack([qpos[e] for qpos in path[:frames]]))
        root_quat = root_quat / np.linalg.norm(root_quat, axis=1, keepdims=True)
        arrays, about = (root_pos, root_quat, joint_pos), (library.names[clip], struck, faults.get(e))
        out.append(Rollout(robot.name, robot.joint_names, CONTROL_RATE, *arrays, *about))
    return out


def action_fault(action: Array, step: int, joint_names: Sequence[str]) -> str:
    """Return what is wrong with an action that is not finite, of a number per joint or of others."""
    wrong = np.flatnonzero(~np.isfinite(action))
    first = wrong[0]
    others = f", and {len(wrong) - 1} more of {len(action)}" if len(wrong) > 1 else ""
    return (
        f"at control step {step} ({(step - 1) / CONTROL_RATE:.2f} s) its output `action` is {action[first]} for "
        f"{joint_names[first] if len(action) == len(joint_names) else f'number {first}'}{others}; actions have to be "
        "finite"
    )
