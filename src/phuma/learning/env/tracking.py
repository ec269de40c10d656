"""The tracking environments: each follows a motion from some frame on. They know no term: those are the task's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like, namespace, to_numpy
from phuma.learning.env.context import Ahead, Context, constants_of
from phuma.learning.env.deviation import lawful_targets
from phuma.learning.env.masking import Masks
from phuma.learning.env.observation import Histories, Observation, Observer
from phuma.learning.env.task import Task
from phuma.learning.motions.references import References
from phuma.robots.robot import Robot
from phuma.sim import events
from phuma.sim.actuation import Actuation
from phuma.sim.events import EventsCfg
from phuma.sim.interface import Simulation
from phuma.sim.model import CONTROL_RATE
from phuma.sim.state import State

LONGEST = round(10.0 * CONTROL_RATE)
"""Longest episode in training, in control steps."""


class Step(NamedTuple):
    """The outcome of one control step; `observation` is that of new episodes where one ended."""

    observation: Observation
    reward: Tensor
    """(E,) rewards."""
    terminated: Tensor
    """(E,) bool: whether the episode failed; nothing comes after."""
    truncated: Tensor
    """(E,) bool: whether the motion or the time is over; the episode could have gone on."""
    final: Observation | None
    """Observations of the truncated episodes alone at their end, in their order; None if there are none."""
    terms: dict[str, float]
    """Means over environments of the reward's terms, unweighted."""


