"""KungfuBot's observations beside those that all trackers share: about the root, by nine points, and what no robot
senses. Noise is uniform, by its own table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phuma.core.rotations import conjugate, roll_pitch, to_rotvec
from phuma.core.tensors import Tensor
from phuma.learning.env.context import Context
from phuma.learning.env.observation import ObservationTerm
from phuma.learning.env.points import POINTS, sole_heights
from phuma.learning.env.terms import observations as obs
from phuma.learning.env.turning import multiply, rotate_back, two_columns

ON_GROUND = 0.01
"""Height in m below which the lowest corner of a sole counts as in contact"""
WHICH = "knees, ankles, elbows, hands (left before right) and head"

# What the robot feels of itself.
root_angvel = replace(obs.root_angvel, noise=0.3, uniform=True)
joint_pos = replace(obs.joint_pos, noise=0.01, uniform=True)
joint_vel = replace(obs.joint_vel, noise=0.15, uniform=True)
root_roll_pitch = ObservationTerm(
    "root_roll_pitch",
    "rad, of the root body",
    size=obs.numbers(2),
    reading=lambda c: roll_pitch(c.state.root_quat),
    noise=0.2,
    uniform=True,
)

# The reference at the coming frame, seen from the robot.
root_rotation_error = ObservationTerm(
    "root_rotation_error",
    "rotation of the reference's root at the coming frame seen from the robot's, conj(q_robot) q_reference: the first "
    "two columns of its matrix, one after the other",
    size=obs.numbers(6),
    reading=lambda c: two_columns(multiply(conjugate(c.state.root_quat), c.reference.root_quat)),
    noise=0.05,
)
root_position_error = ObservationTerm(
    "root_position_error",
    "m, from the robot's root to the reference's at the coming frame, in the robot's root frame",
    size=obs.numbers(3),
    reading=lambda c: rotate_back(c.state.root_quat, c.reference.root_pos - c.state.root_pos),
)


# How far the robot is from the reference now.
def _root_off(c: Context) -> Tensor:
    assert c.now is not None
    return to_rotvec(multiply(conjugate(c.now.root_quat), c.state.root_quat))


root_off = ObservationTerm(
    "root_off",
    "rad, rotation of the root seen from the reference's at the present frame, conj(q_reference) q_robot, as a vector",
    size=obs.numbers(3),
    reading=_root_off,
    noise=0.05,
)
root_angvel_off = replace(obs.root_angvel_off, noise=0.3, uniform=True)
joint_pos_off = replace(obs.joint_pos_off, noise=0.01, uniform=True)
joint_vel_off = replace(obs.joint_vel_off, noise=0.15, uniform=True)


# The points by which it is tracked.
def _point_positions(c: Context) -> Tensor:
    seen = rotate_back(c.state.root_quat[:, None], c.points.pos - c.state.root_pos[:, None])
    return seen.reshape(len(seen), -1)


def _point_rotations(c: Context) -> Tensor:
    seen = two_columns(multiply(conjugate(c.state.root_quat[:, None]), c.points.quat))
    return seen.reshape(len(seen), -1)


def _coming_points(c: Context) -> Tensor:
    seen = rotate_back(c.reference_heading[:, None], c.reference_points.pos - c.reference.root_pos[:, None])
    return seen.reshape(len(seen), -1)


point_positions = ObservationTerm(
    "point_positions",
    f"m, {WHICH} from the root, in its frame",
    size=obs.numbers(3 * len(POINTS)),
    reading=_point_positions,
)
point_rotations = ObservationTerm(
    "point_rotations",
    f"rotations of the bodies of {WHICH} in the root's frame, as two columns each",
    size=obs.numbers(6 * len(POINTS)),
    reading=_point_rotations,
)
coming_points = ObservationTerm(
    "points",
    f"m, {WHICH} from the root, in the frame of its heading",
    size=obs.numbers(3 * len(POINTS)),
    reading=_coming_points,
)


# What no robot can sense.
def _contacts(c: Context) -> Tensor:
    assert c.constants.points is not None
    height = sole_heights(c.constants.points, c.state)
    return 0 * height + (height < ON_GROUND)


def _fact(begin: int, size: int) -> Callable[[Context], Tensor]:
    """Return the reading of so many of the robot's facts; zero where it is as its model."""
    return lambda c: 0 * c.state.root_pos[:, :size] if c.facts is None else c.facts[:, begin : begin + size]


def _gains(which: int) -> Callable[[Context], Tensor]:
    """Return the reading of the P gains, or of the D gains."""

    def reading(c: Context) -> Tensor:
        joints = c.action.shape[1]
        begin = 5 + which * joints
        return 0 * c.action if c.facts is None else c.facts[:, begin : begin + joints]

    return reading


contacts = ObservationTerm(
    "contacts",
    f"1 where a sole's lowest corner is below {ON_GROUND:g} m, else 0: left, right",
    size=obs.numbers(2),
    reading=_contacts,
)
root_height = ObservationTerm(
    "root_height", "m above the floor", size=obs.numbers(1), reading=lambda c: c.state.root_pos[:, 2:]
)
com = ObservationTerm(
    "com", "m by which the root body's centre of mass is off the model's", size=obs.numbers(3), reading=_fact(0, 3)
)
mass = ObservationTerm(
    "mass", "share by which the robot's mass is more than the model's", size=obs.numbers(1), reading=_fact(3, 1)
)
friction = ObservationTerm("friction", "its coefficient minus 1", size=obs.numbers(1), reading=_fact(4, 1))
stiffness = ObservationTerm(
    "stiffness", "shares by which the P gains are more than the model's", size=obs.joints, reading=_gains(0)
)
damping = ObservationTerm(
    "damping", "shares by which the D gains are more than the model's", size=obs.joints, reading=_gains(1)
)
