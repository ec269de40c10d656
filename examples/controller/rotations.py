"""The few rotations that a controller needs; quaternions are wxyz."""

import numpy as np


def multiply(p, q):
    """Return the product p q: first q, then p."""
    (a, b, c, d), (w, x, y, z) = p, q
    return np.array([
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ])  # fmt: skip


def inverse(q):
    """Return the inverse of a unit quaternion."""
    return np.array([q[0], -q[1], -q[2], -q[3]])


def about(axis, angle):
    """Return the rotation by an angle about a unit vector."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def vector(q):
    """Return a rotation as a vector: its axis times its angle."""
    q = q if q[0] >= 0 else -q
    length = np.linalg.norm(q[1:])
    return 2 * np.arctan2(length, q[0]) / max(length, 1e-12) * q[1:]


def columns(q):
    """Return the first two columns of a rotation's matrix, one after the other."""
    w, x, y, z = q
    first = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
    return np.array([*first, 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)])


def turned(q, v):
    """Return a vector turned by a rotation."""
    return multiply(multiply(q, [0.0, *v]), inverse(q))[1:]


def up(q):
    """Return where the world's up is, seen from a rotated body."""
    w, x, y, z = q
    return np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])


def roll_pitch(q):
    """Return roll and pitch of roll-pitch-yaw in rad."""
    w, x, y, z = q
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return np.array([roll, np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))])


def heading(q):
    """Return the rotation about the vertical that turns x to where q's x points, seen from above."""
    w, x, y, z = q
    return about([0, 0, 1], np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)))
