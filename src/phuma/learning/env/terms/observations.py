"""Observations of trackers, each declared once: its values, size, noise and description.

Noise is the paper's table of randomization; BeyondMimic's own code has uniform noise of these half widths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from phuma.core.rotations import conjugate, roll_pitch, to_rotvec
from phuma.core.tensors import Tensor
from phuma.learning.env.context import Context
from phuma.learning.env.observation import ObservationTerm, RobotSizes
from phuma.learning.env.turning import multiply, rotate, rotate_back, two_columns
from phuma.sim.state import State


def joints(robot: RobotSizes) -> int:
    """Return the number of joints."""
    return robot.n_joints


def key_bodies(numbers: int) -> Callable[[RobotSizes], int]:
    """Return the size of a term that has `numbers` numbers per key body."""
    return lambda robot: numbers * len(robot.key_bodies)


def numbers(count: int) -> Callable[[RobotSizes], int]:
    """Return the size of a term that has `count` numbers on every robot."""
    return lambda robot: count


# What the robot feels of itself.
previous_action = ObservationTerm(
    "previous_action",
    "the policy's last output `action`; zero at first",
    size=joints,
    reading=lambda c: c.action,
)
root_angvel = ObservationTerm(
    "root_angvel",
    "rad/s, of the root body in its own frame: the gyroscope",
    size=numbers(3),
    reading=lambda c: c.state.root_angvel,
    noise=0.2,
)
joint_pos = ObservationTerm(
    "joint_pos",
    "rad, minus default_pose",
    size=joints,
    reading=lambda c: c.state.joint_pos,
    noise=0.01,
    bias=lambda c: c.joint_bias,
    relative_to=lambda c: c.constants.default_pose,
)
joint_vel = ObservationTerm("joint_vel", "rad/s", size=joints, reading=lambda c: c.state.joint_vel, noise=0.5)

# The reference at the coming frame.
reference_joint_pos = ObservationTerm(
    "joint_pos", "rad, the reference's at the coming frame", size=joints, reading=lambda c: c.reference.joint_pos
)
reference_joint_vel = ObservationTerm(
    "joint_vel", "rad/s, the reference's at the coming frame", size=joints, reading=lambda c: c.reference.joint_vel
)
anchor_rotation = ObservationTerm(
    "anchor_rotation",
    "rotation of {anchor} in the reference seen from the robot's, conj(q_robot) q_reference: the first two "
    "columns of its matrix, one after the other",
    size=numbers(6),
    reading=lambda c: two_columns(c.anchor_rotation),
    noise=0.05,
)


# How far the robot is from the reference now.
def _now(c: Context) -> State:
    assert c.now is not None
    return c.now


def _anchor_off(c: Context) -> Tensor:
    anchor = c.constants.anchor
    return to_rotvec(multiply(conjugate(_now(c).body_quat[:, anchor]), c.state.body_quat[:, anchor]))


anchor_off = ObservationTerm(
    "anchor_off",
    "rad, rotation of {anchor} seen from the reference's at the present frame, conj(q_reference) q_robot, as a vector",
    size=numbers(3),
    reading=_anchor_off,
    noise=0.05,
)
root_angvel_off = replace(
    root_angvel,
    name="root_angvel_off",
    about="rad/s, root_angvel minus the reference's at the present frame",
    relative_to=lambda c: _now(c).root_angvel,
)
joint_pos_off = replace(
    joint_pos,
    name="joint_pos_off",
    about="rad, the joints minus the reference's at the present frame",
    relative_to=lambda c: _now(c).joint_pos,
)
joint_vel_off = replace(
    joint_vel,
    name="joint_vel_off",
    about="rad/s, joint_vel minus the reference's at the present frame",
    relative_to=lambda c: _now(c).joint_vel,
)


# What no robot can sense.
def _body_positions(c: Context) -> Tensor:
    anchor = c.constants.anchor
    there = c.state.body_quat[:, anchor][:, None]
    positions = rotate_back(there, c.state.body_pos - c.state.body_pos[:, anchor][:, None])
    return positions.reshape(len(positions), -1)


def _body_rotations(c: Context) -> Tensor:
    there = c.state.body_quat[:, c.constants.anchor][:, None]
    rotations = two_columns(multiply(conjugate(there), c.state.body_quat))
    return rotations.reshape(len(rotations), -1)


body_positions = ObservationTerm(
    "body_positions", "m, key_bodies from the anchor, in its frame", size=key_bodies(3), reading=_body_positions
)
body_rotations = ObservationTerm(
    "body_rotations",
    "rotations of key_bodies in the anchor's frame, as two columns each",
    size=key_bodies(6),
    reading=_body_rotations,
)
root_linvel = ObservationTerm(
    "root_linvel",
    "m/s, of the root body in its own frame",
    size=numbers(3),
    reading=lambda c: rotate_back(c.state.root_quat, c.state.root_linvel),
)


# What a robot senses only where its state is estimated from more than its own sensors.
def _anchor_position(c: Context) -> Tensor:
    anchor = c.constants.anchor
    there = c.reference.body_pos[:, anchor] - c.state.body_pos[:, anchor]
    return rotate_back(c.state.body_quat[:, anchor], there)


anchor_position = ObservationTerm(
    "anchor_position",
    "m, where {anchor} is in the reference at the coming frame, seen from the robot's",
    size=numbers(3),
    reading=_anchor_position,
    noise=0.25,
)
sensed_root_linvel = replace(root_linvel, noise=0.5)


# The reference from the coming frame on, whatever the robot does.
def _coming_bodies(c: Context) -> Tensor:
    bodies = rotate_back(c.reference_heading[:, None], c.reference.body_pos - c.reference.root_pos[:, None])
    return bodies.reshape(len(bodies), -1)


coming_root_height = ObservationTerm("root_height", "m", size=numbers(1), reading=lambda c: c.reference.root_pos[:, 2:])
coming_root_roll_pitch = ObservationTerm(
    "root_roll_pitch", "rad", size=numbers(2), reading=lambda c: roll_pitch(c.reference.root_quat)
)
coming_root_linvel = ObservationTerm(
    "root_linvel",
    "m/s, in the frame of the root's heading",
    size=numbers(3),
    reading=lambda c: rotate_back(c.reference_heading, c.reference.root_linvel),
)
coming_root_yaw_rate = ObservationTerm(
    "root_yaw_rate",
    "rad/s, about the vertical",
    size=numbers(1),
    reading=lambda c: rotate(c.reference.root_quat, c.reference.root_angvel)[:, 2:],
)
coming_joint_pos = ObservationTerm("joint_pos", "rad", size=joints, reading=lambda c: c.reference.joint_pos)
coming_bodies = ObservationTerm(
    "bodies", "m, key_bodies from the root, in the frame of its heading", size=key_bodies(3), reading=_coming_bodies
)
