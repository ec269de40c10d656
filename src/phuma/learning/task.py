"""The task: many robots, each to follow a motion from some frame on. Terms are in `mdp`, physics in `simulation`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phuma.learning.mdp import disturbances, observations, rewards, terminations
from phuma.learning.mdp.anchoring import anchored
from phuma.learning.references import References
from phuma.learning.simulation.interface import Simulation
from phuma.learning.simulation.model import CONTROL_RATE, end_bodies
from phuma.learning.state import State
from phuma.learning.tensors import Tensor, like, namespace, to_numpy
from phuma.robots.robot import Robot
from phuma.rotations import Array

ACTION_SHARE = 0.25
"""Of a motor's torque limit that an action of 1 asks for, at a standstill: BeyondMimic's"""
LONGEST = round(10.0 * CONTROL_RATE)
"""control steps of an attempt while learning"""
Observation = dict[str, Tensor]
"""By the names of groups: `proprioception`, `goal` and `future` are the actor's; `critic` and `future` the critic's.
`future` is (E, 20) rows of the references' `features`: many robots see the same frames"""


@dataclass(frozen=True, eq=False)
class Disturbances:
    """What of the paper's table of randomisation acts during attempts."""

    noise: float = 0.0
    """times the table's noise of what the actor sees"""
    pushes: bool = False
    start: float = 0.0
    """times the table's ranges of first states"""
    joint_bias: Array | None = None
    """(E, N) rad that encoders read too much"""


class Step(NamedTuple):
    """What came of an action; `observation` is that of new attempts where one ended."""

    observation: Observation
    reward: Tensor
    """(E,)"""
    terminated: Tensor
    """(E,) bool: given up; nothing comes after"""
    truncated: Tensor
    """(E,) bool: the motion or the time is over; it could have gone on"""
    final: Observation | None
    """What was seen at the end, of the truncated alone, in their order; None if there are none"""
    terms: dict[str, float]
    """Means over robots of the reward's terms, unweighted"""


