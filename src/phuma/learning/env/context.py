"""The context that the terms of a task are computed from: many environments at one control step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array, conjugate, heading, multiply
from phuma.core.tensors import Tensor, like
from phuma.learning.env.points import Moved, Points, moved, points_of
from phuma.learning.env.terms.anchoring import about_root, anchored
from phuma.robots.robot import Robot
from phuma.robots.whole import role_bodies
from phuma.sim.feedforward import MIDDLE
from phuma.sim.model import end_bodies
from phuma.sim.state import State

ACTION_SHARE = 0.25
"""Share of a motor's torque limit that an action of 1 asks for at a standstill, as in BeyondMimic."""
RANGE_SHARE = 0.7
"""Share of a joint's range by which an action of 1 moves its target with the base `middle`, as in ProtoMotions."""
SOFT_LIMIT = 0.9
"""Share of a joint's range, about its middle, that costs nothing."""


@dataclass(frozen=True, eq=False)
class Constants:
    """Constants of a robot that terms use, in the simulator's library and on its device."""

    anchor: int
    """Index of the anchor body among the key bodies."""
    ends: Tensor
    """(H,) indices of hands and feet among the key bodies."""
    default_pose: Tensor
    """(N,) rad, default joint angles."""
    action_scale: Tensor
    """(N,) rad by which an action of 1 moves a joint's target."""
    lower: Tensor
    """(N,) rad, soft lower joint limits."""
    upper: Tensor
    """(N,) rad, soft upper joint limits."""
    stiffness: Tensor = None
    """(N,) N m/rad of the joints' controllers."""
    damping: Tensor = None
    """(N,) N m s/rad of the joints' controllers."""
    torque_limit: Tensor = None
    """(N,) N m"""
    middle: Tensor = None
    """(N,) rad, the middle of each joint's range."""
    reach: Tensor = None
    """(N,) rad from there to its limits."""
    points: Points | None = None
    """Points by which a robot is tracked beside its bodies."""
    roles: Tensor = None
    """(6,) indices of `conditions.ROLES` among the key bodies; none where these are not all among them."""


def constants_of(robot: Robot, example: Tensor, base: str = "") -> Constants:
    """Return the robot's constants in the library and on the device of `example`, for actions that are added to a
    base."""

    def to(array: Array) -> Tensor:
        return like(example, np.ascontiguousarray(array))

    roles = [*role_bodies(robot).values()]
    if not set(roles) <= set(robot.key_bodies):
        roles = []
    middle, half = (robot.upper + robot.lower) / 2, SOFT_LIMIT * (robot.upper - robot.lower) / 2
    return Constants(
        anchor=robot.key_bodies.index(robot.anchor_body),
        ends=to(np.array([robot.key_bodies.index(name) for name in end_bodies(robot)])),
        default_pose=to(robot.default_pose.astype(np.float32)),
        action_scale=to(action_scale(robot, base).astype(np.float32)),
        lower=to((middle - half).astype(np.float32)),
        upper=to((middle + half).astype(np.float32)),
        stiffness=to(robot.stiffness.astype(np.float32)),
        damping=to(robot.damping.astype(np.float32)),
        torque_limit=to(robot.torque_limit.astype(np.float32)),
        middle=to(middle.astype(np.float32)),
        reach=to((half / SOFT_LIMIT).astype(np.float32)),
        points=points_of(robot, example),
        roles=to(np.array([robot.key_bodies.index(name) for name in roles], dtype=int)),
    )


def action_scale(robot: Robot, base: str = "") -> Array:
    """Return (N,) rad by which an action of 1 moves a joint's target: 0.25 torque limit / stiffness, or 0.7 of its
    range about the base `middle`."""
    if base == MIDDLE:
        return RANGE_SHARE * (robot.upper - robot.lower)
    return ACTION_SHARE * robot.torque_limit / robot.stiffness


class Ahead(NamedTuple):
    """Bodies of the reference in K coming frames, and which of them a masked policy is told."""

    pos: Tensor
    """(E, K, J, 3) m in the world"""
    quat: Tensor
    """(E, K, J, 4) wxyz in the world"""
    visible: Tensor
    """(E, K, J, 2) 1 where position or rotation are told, else 0"""
    time: Tensor
    """(E, K) s from now to each frame"""


@dataclass(frozen=True, eq=False)
class Context:
    """E environments at one control step, as terms see them. A term of the reference alone uses `reference` only."""

    constants: Constants
    reference: State
    """The reference at the frame that was reached (rewards, terminations) or at the coming one (observations)."""
    state: State
    """The state of the environments."""
    action: Tensor
    """(E, N) the last actions."""
    previous_action: Tensor | None = None
    """(E, N) the actions before them; known to rewards alone."""
    touching: Tensor | None = None
    """(E, B) N, contact forces on bodies other than feet and hands; known to rewards alone."""
    now: State | None = None
    """The reference at the frame of the state; known to observations alone."""
    joint_bias: Tensor | None = None
    """(E, N) rad by which joint encoders read too much; None where they are exact."""
    target: Tensor | None = None
    """(E, N) rad, what the joints' controllers aimed at; known to rewards alone."""
    before: State | None = None
    """The state a control step ago; known to rewards alone."""
    facts: Tensor | None = None
    """(E, 5 + 2 N) `sim.randomization.FACTS`; None where robots are as their model; known to observations alone."""
    age: Tensor | None = None
    """(E,) control steps since the episode began; known to rewards and terminations alone."""
    ahead: Ahead | None = None
    """What a masked policy is told of; known to its observations alone."""

    @cached_property
    def anchored(self) -> tuple[Tensor, Tensor]:
        """Return (E, K, 3) m and (E, K, 4) wxyz: the reference's key bodies moved to where the robot stands."""
        return anchored(self.state, self.reference, self.constants.anchor)

    @cached_property
    def points(self) -> Moved:
        """Return where the robot's points are and how they move."""
        assert self.constants.points is not None
        return moved(self.constants.points, self.state)

    @cached_property
    def reference_points(self) -> Moved:
        """Return where the reference's points are and how they move."""
        assert self.constants.points is not None
        return moved(self.constants.points, self.reference)

    @cached_property
    def points_about_root(self) -> tuple[Tensor, Tensor]:
        """Return (E, P, 3) m and (E, P, 4) wxyz: the reference's points moved to where the robot's root is."""
        points = self.reference_points
        return about_root(self.state, self.reference, points.pos, points.quat)

    @cached_property
    def anchor_rotation(self) -> Tensor:
        """Return (E, 4) wxyz: the rotation of the reference's anchor seen from the robot's."""
        anchor = self.constants.anchor
        return multiply(conjugate(self.state.body_quat[:, anchor]), self.reference.body_quat[:, anchor])

    @cached_property
    def reference_heading(self) -> Tensor:
        """Return (E, 4) wxyz: the rotation of the reference's root about the vertical."""
        return heading(self.reference.root_quat)


def reference_context(constants: Constants, reference: State, before: State | None = None) -> Context:
    """Return the context of terms that depend on the reference alone, or on it and a frame before in place of the
    robot."""
    return Context(constants, reference, state=before or reference, action=reference.joint_pos)
