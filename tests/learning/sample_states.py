"""States for tests: resting ones to be changed by hand, random ones, and the same seen from elsewhere."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core import rotations as rot
from phuma.core.tensors import Tensor, like
from phuma.learning.env.context import Constants, Context
from phuma.robots import Robot
from phuma.sim.state import State
from tests.robots.posing import swap

MIRROR = np.array([1.0, -1.0, 1.0])


def context(
    state: State,
    reference: State,
    anchor: int = 0,
    action: Tensor = None,
    ends: tuple[int, ...] = (),
    default_pose: Tensor = None,
    lower: Tensor = None,
    upper: Tensor = None,
    **known: Tensor,
) -> Context:
    """What terms are computed from, with as much as the test says."""
    unused = [None] * 4  # what terms of all bodies know
    hands_and_feet = like(state.body_pos, np.array(ends, dtype=int))
    constants = Constants(anchor, hands_and_feet, default_pose, None, lower, upper, *unused)
    return Context(constants, reference, state, action, **known)


def resting(robots: int = 1, joints: int = 2, bodies: int = 4) -> State:
    """At the origin, upright, in double precision."""
    zeros = np.zeros
    return State(
        root_pos=zeros((robots, 3)), root_quat=np.tile(rot.IDENTITY, (robots, 1)),
        root_linvel=zeros((robots, 3)), root_angvel=zeros((robots, 3)),
        joint_pos=zeros((robots, joints)), joint_vel=zeros((robots, joints)),
        body_pos=zeros((robots, bodies, 3)), body_quat=np.tile(rot.IDENTITY, (robots, bodies, 1)),
        body_linvel=zeros((robots, bodies, 3)), body_angvel=zeros((robots, bodies, 3)),
    )  # fmt: skip


def any_states(seed: int, robots: int = 20, joints: int = 29, bodies: int = 14) -> State:
    """Whose parts have nothing to do with each other, so that no term can be right by chance; double precision."""
    rng = np.random.default_rng(seed)
    value = {f.name: rng.normal(size=getattr(resting(robots, joints, bodies), f.name).shape) for f in fields(State)}
    value["root_quat"], value["body_quat"] = rot.normalize(value["root_quat"]), rot.normalize(value["body_quat"])
    return State(**value)


def near(state: State, seed: int, spread: float = 0.1) -> State:
    """A state a little off another one: by `spread` m and, about twice that, rad, and by more in velocities."""
    rng, more = np.random.default_rng(seed), {"body_linvel": 4, "body_angvel": 10}
    value = {
        f.name: (x := getattr(state, f.name)) + spread * more.get(f.name, 1) * rng.normal(size=x.shape)
        for f in fields(State)
    }
    value["root_quat"], value["body_quat"] = rot.normalize(value["root_quat"]), rot.normalize(value["body_quat"])
    return State(**value)


def seen(state: State, yaw: np.ndarray, shift: np.ndarray) -> State:
    """The same robots turned about the vertical by yaw (E,) rad and then moved by shift (E, 3) m."""
    turn = rot.from_axis("z", yaw)
    each = turn[:, None]
    return replace(
        state,
        root_pos=rot.rotate(turn, state.root_pos) + shift,
        root_quat=rot.multiply(turn, state.root_quat),
        root_linvel=rot.rotate(turn, state.root_linvel),
        body_pos=rot.rotate(each, state.body_pos) + shift[:, None],
        body_quat=rot.multiply(each, state.body_quat),
        body_linvel=rot.rotate(each, state.body_linvel),
        body_angvel=rot.rotate(each, state.body_angvel),
    )


def elsewhere(state: State, seed: int) -> State:
    """Seen by observers who each stand somewhere else on the ground and look another way."""
    rng = np.random.default_rng(seed)
    shift = rng.uniform(-3, 3, size=(len(state), 3)) * [1, 1, 0]
    return seen(state, rng.uniform(-np.pi, np.pi, len(state)), shift)


def mirrored(robot: Robot, state: State) -> State:
    """In a mirror between left and right: what turns is turned about an axis that is mirrored and reversed."""
    joints, bodies = swap(robot.joint_names), swap(robot.key_bodies)
    sense = np.sum(robot.joint_axis[joints] * -MIRROR * robot.joint_axis, axis=1)
    quat = np.array([1.0, -1.0, 1.0, -1.0])
    return State(
        root_pos=state.root_pos * MIRROR,
        root_quat=state.root_quat * quat,
        root_linvel=state.root_linvel * MIRROR,
        root_angvel=state.root_angvel * -MIRROR,
        joint_pos=sense * state.joint_pos[:, joints],
        joint_vel=sense * state.joint_vel[:, joints],
        body_pos=state.body_pos[:, bodies] * MIRROR,
        body_quat=state.body_quat[:, bodies] * quat,
        body_linvel=state.body_linvel[:, bodies] * MIRROR,
        body_angvel=state.body_angvel[:, bodies] * -MIRROR,
    )


def as_tensors(tensor, *states: State) -> list[State]:
    """Of one library, single precision."""
    return [State(*(tensor(getattr(s, f.name)) for f in fields(State))) for s in states]
