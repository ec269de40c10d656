"""Forward kinematics of a robot and its derivatives are compiled, for one frame or all at once.

Rotations are 3 x 3 matrices here: compiled code multiplies them faster than quaternions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot
from phuma.runtime.numba_cache import compiled


class Tree(NamedTuple):
    """A tree holds a robot's bodies and joints as compiled code wants them."""

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
    """These are points fixed to bodies, with the joints that move them."""

    body: Array
    """(P,) int"""
    offset: Array
    """(P, 3) in the body's frame"""
    joints: Array
    """(P, M) int: joints above the point, from the root down; -1 behind the last"""
    depth: Array
    """(P,) int: how many of them"""


def tree_of(robot: Robot) -> Tree:
    """Return a robot's tree."""
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
    """Return points at `offset` (P, 3) on bodies `body` (P,)."""
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
    return Points(
        np.asarray(body, dtype=np.int64),
        np.ascontiguousarray(offset, dtype=float),
        joints,
        (joints >= 0).sum(axis=1),
    )


@compiled
def pose_bodies(tree, bodies, p, r, q, body_p, body_r, axis, origin):
    """Pose bodies and joints in the world: root at p (T, 3) rotated by r (T, 3, 3), joint angles q (T, N).

    Poses `bodies`, parents first, on those that are posed already. Fills body_p (T, B, 3), body_r (T, B, 3, 3), and for
    each joint its axis (T, N, 3) and a point on it, origin (T, N, 3). A hinge turns its body by Rodrigues' formula, R
    <- R Rot(axis, angle), and keeps its anchor where it is.
    """
    for t in range(len(q)):
        for b in bodies:
            up = tree.parents[b]
            for i in range(3):
                if up < 0:
                    body_p[t, b, i] = p[t, i]
                    for j in range(3):
                        body_r[t, b, i, j] = r[t, i, j]
                    continue
                x, y, z = body_r[t, up, i, 0], body_r[t, up, i, 1], body_r[t, up, i, 2]
                offset, own = tree.body_pos[b], tree.body_rot[b]
                body_p[t, b, i] = body_p[t, up, i] + x * offset[0] + y * offset[1] + z * offset[2]
                for j in range(3):
                    body_r[t, b, i, j] = x * own[0, j] + y * own[1, j] + z * own[2, j]
            for n in range(tree.first_joint[b], tree.first_joint[b + 1]):
                x, y, z = tree.joint_axis[n, 0], tree.joint_axis[n, 1], tree.joint_axis[n, 2]
                ax, ay, az = tree.joint_anchor[n, 0], tree.joint_anchor[n, 1], tree.joint_anchor[n, 2]
                c, s = np.cos(q[t, n]), np.sin(q[t, n])
                d = 1.0 - c
                for i in range(3):
                    a0, a1, a2 = body_r[t, b, i, 0], body_r[t, b, i, 1], body_r[t, b, i, 2]
                    axis[t, n, i] = a0 * x + a1 * y + a2 * z
                    origin[t, n, i] = body_p[t, b, i] + a0 * ax + a1 * ay + a2 * az
                    t0 = a0 * (c + x * x * d) + a1 * (y * x * d + z * s) + a2 * (z * x * d - y * s)
                    t1 = a0 * (x * y * d - z * s) + a1 * (c + y * y * d) + a2 * (z * y * d + x * s)
                    t2 = a0 * (x * z * d + y * s) + a1 * (y * z * d - x * s) + a2 * (c + z * z * d)
                    body_r[t, b, i, 0], body_r[t, b, i, 1], body_r[t, b, i, 2] = t0, t1, t2
                    body_p[t, b, i] = origin[t, n, i] - t0 * ax - t1 * ay - t2 * az


