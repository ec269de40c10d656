"""What a policy sees, in named groups that the network joins: BeyondMimic's observations with the paper's future.

For the G1: proprioception 90, goal 64, future 20 x 78; the critic sees those without noise, and more.
"""

from __future__ import annotations

from phuma.learning.state import State
from phuma.learning.tensors import (
    Tensor,
    heading,
    inverse,
    multiply,
    namespace,
    roll_pitch,
    rotate,
    rotate_back,
    two_columns,
)

FUTURE_FRAMES, FUTURE_STEPS = 20, 95
"""So many frames, evenly over so many control steps"""


def proprioception(
    action: Tensor, root_angvel: Tensor, joint_pos: Tensor, joint_vel: Tensor, default_pose: Tensor
) -> Tensor:
    """(E, 3 N + 3) previous action, base angular velocity, DoF position relative to the default pose, DoF velocity."""
    return namespace(action).concatenate([action, root_angvel, joint_pos - default_pose, joint_vel], -1)


def anchor_rotation(state: State, reference: State, anchor: int) -> Tensor:
    """(E, 4) wxyz: the reference's anchor seen from the robot's."""
    return multiply(inverse(state.body_quat[:, anchor]), reference.body_quat[:, anchor])


def goal(reference: State, rotation: Tensor) -> Tensor:
    """(E, 2 N + 6) the reference's DoF position and velocity at the coming frame, and its torso's rotation seen from
    the robot's, as two columns."""
    return namespace(rotation).concatenate([reference.joint_pos, reference.joint_vel, two_columns(rotation)], -1)


def future_features(reference: State) -> Tensor:
    """(E, 7 + N + 3 K) one frame of the motion encoder's input: root height (1), roll and pitch (2), linear velocity in
    the heading's frame (3), yaw rate (1), DoF position (N), key bodies from the root in the heading's frame (3 K).

    Of the reference alone, whatever the robot does."""
    xp = namespace(reference.root_pos)
    facing = heading(reference.root_quat)
    bodies = rotate_back(facing[:, None], reference.body_pos - reference.root_pos[:, None])
    return xp.concatenate(
        [
            reference.root_pos[:, 2:],
            roll_pitch(reference.root_quat),
            rotate_back(facing, reference.root_linvel),
            rotate(reference.root_quat, reference.root_angvel)[:, 2:],
            reference.joint_pos,
            bodies.reshape(len(bodies), -1),
        ],
        -1,
    )


def critic(own: Tensor, goal: Tensor, state: State, anchor: int) -> Tensor:
    """(E, 5 N + 9 K + 12) what the critic sees: the actor's groups without noise, key bodies' places and rotations in
    the anchor's frame, and the base's linear velocity in its own."""
    there = state.body_quat[:, anchor][:, None]
    places = rotate_back(there, state.body_pos - state.body_pos[:, anchor][:, None])
    turns = two_columns(multiply(inverse(there), state.body_quat))
    speed = rotate_back(state.root_quat, state.root_linvel)
    return joined([own, goal, places.reshape(len(speed), -1), turns.reshape(len(speed), -1), speed])


def joined(parts: list[Tensor]) -> Tensor:
    """Side by side."""
    return namespace(parts[0]).concatenate(parts, -1)
