"""Pose the lifted body: points on it, and how they move with each unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phuma.body.mass import JOINT_WEIGHTS
from phuma.body.open import OPEN_SPACE
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, PARENTS, POINTS_PER_REGION, REGIONS
from phuma.video.freedom import BASIS, ROOT, SIZE
from phuma.video.markers import MARKERS

BONES = OPEN_SPACE.joint_dirs - np.where(
    np.array(PARENTS)[:, None, None] >= 0, OPEN_SPACE.joint_dirs[np.array(PARENTS)], 0.0
)
"""(22, 3, S) m, each joint from its parent at rest, by length of the open body"""
LENGTHS = BONES.shape[-1]
SOLES = 2 * len(REGIONS)
"""Points of a rig that lie on the soles: two of each region"""


def _subtrees() -> Array:
    """Return (22, 22) bool: whether the joint of the column hangs on that of the row, or is it."""
    below = np.eye(N_JOINTS, dtype=bool)
    for j in range(N_JOINTS - 1, 0, -1):
        below[PARENTS[j]] |= below[j]
    return below


BELOW = _subtrees()
SUBTREE_MASS = BELOW @ JOINT_WEIGHTS


@dataclass(frozen=True, eq=False)
class Rig:
    """Points on the body: the one with number n follows joint[n] at local[n] (3, S), linear in the body's lengths."""

    joint: Array
    """(P,) int"""
    local: Array
    """(P, 3, S)"""

    @staticmethod
    def of(names: tuple[str, ...]) -> Rig:
        """Return the rig of these markers, then of two points of each region of the soles, left and right on it."""
        joint = [MARKERS[n].joint for n in names]
        local = np.zeros((len(names) + SOLES, 3, LENGTHS))
        for n, name in enumerate(names):
            local[n, :, 0] = MARKERS[name].offset
        for r in range(len(REGIONS)):
            own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
            j = int(np.flatnonzero(OPEN_SPACE.sole_weights[own].any(axis=0))[0])
            across = OPEN_SPACE.sole_dirs[own, 0].sum(axis=-1)
            middle = OPEN_SPACE.sole_dirs[own].mean(axis=0)
            for k, n in enumerate((int(across.argmin()), int(across.argmax()))):
                at = middle.copy()
                at[0] = OPEN_SPACE.sole_dirs[own][n, 0]
                local[len(names) + 2 * r + k] = at - OPEN_SPACE.joint_dirs[j]
                joint.append(j)
        return Rig(np.array(joint), local)

    @cached_property
    def moved_by(self) -> list[tuple[int, Array, Array]]:
        """Return for each joint that can turn: its number, the points that it moves, and its freedoms."""
        out = []
        for j in range(1, N_JOINTS):
            freedoms = np.flatnonzero(BASIS[j].any(axis=0))
            if len(freedoms):
                out.append((j, np.flatnonzero(BELOW[j][self.joint]), freedoms))
        return out


@dataclass(frozen=True, eq=False)
class Posed:
    """Points and the centre of mass of T frames with their derivatives by the frame's V unknowns and S lengths."""

    points: Array
    """(T, P, 3) m"""
    by_frame: Array
    """(T, P, 3, V)"""
    by_length: Array
    """(T, P, 3, S)"""
    mass: Array
    """(T, 3) m, the centre of mass"""
    mass_by_frame: Array
    """(T, 3, V)"""


