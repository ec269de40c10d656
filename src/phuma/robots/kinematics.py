"""Forward kinematics of a robot and its derivatives, compiled, one frame at a time or all at once.

Rotations are 3 x 3 matrices here: compiled code multiplies them faster than quaternions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from phuma import rotations as rot
from phuma.robots.robot import Robot
from phuma.rotations import Array


class Tree(NamedTuple):
    """A robot's bodies and joints as compiled code wants them."""

    parents: Array
    """(B,) int, -1 for the root; parents come first"""
    body_pos: Array
    """(B, 3) in the parent's frame"""
    body_rot: Array
    """(B, 3, 3) in the parent's frame"""
    first_joint: Array
    """(B + 1,) int: joints first_joint[b] to first_joint[b + 1] - 1 turn body b, in this order"""
    joint_axis: Array
    """(N, 3) in the body's frame"""
    joint_anchor: Array
    """(N, 3) in the body's frame"""


class Points(NamedTuple):
    """Points fixed to bodies, with the joints that move them."""

    body: Array
    """(P,) int"""
    offset: Array
    """(P, 3) in the body's frame"""
    joints: Array
    """(P, M) int: joints above the point, from the root down; -1 behind the last"""
    depth: Array
    """(P,) int: how many of them"""
    runs: Array
    """(P, R, 2) int: the same joints as ranges from first to past the last; empty ranges behind the last one"""


def tree_of(robot: Robot) -> Tree:
    bodies = np.arange(len(robot.body_names) + 1)
    return Tree(
        robot.parents.astype(np.int64),
        np.ascontiguousarray(robot.body_pos),
        rot.to_matrix(robot.body_quat),
        np.searchsorted(robot.joint_body, bodies).astype(np.int64),
        np.ascontiguousarray(robot.joint_axis),
        np.ascontiguousarray(robot.joint_anchor),
    )


def points_of(robot: Robot, body: Array, offset: Array) -> Points:
    """Points at `offset` (P, 3) on bodies `body` (P,)."""
    chains = []
    for b in np.asarray(body, dtype=int):
        chain: list[int] = []
        while b >= 0:
            chain = [*np.flatnonzero(robot.joint_body == b).tolist(), *chain]
            b = int(robot.parents[b])
        chains.append(chain)
    joints = np.full((len(chains), max(map(len, chains), default=0)), -1, dtype=np.int64)
    for row, chain in zip(joints, chains):
        row[: len(chain)] = chain
    ranges = [_ranges(chain) for chain in chains]
    runs = np.zeros((len(chains), max(map(len, ranges), default=0), 2), dtype=np.int64)
    for k, found in enumerate(ranges):
        runs[k, : len(found)] = np.array(found).reshape(-1, 2)
    return Points(
        np.asarray(body, dtype=np.int64),
        np.ascontiguousarray(offset, dtype=float),
        joints,
        (joints >= 0).sum(axis=1),
        runs,
    )


def _ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """Rising numbers as ranges: [0, 1, 2, 7] is [(0, 3), (7, 8)]."""
    out: list[tuple[int, int]] = []
    for n in numbers:
        if out and out[-1][1] == n:
            out[-1] = (out[-1][0], n + 1)
        else:
            out.append((n, n + 1))
    return out


@njit(cache=True)
def pose_bodies(tree, p, turn, q, body_p, body_r, axis, origin):
    """Bodies and joints in the world for one frame: root at p (3,) turned by `turn` (3, 3), joint angles q (N,).

    Fills body_p (B, 3), body_r (B, 3, 3), and for each joint its axis (N, 3) and a point on it, origin (N, 3).
    """
    for b in range(len(tree.parents)):
        up = tree.parents[b]
        if up < 0:
            body_p[b] = p
            body_r[b] = turn
        else:
            for i in range(3):
                body_p[b, i] = body_p[up, i]
                for k in range(3):
                    body_p[b, i] += body_r[up, i, k] * tree.body_pos[b, k]
                for j in range(3):
                    body_r[b, i, j] = 0.0
                    for k in range(3):
                        body_r[b, i, j] += body_r[up, i, k] * tree.body_rot[b, k, j]
        for n in range(tree.first_joint[b], tree.first_joint[b + 1]):
            _turn_about(body_p[b], body_r[b], tree.joint_axis[n], tree.joint_anchor[n], q[n], axis[n], origin[n])


@njit(cache=True)
def _turn_about(place, turn, local_axis, local_anchor, angle, axis, origin):
    """Turn a body about its hinge: R <- R Rot(axis, angle), with the anchor kept in place (Rodrigues)."""
    for i in range(3):
        axis[i] = 0.0
        origin[i] = place[i]
        for k in range(3):
            axis[i] += turn[i, k] * local_axis[k]
            origin[i] += turn[i, k] * local_anchor[k]
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = local_axis[0], local_axis[1], local_axis[2]
    d = 1.0 - c
    for i in range(3):
        a0, a1, a2 = turn[i, 0], turn[i, 1], turn[i, 2]
        turn[i, 0] = a0 * (c + x * x * d) + a1 * (y * x * d + z * s) + a2 * (z * x * d - y * s)
        turn[i, 1] = a0 * (x * y * d - z * s) + a1 * (c + y * y * d) + a2 * (z * y * d + x * s)
        turn[i, 2] = a0 * (x * z * d + y * s) + a1 * (y * z * d - x * s) + a2 * (c + z * z * d)
    for i in range(3):
        place[i] = origin[i]
        for k in range(3):
            place[i] -= turn[i, k] * local_anchor[k]


@njit(cache=True)
def _all_points(tree, points, root_pos, root_rot, q):
    frames, bodies = len(q), len(tree.parents)
    body_p, body_r = np.empty((bodies, 3)), np.empty((bodies, 3, 3))
    axis, origin = np.empty((q.shape[1], 3)), np.empty((q.shape[1], 3))
    out = np.empty((frames, len(points.body), 3))
    for t in range(frames):
        pose_bodies(tree, root_pos[t], root_rot[t], q[t], body_p, body_r, axis, origin)
        for k in range(len(points.body)):
            b = points.body[k]
            for i in range(3):
                out[t, k, i] = body_p[b, i]
                for j in range(3):
                    out[t, k, i] += body_r[b, i, j] * points.offset[k, j]
    return out


def point_positions(robot: Robot, points: Points, root_pos: Array, root_quat: Array, joint_pos: Array) -> Array:
    """(T, P, 3) the points in the world: root_pos (T, 3), root_quat (T, 4) wxyz, joint_pos (T, N)."""
    root_rot = np.ascontiguousarray(rot.to_matrix(np.asarray(root_quat, dtype=float)))
    return _all_points(
        tree_of(robot), points, np.ascontiguousarray(root_pos, dtype=float), root_rot,
        np.ascontiguousarray(joint_pos, dtype=float),
    )  # fmt: skip
