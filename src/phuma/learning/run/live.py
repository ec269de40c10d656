"""An episode as it is watched: one environment that is simulated a control step at a time, and told what one likes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import like, to_numpy
from phuma.errors import PhumaError
from phuma.learning.deploy.policy import Policy
from phuma.learning.env.telling import Told
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import References, expand
from phuma.learning.run.rollouts import action_fault
from phuma.sim.events import EventsCfg
from phuma.sim.interface import Simulation

ENDLESS = np.iinfo(np.int64).max // 2
"""Control steps of an episode that ends with its motion alone."""


class Watched(NamedTuple):
    """What there is to see after a control step."""

    frame: int
    """Frame of the motion that was reached, at control rate"""
    qpos: Array
    """(7 + N,) root position in m, root quaternion wxyz, joints in rad"""
    off: Array
    """(B,) m, how far bodies are from where they should be; the first is the root"""
    failed: bool
    """Whether the episode was terminated: the next step is the first one of another"""
    over: bool
    """Whether the motion came to its end: the next step is the first one of another episode"""


class _Seen:
    """Note the state that a control step reached, before another episode begins; it must not know the environment,
    which would never be let go of then."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.failed = False

    def note(self, frames: Array, failed: Array) -> None:
        self.frame, self.failed = int(frames[0]), bool(failed[0])
        self.qpos = to_numpy(self._simulation.qpos)[0].astype(float)
        self.body_pos = to_numpy(self._simulation.state().body_pos)[0]


class LiveEpisode:
    """One environment in which a policy follows a motion, over and over. Where the policy is masked, `told` says what
    it is told from the next control step on; None leaves it at what it was trained for."""

    def __init__(
        self,
        policy: Policy,
        library: MotionLibrary,
        simulation: Simulation,
        events: EventsCfg = EventsCfg(),  # noqa: B008 (it is frozen)
        seed: int = 0,
    ) -> None:
        self._policy, self._task = policy, policy.info.task
        self.robot = self._task.tracked(library.robot)
        self._seen, self._start, self._steps = _Seen(simulation), np.zeros(1, dtype=int), 0
        self.told: Told | None = None
        start, references, rng = self._start, self._expanded(library), np.random.default_rng(seed)
        self._env = TrackingEnv(
            self.robot, simulation, self._task, references, lambda rows: start[rows], rng, events, self._seen.note,
            ENDLESS,
        )  # fmt: skip
        self._tell()
        self._observation = self._env.observe()

    @property
    def frame(self) -> int:
        """Return the motion's frame that the environment is in."""
        return int(self._env.frame[0])

    @property
    def last(self) -> int:
        """Return the motion's last frame."""
        return int(self._env.references.last[0])

    @property
    def qpos(self) -> Array:
        """Return (7 + N,) the state that the environment is in."""
        out: Array = to_numpy(self._env.simulation.qpos)[0].astype(float)
        return out

    def restart(self, frame: int = 0) -> None:
        """Begin another episode, on the motion's frame."""
        self._start[:] = np.clip(frame, 0, self.last - 1)
        self._env.use(self._env.references, self._env.draw, self._seen.note)
        self._start[:] = 0
        self._observation = self._env.observe()

    def wait(self) -> None:
        """Stay where the motion is, whose frame before this has to be as this one, for one control step."""
        self._env.frame[:] = max(self.frame - 1, 0)

    def go_on(self, library: MotionLibrary, frame: int) -> None:
        """Follow another motion from its frame on, in the state that the robot is in; falling begins that motion."""
        references = self._expanded(library)
        self._env.go_on(references, np.clip(np.array([frame]), 0, references.last - 1))

    def step(self) -> Watched:
        """Simulate one control step; an action that is not finite is an error."""
        env = self._env
        action = self._policy.act(self._observation, env.references.features)
        if not np.isfinite(action).all():
            raise PhumaError(
                f"the policy is faulty: {action_fault(action[0], self._steps + 1, self.robot.joint_names)}"
            )
        self._steps += 1
        self._tell()
        step = env.step(like(env.action, action))
        self._observation, seen = step.observation, self._seen
        wanted = to_numpy(env.references.state.body_pos)[seen.frame]
        off = np.linalg.norm(seen.body_pos - wanted, axis=-1)
        return Watched(seen.frame, seen.qpos, off, seen.failed, bool(to_numpy(step.truncated)[0]))

    def _tell(self) -> None:
        if self.told is not None and self._env.masks is not None:
            self.told.put_on(self._env.masks, self._steps)

    def _expanded(self, library: MotionLibrary) -> References:
        return expand(replace(library, robot=self.robot), [0], self._task)