@compiled
def place_points(body, offset, which, body_p, body_r, out):
    """Fill out (T, P, 3) with the points `which`, at offset (P, 3) on body (P,), of posed bodies."""
    for t in range(len(out)):
        for n in which:
            b = body[n]
            for i in range(3):
                out[t, n, i] = body_p[t, b, i]
                for j in range(3):
                    out[t, n, i] += body_r[t, b, i, j] * offset[n, j]


@compiled
def move_bodies(tree, bodies, p, v, w, speed, body_p, axis, origin, body_v, body_w):
    """Give posed bodies velocities: root at p (T, 3) moving by v (T, 3), turning by w (T, 3), joints by speed (T, N).

    Fills body_v (T, B, 3), of the bodies' origins, and body_w (T, B, 3), both in the world:
    w_b = w_a + sum_j s_j axis_j,  v_b = v_a + w_a x (p_b - p_a) + sum_j s_j axis_j x (p_b - origin_j).
    """
    for t in range(len(speed)):
        for b in bodies:
            up = tree.parents[b]
            if up < 0:
                vx, vy, vz = v[t, 0], v[t, 1], v[t, 2]
                wx, wy, wz = w[t, 0], w[t, 1], w[t, 2]
                x, y, z = body_p[t, b, 0] - p[t, 0], body_p[t, b, 1] - p[t, 1], body_p[t, b, 2] - p[t, 2]
            else:
                vx, vy, vz = body_v[t, up, 0], body_v[t, up, 1], body_v[t, up, 2]
                wx, wy, wz = body_w[t, up, 0], body_w[t, up, 1], body_w[t, up, 2]
                x = body_p[t, b, 0] - body_p[t, up, 0]
                y = body_p[t, b, 1] - body_p[t, up, 1]
                z = body_p[t, b, 2] - body_p[t, up, 2]
            vx, vy, vz = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
            for n in range(tree.first_joint[b], tree.first_joint[b + 1]):
                ax, ay, az = axis[t, n, 0] * speed[t, n], axis[t, n, 1] * speed[t, n], axis[t, n, 2] * speed[t, n]
                x = body_p[t, b, 0] - origin[t, n, 0]
                y = body_p[t, b, 1] - origin[t, n, 1]
                z = body_p[t, b, 2] - origin[t, n, 2]
                vx, vy, vz = vx + ay * z - az * y, vy + az * x - ax * z, vz + ax * y - ay * x
                wx, wy, wz = wx + ax, wy + ay, wz + az
            body_v[t, b, 0], body_v[t, b, 1], body_v[t, b, 2] = vx, vy, vz
            body_w[t, b, 0], body_w[t, b, 1], body_w[t, b, 2] = wx, wy, wz


@compiled
def body_quaternions(body_r, which, out):
    """Fill out (T, K, 4) wxyz with the rotations of posed bodies `which`, by a component that is at least a half."""
    for t in range(len(out)):
        for k in range(len(which)):
            m = body_r[t, which[k]]
            xx, yy, zz = m[0, 0], m[1, 1], m[2, 2]
            if xx + yy + zz > 0.0:
                s = np.sqrt(1.0 + xx + yy + zz)
                w, f = 0.5 * s, 0.5 / s
                x, y, z = (m[2, 1] - m[1, 2]) * f, (m[0, 2] - m[2, 0]) * f, (m[1, 0] - m[0, 1]) * f
            elif xx >= yy and xx >= zz:
                s = np.sqrt(1.0 + xx - yy - zz)
                x, f = 0.5 * s, 0.5 / s
                w, y, z = (m[2, 1] - m[1, 2]) * f, (m[0, 1] + m[1, 0]) * f, (m[0, 2] + m[2, 0]) * f
            elif yy >= zz:
                s = np.sqrt(1.0 - xx + yy - zz)
                y, f = 0.5 * s, 0.5 / s
                w, x, z = (m[0, 2] - m[2, 0]) * f, (m[0, 1] + m[1, 0]) * f, (m[1, 2] + m[2, 1]) * f
            else:
                s = np.sqrt(1.0 - xx - yy + zz)
                z, f = 0.5 * s, 0.5 / s
                w, x, y = (m[1, 0] - m[0, 1]) * f, (m[0, 2] + m[2, 0]) * f, (m[1, 2] + m[2, 1]) * f
            out[t, k, 0], out[t, k, 1], out[t, k, 2], out[t, k, 3] = w, x, y, z


