"""Forward kinematics of the 22 joints: where local rotations put them in the world.

Components come first and frames last, and all joints that are as many steps away from the pelvis are done at a time. So
a short recording takes few steps, and a long one, done in blocks, fast ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, PARENTS

FRAMES = 256
"""Frames at a time, whose numbers stay in a processor's cache"""
_BEHIND, _BESIDE = [1, 2, 0], [2, 0, 1]
_FACTORS = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
_SIGNS = np.array([[1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])
"""Of a product a b of quaternions wxyz: the component of b that a component of a (rows) is multiplied by in each
component of the product (columns), and its sign"""


def _order() -> tuple[Array, Array, list[slice]]:
    """Return the joints in order of their steps from the pelvis, the places of their parents in that order, the
    pelvis' left out, and the places that are 1, 2, 3 ... steps away."""
    steps = [0]
    for parent in PARENTS[1:]:
        steps.append(steps[parent] + 1)
    joints = np.argsort(steps, kind="stable")
    parents = np.argsort(joints)[np.array(PARENTS)[joints[1:]]]
    ends = np.searchsorted(np.array(steps)[joints], np.arange(1, max(steps) + 2))
    return joints, parents, [slice(int(a), int(b)) for a, b in pairwise(ends)]


_JOINTS, _PARENTS, _GENERATIONS = _order()
_PLACES = np.argsort(_JOINTS)


def forward_kinematics(offsets: Array, root_pos: Array, joint_quat: Array) -> tuple[Array, Array]:
    """Return positions (T, 22, 3) m and rotations (T, 22, 4) wxyz of the joints in the world.

    offsets (22, 3): each joint from its parent at rest, m; root_pos (T, 3): the pelvis in the world, m; joint_quat
    (T, 22, 4): local, wxyz, the first one from rest axes to the world. With p the parent of joint j,
    q_j = q_p local_j and x_j = x_p + rotate(q_p, offset_j), to the last bit as `rotations` computes them.
    """
    position, rotation = np.empty((len(root_pos), N_JOINTS, 3)), np.empty((len(root_pos), N_JOINTS, 4))
    bones = offsets[_JOINTS[1:]].T[..., None]
    for first in range(0, len(root_pos), FRAMES):
        here = slice(first, first + FRAMES)
        turned = _rotations(_components(joint_quat[here].astype(float, copy=False)))
        moved = _positions(root_pos[here].T, _rotate(turned[:, _PARENTS], bones))
        rotation[here] = turned[:, _PLACES].transpose(2, 1, 0)
        position[here] = moved[:, _PLACES].transpose(2, 1, 0)
    return position, rotation


def world_rotations(joint_quat: Array) -> Array:
    """Return (T, 22, 4) wxyz: the rotations of the joints in the world, in the precision of the local ones."""
    return np.ascontiguousarray(_rotations(_components(joint_quat))[:, _PLACES].transpose(2, 1, 0))


def _components(joint_quat: Array) -> Array:
    """Return (4, 22, T) the rotations (T, 22, 4) with their components first, joints in order of their steps."""
    return np.ascontiguousarray(joint_quat.transpose(2, 1, 0)[:, _JOINTS])


def _rotations(local: Array) -> Array:
    """Return (4, 22, T) rotations in the world of local ones."""
    factors = local[_FACTORS]
    factors *= _SIGNS[..., None, None]
    out = np.empty_like(local)
    out[:, 0] = local[:, 0]
    for own in _GENERATIONS:
        terms = out[:, None, _PARENTS[own.start - 1 : own.stop - 1]] * factors[:, :, own]
        total = terms[0] + terms[1]
        total += terms[2]
        np.add(total, terms[3], out=out[:, own])
    return out


def _rotate(q: Array, v: Array) -> Array:
    """Return (3, ...) vectors v (3, ...) rotated by q (4, ...): v + 2 w (u x v) + 2 u x (u x v) with q = (w, u)."""
    behind, beside = q[1:][_BEHIND], q[1:][_BESIDE]
    t = 2 * (behind * v[_BESIDE] - beside * v[_BEHIND])
    return v + q[0] * t + behind * t[_BESIDE] - beside * t[_BEHIND]


def _positions(root: Array, bones: Array) -> Array:
    """Return (3, 22, T) positions from the pelvis' (3, T) and the bones (3, 21, T) that lead to the other joints."""
    out = np.empty((3, N_JOINTS, root.shape[1]))
    out[:, 0] = root
    for own in _GENERATIONS:
        those = slice(own.start - 1, own.stop - 1)
        np.add(out[:, _PARENTS[those]], bones[:, those], out=out[:, own])
    return out