class TrackingEnv:
    """E environments that track motions. `draw(rows)` returns the frame of the references at which each of the
    environments `rows` begins; `on_step(frames, failed)` is called with the frames that were reached, and in which of
    them episodes failed."""

    def __init__(
        self,
        robot: Robot,
        simulation: Simulation,
        task: Task,
        references: References,
        draw: Callable[[Array], Array],
        rng: np.random.Generator,
        cfg: EventsCfg = EventsCfg(),  # noqa: B008 (it is frozen)
        on_step: Callable[[Array, Array], None] = lambda frames, failed: None,
        longest: int = LONGEST,
    ) -> None:
        self.robot, self.simulation, self.task, self.rng, self.cfg = robot, simulation, task, rng, cfg
        self.longest = longest
        self.state: State = simulation.state()
        self._example = self.state.root_pos
        self.constants = constants_of(robot, self._example, task.base)
        self._zero = self._to(np.zeros(simulation.num_envs, dtype=np.float32))
        self.joint_bias = None if cfg.joint_bias is None else self._to(cfg.joint_bias)
        self.facts = None if cfg.facts is None else self._to(cfg.facts)
        self._actuation = Actuation(robot, cfg, rng)
        self._terminations = (*task.terminations, *task.strict)
        self._masks = None if task.masking is None else Masks(task.masking, simulation.num_envs, rng)
        self._observer, self._histories = Observer(task.sensed, rng, cfg.noise), Histories(task.sensed)
        self.use(references, draw, on_step)

    def use(
        self, references: References, draw: Callable[[Array], Array], on_step: Callable[[Array, Array], None]
    ) -> None:
        """Begin all episodes anew with other motions."""
        self.references, self.draw, self.on_step = references.on(self.constants.action_scale), draw, on_step
        count = self.simulation.num_envs
        self.frame = np.zeros(count, dtype=int)
        self.age = np.zeros(count, dtype=int)
        self.wait = events.push_waits(self.rng, count, self.cfg)
        self.action = self._to(np.zeros((count, self.task.actions(self.robot)), dtype=np.float32))
        self._begin(np.arange(count))
        if self._histories.lengths:
            self.observe()

    def let_go(self) -> None:
        """Let go of the motions; `use` says which come."""
        del self.references

    def go_on(self, references: References, frames: Array) -> None:
        """Go on from the states that the environments are in along other motions, at their frames (E,)."""
        self.references, self.frame = references.on(self.constants.action_scale), frames.copy()

    @property
    def masks(self) -> Masks | None:
        """Return the masks of what the environments are told, where the task is masked."""
        return self._masks

    def observe(self) -> Observation:
        """Return what all environments observe now."""
        out = self._observe(np.arange(len(self.frame)), self.state)
        self._histories.note(out)
        return self._histories.thinned(out)

    def step(self, action: Tensor) -> Step:
        """Advance all environments by one control step with the actions (E, A)."""
        self._push()
        self._histories.advance()
        if self._masks is not None:
            self._masks.advance()
        coming = self.frame + 1
        if self.task.lawful:
            target = self._to(lawful_targets(self.references, action, self.frame))
        else:
            target = self.references.base[coming] + self.constants.action_scale * action
        told = self._actuation(target, self.age == 0)
        self.simulation.step(told if self.joint_bias is None else told - self.joint_bias)
        self.frame, self.age = coming, self.age + 1
        before = self.state
        self.state = self.simulation.state()
        context = Context(
            self.constants, self.references.state.at(coming), self.state, action, self.action,
            touching=self.simulation.touching(), target=told, before=before, age=self._to(self.age),
        )  # fmt: skip
        terms = [(term, term.value(context)) for term in self.task.rewards]
        reward = sum((term.weight * value for term, value in terms), self._zero) / CONTROL_RATE
        terminated = self.simulation.diverged()
        for termination in self._terminations:
            terminated = termination(context) | terminated
        failed = to_numpy(terminated)
        over = (coming >= self.references.last[self.references.clip_of[coming]]) | (self.age >= self.longest)
        truncated = over & ~failed
        self.action = action
        self.on_step(coming, failed)
        final = None
        if truncated.any():
            rows = np.flatnonzero(truncated)
            final = self._histories.thinned(self._observe(rows, self.state[rows]))
        done = np.flatnonzero(failed | truncated)
        if len(done):
            self._begin(done)
        means = {term.name: float(value.mean()) for term, value in terms}
        return Step(self.observe(), reward, terminated, self._to(truncated), final, means)

    def snapshot(self) -> dict[str, Array]:
        """Return the state of every environment and its episode."""
        tensors = {"qpos": self.simulation.qpos, "qvel": self.simulation.qvel, "action": self.action}
        if self._actuation.waiting is not None:
            tensors["waiting"] = self._actuation.waiting
        own = {"frame": self.frame, "age": self.age, "wait": self.wait}
        seen = {f"seen.{name}": value for name, value in self._histories.seen.items()}
        masks = {} if self._masks is None else self._masks.snapshot()
        return {name: to_numpy(value).copy() for name, value in (own | tensors | seen | masks).items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot."""
        self.frame, self.age, self.wait = (arrays[name].copy() for name in ("frame", "age", "wait"))
        self.action, qpos, qvel = (self._to(arrays[name].copy()) for name in ("action", "qpos", "qvel"))
        self._histories.seen = {name: self._to(arrays[f"seen.{name}"].copy()) for name in self._histories.lengths}
        self._actuation.waiting = self._to(arrays["waiting"].copy()) if "waiting" in arrays else None
        if self._masks is not None:
            self._masks.restore(arrays)
        self.simulation.restore(qpos, qvel)
        self.state = self.simulation.state()

    def _begin(self, rows: Array) -> None:
        """Begin new episodes in these environments."""
        self.frame[rows], self.age[rows] = self.draw(rows), 0
        start = self.references.state[self.frame[rows]]
        if self.cfg.start:
            start = events.perturbed(self.rng, start, self.cfg.start, self.constants.lower, self.constants.upper)
        self.simulation.reset(rows, start)
        if self._masks is not None:
            self._masks.begin(rows)
        self.wait[rows] = events.push_waits(self.rng, len(rows), self.cfg)
        again = self._to(np.isin(np.arange(len(self.frame)), rows))[:, None]
        xp = namespace(self.action)
        self.action = xp.where(again, xp.zeros_like(self.action), self.action)
        if len(rows) == len(self.frame):
            self.state = self.simulation.state()
        else:
            self.state = self.state.replaced(rows, self.simulation.state(rows))

    def _push(self) -> None:
        if not self.cfg.pushes:
            return
        self.wait -= 1 / CONTROL_RATE
        due = self.wait <= 0
        if due.any():
            linear, angular = events.pushes(self.rng, len(due), self.cfg)
            self.simulation.push(*(self._to(x * due[:, None].astype(np.float32)) for x in (linear, angular)))
            self.wait[due] = events.push_waits(self.rng, int(due.sum()), self.cfg)

    def _observe(self, rows: Array, state: State) -> Observation:
        now, references = self.frame[rows], self.references
        coming = np.minimum(now + 1, references.last[references.clip_of[now]])
        context = Context(
            self.constants, references.state.at(coming), state, self.action[rows], now=references.state.at(now),
            joint_bias=None if self.joint_bias is None else self.joint_bias[rows],
            facts=None if self.facts is None else self.facts[rows],
            ahead=self._ahead(rows, coming),
        )  # fmt: skip
        out = self._histories.joined(self._observer(context), rows, self.age[rows] == 0)
        for group in self.task.coming:
            assert group.coming is not None
            out[group.name] = self._to(self.references.coming(group.coming, coming))
        return {group.name: out[group.name] for group in self.task.groups}

    def _ahead(self, rows: Array, coming: Array) -> Ahead | None:
        """Return what these environments are told of frames from the coming one on, where the task is masked."""
        if self._masks is None:
            return None
        references, roles = self.references, self.constants.roles
        wanted = coming[:, None] + self._masks.cfg.offsets
        frames = np.minimum(wanted, references.last[references.clip_of[coming]][:, None])
        time = (frames - coming[:, None] + 1).astype(np.float32) / np.float32(CONTROL_RATE)
        pos, quat = (
            v[self._to(frames)[:, :, None], roles] for v in (references.state.body_pos, references.state.body_quat)
        )
        return Ahead(pos, quat, self._to(self._masks.visible(rows)), self._to(time))

    def _to(self, array: Array) -> Tensor:
        return like(self._example, np.ascontiguousarray(array))