def body_poses(robot: Robot, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return positions (T, B, 3) and rotation matrices (T, B, 3, 3) of all bodies in the world; joints are in the
    robot's order."""
    assert trajectory.joint_names == robot.joint_names
    return _posed(robot, trajectory.root_pos, trajectory.root_quat, trajectory.joint_pos)[:2]


def local_body_poses(robot: Robot, joint_pos: Array) -> tuple[Array, Array]:
    """Return the same as seen from the root, for joint_pos (T, N)."""
    frames = len(joint_pos)
    return _posed(robot, np.zeros((frames, 3)), np.tile(rot.IDENTITY, (frames, 1)), joint_pos)[:2]


def _posed(robot: Robot, root_pos: Array, root_quat: Array, joint_pos: Array) -> tuple[Array, Array, Array, Array]:
    """Return positions and rotation matrices of all bodies, and axes and anchors (T, N, 3) of the joints."""
    tree, (frames, joints) = tree_of(robot), joint_pos.shape
    bodies = np.arange(len(tree.parents))
    pos, matrix = np.empty((frames, len(bodies), 3)), np.empty((frames, len(bodies), 3, 3))
    root = np.ascontiguousarray(rot.to_matrix(np.asarray(root_quat, dtype=float)))
    p, q = np.ascontiguousarray(root_pos, dtype=float), np.ascontiguousarray(joint_pos, dtype=float)
    axis, origin = np.empty((frames, joints, 3)), np.empty((frames, joints, 3))
    pose_bodies(tree, bodies, p, root, q, pos, matrix, axis, origin)
    return pos, matrix, axis, origin


def body_velocities(robot: Robot, trajectory: Trajectory, velocity: Array) -> tuple[Array, Array]:
    """Return linear velocities (T, B, 3) of all bodies' origins and angular ones (T, B, 3), both in the world.

    `velocity` (T, 6 + N) is that of the root, linear in the world and angular in the root's frame, and of the joints,
    which are in the robot's order.
    """
    assert trajectory.joint_names == robot.joint_names
    path = trajectory.double()
    pos, _, axis, origin = _posed(robot, path.root_pos, path.root_quat, path.joint_pos)
    linear, angular = np.empty_like(pos), np.empty_like(pos)
    p, bodies = np.ascontiguousarray(path.root_pos), np.arange(robot.n_bodies)
    v, spin, speed = (np.ascontiguousarray(velocity[:, part]) for part in (slice(3), slice(3, 6), slice(6, None)))
    turn = np.ascontiguousarray(rot.rotate(path.root_quat, spin))
    move_bodies(tree_of(robot), bodies, p, v, turn, speed, pos, axis, origin, linear, angular)
    return linear, angular


def key_body_positions(robot: Robot, trajectory: Trajectory) -> Array:
    """Return the positions (T, K, 3) of the robot's key bodies in the world."""
    return body_poses(robot, trajectory)[0][:, robot.body_index(robot.key_bodies)]


def point_positions(robot: Robot, points: Points, trajectory: Trajectory) -> Array:
    """Return the points (T, P, 3) in the world; joints are in the robot's order."""
    return points_on_bodies(points, *body_poses(robot, trajectory))


def points_on_bodies(points: Points, pos: Array, matrix: Array) -> Array:
    """Return the points (T, P, 3) on bodies at pos (T, B, 3), rotated by matrix (T, B, 3, 3)."""
    out = np.empty((len(pos), len(points.body), 3))
    place_points(points.body, points.offset, np.arange(len(points.body)), pos, matrix, out)
    return out
