"""How far a robot is from its reference, as the action of a policy that estimates it: the law of the motion's
certificate says what to aim at there.

A deviation leaves out where on the floor the robot is, which no sensor says. What the robot senses of it comes last, so
that an estimate is what is sensed, and a correction. Each kind of number has a unit, about as far off as asks a G1's
motors for one more action: an error of the same size matters about as much in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phuma.core.rotations import Array, conjugate, multiply, rotate, rotate_back, to_rotvec
from phuma.core.tensors import Tensor, like, namespace, to_numpy
from phuma.sim.coordinates import Coordinates, moved
from phuma.sim.state import State

if TYPE_CHECKING:
    from phuma.learning.motions.references import References

HEIGHT, LINEAR, TURN, JOINT, ANGULAR, JOINT_SPEED = 0.2, 1.2, 0.5, 1.5, 7.0, 35.0
"""Units of the root's height in m, its velocity in m/s, its rotation in rad, joints in rad, the root's angular velocity
and joints' speeds in rad/s: one over the root mean square of the gains of five certificates, walks, runs, a jump and a
stand"""
EXACT = 0.05
"""How exactly a number is to be known, in its unit"""
UNSENSED = 4
"""Numbers that no sensor says: height and velocity"""


def size(n_joints: int) -> int:
    """Return how many numbers a deviation has."""
    return UNSENSED + 6 + 2 * n_joints


def units(n_joints: int) -> Array:
    """Return (size,) the units of a deviation's numbers."""
    kinds = ((HEIGHT, 1), (LINEAR, 3), (TURN, 3), (JOINT, n_joints), (ANGULAR, 3), (JOINT_SPEED, n_joints))
    return np.concatenate([np.full(count, unit, dtype=np.float32) for unit, count in kinds])


def deviation(state: State, now: State) -> Tensor:
    """Return (E, size) how far states are from the reference's, in these units: height, velocity seen from the
    reference's root, rotation conj(q_reference) q_robot as a vector, joints, angular velocity and joints' speeds."""
    turn = to_rotvec(multiply(conjugate(now.root_quat), state.root_quat))
    parts = (
        state.root_pos[:, 2:] - now.root_pos[:, 2:],
        rotate_back(now.root_quat, state.root_linvel - now.root_linvel),
        turn,
        state.joint_pos - now.joint_pos,
        state.root_angvel - now.root_angvel,
        state.joint_vel - now.joint_vel,
    )
    joined = namespace(turn).concatenate(list(parts), -1)
    return joined / like(joined, units(state.joint_pos.shape[-1]))


def deviated(now: State, away: Array) -> Coordinates:
    """Return the states that deviate so far (E, size) from the reference's, on its own place on the floor."""
    joints = now.joint_pos.shape[-1]
    parts = away * units(joints)
    height, linear, turn, pos, angular, speed = np.split(parts, np.cumsum([1, 3, 3, joints, 3]), axis=-1)
    floor = np.zeros((len(away), 2), dtype=away.dtype)
    tangent = [floor, height, turn, pos, rotate(now.root_quat, linear), angular, speed]
    qpos = np.concatenate([now.root_pos, now.root_quat, now.joint_pos], axis=-1)
    qvel = np.concatenate([now.root_linvel, now.root_angvel, now.joint_vel], axis=-1)
    return moved(Coordinates(qpos, qvel), np.concatenate(tangent, axis=-1))


def lawful_targets(references: References, action: Tensor, frames: Array) -> Array:
    """Return (E, N) rad, what the law of each motion's certificate aims at where robots are as far from these frames
    as the actions say."""
    assert references.law is not None
    now = references.state[frames]
    state = State(*(to_numpy(getattr(now, name)) for name in State.__dataclass_fields__))
    return references.law(deviated(state, to_numpy(action)), frames)[0].astype(np.float32)