class Tracking:
    """E robots at it. `draw(rows)` gives each of these robots the frame of the references that it begins at;
    `on_step(frames, failed)` is told which frames were reached, and in which attempts failed."""

    def __init__(
        self,
        robot: Robot,
        simulation: Simulation,
        references: References,
        draw: Callable[[Array], Array],
        rng: np.random.Generator,
        disturbances: Disturbances = Disturbances(),  # noqa: B008 (it is frozen)
        on_step: Callable[[Array, Array], None] = lambda frames, failed: None,
        longest: int = LONGEST,
    ) -> None:
        self.robot, self.simulation, self.rng, self.disturbances = robot, simulation, rng, disturbances
        self.longest = longest
        self.anchor = robot.key_bodies.index(robot.anchor_body)
        example = simulation.state().root_pos
        self._to = lambda array: like(example, np.ascontiguousarray(array))
        self.ends = self._to(np.array([robot.key_bodies.index(name) for name in end_bodies(robot)]))
        self.default_pose = self._to(robot.default_pose.astype(np.float32))
        self.scale = self._to(action_scale(robot).astype(np.float32))
        middle, half = (robot.upper + robot.lower) / 2, rewards.SOFT_LIMIT * (robot.upper - robot.lower) / 2
        self.lower, self.upper = (self._to(x.astype(np.float32)) for x in (middle - half, middle + half))
        self.bias = None if disturbances.joint_bias is None else self._to(disturbances.joint_bias)
        self.use(references, draw, on_step)

    def use(
        self, references: References, draw: Callable[[Array], Array], on_step: Callable[[Array, Array], None]
    ) -> None:
        """Begin everywhere anew with other motions."""
        self.references, self.draw, self.on_step = references.on(self.scale), draw, on_step
        count = self.simulation.robots
        self.frame = np.zeros(count, dtype=int)
        self.age = np.zeros(count, dtype=int)
        self.wait = disturbances.push_waits(self.rng, count)
        self.action = self._to(np.zeros((count, self.robot.n_joints), dtype=np.float32))
        self._begin(np.arange(count))

    def observe(self) -> Observation:
        """What all see now."""
        return self._observe(np.arange(len(self.frame)), self.state)

    def step(self, action: Tensor) -> Step:
        """One control step with these actions, (E, N)."""
        self._push()
        coming = self.frame + 1
        target = self.references.base[coming] + self.scale * action
        self.simulation.step(target if self.bias is None else target - self.bias)
        self.frame, self.age = coming, self.age + 1
        self.state = self.simulation.state()
        reference = self.references.state[coming]
        place, turn = anchored(self.state, reference, self.anchor)
        terms = self._terms(reference, place, turn, action)
        reward = sum(rewards.WEIGHTS[name] * value for name, value in terms.items()) / CONTROL_RATE
        diverged = self.simulation.diverged()
        terminated = (
            terminations.anchor_height(self.state, reference, self.anchor)
            | terminations.anchor_tilt(self.state, reference, self.anchor)
            | terminations.end_height(self.state, place, self.ends)
            | diverged
        )
        failed = to_numpy(terminated)
        over = (coming >= self.references.last[self.references.clip_of[coming]]) | (self.age >= self.longest)
        truncated = over & ~failed
        self.action = action
        self.on_step(coming, failed)
        final = None
        if truncated.any():
            rows = np.flatnonzero(truncated)
            final = self._observe(rows, self.state[rows])
        done = np.flatnonzero(failed | truncated)
        if len(done):
            self._begin(done)
        means = {name: float(value.mean()) for name, value in terms.items()}
        return Step(self.observe(), reward, terminated, self._to(truncated), final, means)

    def snapshot(self) -> dict[str, Array]:
        """Where every robot is in what."""
        tensors = {"qpos": self.simulation.qpos, "qvel": self.simulation.qvel, "action": self.action}
        own = {"frame": self.frame, "age": self.age, "wait": self.wait}
        return {name: to_numpy(value).copy() for name, value in (own | tensors).items()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from a snapshot."""
        self.frame, self.age, self.wait = (arrays[name].copy() for name in ("frame", "age", "wait"))
        self.action, qpos, qvel = (self._to(arrays[name].copy()) for name in ("action", "qpos", "qvel"))
        self.simulation.restore(qpos, qvel)
        self.state = self.simulation.state()

    def _terms(self, reference: State, place: Tensor, turn: Tensor, action: Tensor) -> dict[str, Tensor]:
        state = self.state
        return {
            "anchor_position": rewards.anchor_position(state, reference, self.anchor),
            "anchor_rotation": rewards.anchor_rotation(state, reference, self.anchor),
            "body_linear_velocity": rewards.body_linear_velocity(state, reference),
            "body_angular_velocity": rewards.body_angular_velocity(state, reference),
            "body_position": rewards.body_position(state, place),
            "body_rotation": rewards.body_rotation(state, turn),
            "action_rate": rewards.action_rate(action, self.action),
            "joint_limits": rewards.joint_limits(state.joint_pos, self.lower, self.upper),
            "undesired_contacts": rewards.undesired_contacts(self.simulation.touching()),
        }

    def _begin(self, rows: Array) -> None:
        """New attempts of these robots."""
        self.frame[rows], self.age[rows] = self.draw(rows), 0
        start = self.references.state[self.frame[rows]]
        if self.disturbances.start:
            start = disturbances.perturbed(self.rng, start, self.disturbances.start, self.lower, self.upper)
        self.simulation.reset(rows, start)
        self.wait[rows] = disturbances.push_waits(self.rng, len(rows))
        again = self._to(np.isin(np.arange(len(self.frame)), rows))[:, None]
        xp = namespace(self.action)
        self.action = xp.where(again, xp.zeros_like(self.action), self.action)
        if len(rows) == len(self.frame):
            self.state = self.simulation.state()
        else:
            self.state = self.state.replaced(rows, self.simulation.state(rows))

    def _push(self) -> None:
        if not self.disturbances.pushes:
            return
        self.wait -= 1 / CONTROL_RATE
        due = self.wait <= 0
        if due.any():
            linear, angular = disturbances.pushes(self.rng, len(due))
            self.simulation.push(*(self._to(x * due[:, None].astype(np.float32)) for x in (linear, angular)))
            self.wait[due] = disturbances.push_waits(self.rng, int(due.sum()))

    def _observe(self, rows: Array, state: State) -> Observation:
        coming = np.minimum(self.frame[rows] + 1, self.references.last[self.references.clip_of[self.frame[rows]]])
        reference = self.references.state[coming]
        rotation = observations.anchor_rotation(state, reference, self.anchor)
        clean = (state.root_angvel, state.joint_pos, state.joint_vel)
        own = observations.proprioception(self.action[rows], *clean, self.default_pose)
        goal = observations.goal(reference, rotation)
        critic = observations.critic(own, goal, state, self.anchor)
        if self.bias is not None or self.disturbances.noise:
            own, goal = self._blurred(rows, clean, goal)
        return {
            "proprioception": own,
            "goal": goal,
            "future": self._to(self.references.coming(coming)),
            "critic": critic,
        }

    def _blurred(self, rows: Array, clean: tuple[Tensor, Tensor, Tensor], goal: Tensor) -> tuple[Tensor, Tensor]:
        """What the actor's sensors tell it of itself and of its goal."""
        spin, joints, speeds = clean
        if self.bias is not None:
            joints = joints + self.bias[rows]
        if self.disturbances.noise:

            def noisy(x: Tensor, spread: float) -> Tensor:
                drawn = disturbances.noise(self.rng, tuple(x.shape), spread * self.disturbances.noise)
                return x + self._to(drawn)

            spin = noisy(spin, disturbances.NOISE_ANGULAR)
            joints = noisy(joints, disturbances.NOISE_JOINTS)
            speeds = noisy(speeds, disturbances.NOISE_SPEEDS)
            goal = observations.joined([goal[:, :-6], noisy(goal[:, -6:], disturbances.NOISE_TURN)])
        return observations.proprioception(self.action[rows], spin, joints, speeds, self.default_pose), goal


def action_scale(robot: Robot) -> Array:
    """(N,) rad an action of 1 moves a joint's target by:  0.25 torque limit / stiffness."""
    return ACTION_SHARE * robot.torque_limit / robot.stiffness