def exponential(w: Array) -> tuple[Array, Array]:
    """Return matrices exp(w) (..., 3, 3) of rotation vectors w (..., 3), and L(w): a change dw of w turns exp(w) by the
    rotation vector L dw, in the axes in which w is."""
    angle2 = np.einsum("...i,...i->...", w, w)[..., None, None]
    angle = np.sqrt(np.maximum(angle2, 1e-12))
    near = angle2 < 1e-8
    a = np.where(near, 1.0 - angle2 / 6, np.sin(angle) / angle)
    b = np.where(near, 0.5 - angle2 / 24, (1 - np.cos(angle)) / angle**2)
    c = np.where(near, 1.0 / 6, (angle - np.sin(angle)) / angle**3)
    hat = np.zeros((*w.shape, 3))
    hat[..., 0, 1], hat[..., 0, 2], hat[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    hat[..., 1, 0], hat[..., 2, 0], hat[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    square = w[..., :, None] * w[..., None, :] - angle2 * np.eye(3)
    return np.eye(3) + a * hat + b * square, np.eye(3) + b * hat + c * square


def local_rotations(x: Array) -> tuple[Array, Array]:
    """Return the matrices of the joints' local rotations (T, 22, 3, 3) of unknowns x (T, V), the pelvis' left out, and
    the axes about which freedoms turn them, as `exponential` has them."""
    return exponential(np.einsum("jif,tf->tji", BASIS, x[:, ROOT:]))


def world_rotations(x: Array, root: Array) -> tuple[Array, Array]:
    """Return (T, 22, 3, 3) the joints' rotations, the pelvis' being root (T, 3, 3), and axes (T, 22, 3, 3) as above in
    the world."""
    local, axes = local_rotations(x)
    world = np.empty_like(local)
    world[:, 0] = root
    for j in range(1, N_JOINTS):
        parent = world[:, PARENTS[j]]
        np.matmul(parent, local[:, j], out=world[:, j])
        axes[:, j] = parent @ axes[:, j]
    return world, axes


def joint_positions(x: Array, root: Array, lengths: Array) -> Array:
    """Return (T, 22, 3) m: where unknowns x (T, V), the pelvis' rotations (T, 3, 3) and lengths (S,) put the joints."""
    world, _ = world_rotations(x, root)
    bones = BONES @ lengths
    at = np.empty((len(x), N_JOINTS, 3))
    at[:, 0] = x[:, :3]
    for j in range(1, N_JOINTS):
        at[:, j] = at[:, PARENTS[j]] + world[:, PARENTS[j]] @ bones[j]
    return at


def pose(rig: Rig, x: Array, root: Array, lengths: Array) -> Posed:
    """Return the points of a rig where unknowns x (T, V), the pelvis' rotations (T, 3, 3) and lengths (S,) put them."""
    world, axes = world_rotations(x, root)
    at = np.zeros((len(x), N_JOINTS, 3, LENGTHS))
    for j in range(1, N_JOINTS):
        at[:, j] = at[:, PARENTS[j]] + world[:, PARENTS[j]] @ BONES[j]
    by_length = at[:, rig.joint] + world[:, rig.joint] @ rig.local
    joints = at @ lengths
    points = by_length @ lengths
    mass = joints.transpose(0, 2, 1) @ JOINT_WEIGHTS
    by_frame = np.zeros((*points.shape, SIZE))
    mass_by_frame = np.zeros((len(x), 3, SIZE))
    for k in range(3):
        by_frame[:, :, k, k] = mass_by_frame[:, k, k] = 1.0
    by_frame[..., 3:6] = _turning(points)
    mass_by_frame[..., 3:6] = _turning(mass)
    for j, moved, freedoms in rig.moved_by:
        turned = axes[:, j] @ BASIS[j][:, freedoms]
        unknowns = ROOT + freedoms
        arm = points[:, moved] - joints[:, j, None]
        by_frame[:, moved[:, None], :, unknowns] += _cross(turned[:, None], arm[..., None]).transpose(1, 3, 0, 2)
        below = np.flatnonzero(BELOW[j])
        lever = joints[:, below].transpose(0, 2, 1) @ JOINT_WEIGHTS[below] - SUBTREE_MASS[j] * joints[:, j]
        mass_by_frame[:, :, unknowns] += _cross(turned, lever[..., None])
    shift = x[:, :3]
    return Posed(points + shift[:, None], by_frame, by_length, mass + shift, mass_by_frame)


def _turning(arm: Array) -> Array:
    """Return (..., 3, 3): how points at arm (..., 3) from the pelvis move with its rotation vector."""
    out = np.zeros((*arm.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = arm[..., 2], -arm[..., 1], arm[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = -arm[..., 2], arm[..., 1], -arm[..., 0]
    return out


def _cross(a: Array, b: Array) -> Array:
    """Return (..., 3, K) the products a x b of vectors in the last axis but one."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    out = np.empty(shape)
    out[..., 0, :] = a[..., 1, :] * b[..., 2, :] - a[..., 2, :] * b[..., 1, :]
    out[..., 1, :] = a[..., 2, :] * b[..., 0, :] - a[..., 0, :] * b[..., 2, :]
    out[..., 2, :] = a[..., 0, :] * b[..., 1, :] - a[..., 1, :] * b[..., 0, :]
    return out
