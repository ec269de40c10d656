"""Roll out a policy: it follows motions from their first frame, and its states are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.core.tensors import to_numpy
from phuma.core.trajectory import split_qpos
from phuma.learning.deploy.policy import Policy
from phuma.learning.env.events import EventsCfg
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand
from phuma.learning.sim.interface import Simulation
from phuma.learning.sim.model import CONTROL_RATE

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
    environments.

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
    references = expand(library, used, task)
    first, last = references.first[indices], references.last[indices]
    path: list[Array] = []
    ended = np.full(len(clips), NEVER)

    def note(
        frames: Array, failed: Array
    ) -> None:  # it must not know the environment, which would never be let go of then
        ended[failed & (ended == NEVER)] = len(path)
        path.append(to_numpy(simulation.qpos).astype(np.float32))

    steps = int((last - first).max())
    env = TrackingEnv(library.robot, simulation, task, references, lambda rows: first[rows], rng, events, note, steps)
    path.append(to_numpy(simulation.qpos).astype(np.float32))
    observation = env.observe()
    while ((ended == NEVER) & (last - first >= len(path))).any():
        observation = env.step(policy.act(observation, env.references.features)).observation
    out = []
    for e, clip in enumerate(clips):
        frames = min(int(ended[e]), int(last[e] - first[e]) + 1)  # the state of a termination may be non-finite
        struck = int(ended[e]) if ended[e] <= last[e] - first[e] else None
        robot = library.robot
        root_pos, root_quat, joint_pos = split_qpos(np.stack([qpos[e] for qpos in path[:frames]]))
        root_quat = root_quat / np.linalg.norm(root_quat, axis=1, keepdims=True)
        arrays = root_pos, root_quat, joint_pos
        out.append(Rollout(robot.name, robot.joint_names, CONTROL_RATE, *arrays, library.names[clip], struck))
    return out
