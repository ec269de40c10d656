"""The five metrics of retargeting and what stands beside them, as pure functions; shares in percent."""

from __future__ import annotations

import numpy as np

from phuma.rotations import Array

POSITION_LIMIT = 0.10  # m
DIRECTION_LIMIT = 10.0  # degrees
MARGIN = 0.98  # of joint and speed limits
HEIGHT_LIMIT = 0.01  # m
SLIP_LIMIT = 0.10  # m/s
IN_CONTACT = 0.5


def percent(passed: Array) -> float:
    """Share that passed; 100 where there is nothing to judge."""
    return 100.0 * float(np.mean(passed)) if np.size(passed) else 100.0


def position_errors(robot: Array, human: Array) -> Array:
    """(T, 12) metres between keypoints (T, 12, 3)."""
    return np.linalg.norm(robot - human, axis=-1)


def direction_errors(robot: Array, human: Array) -> Array:
    """(T, L) degrees between unit vectors (T, L, 3)."""
    cosine = np.clip(np.sum(robot * human, axis=-1), -1, 1)
    return np.degrees(np.arccos(cosine))


def fidelity(positions: Array, directions: Array) -> float:
    """Frames with a mean position error below 10 cm and a mean direction error below 10 degrees."""
    return percent((positions.mean(axis=1) < POSITION_LIMIT) & (directions.mean(axis=1) < DIRECTION_LIMIT))


def strict_fidelity(positions: Array, directions: Array) -> float:
    """Frames in which every joint and every link is within these limits."""
    near = (positions < POSITION_LIMIT).all(axis=1)
    return percent(np.asarray(near & (directions < DIRECTION_LIMIT).all(axis=1)))


def sample_fidelity(positions: Array, directions: Array) -> float:
    """Samples (joint or link, frame) within their limits."""
    return percent(np.concatenate([positions < POSITION_LIMIT, directions < DIRECTION_LIMIT], axis=1))


def feasibility(joint_pos: Array, fps: float, lower: Array, upper: Array, velocity_limit: Array) -> float:
    """Frames in which every joint is within 98 % of its range and of its speed; joint_pos (T, N)."""
    inside = ((joint_pos >= MARGIN * lower) & (joint_pos <= MARGIN * upper)).all(axis=1)
    slow = (np.abs(np.diff(joint_pos, axis=0)) * fps <= MARGIN * velocity_limit).all(axis=1)
    # A step belongs to the frame that it starts from.
    return percent(inside & np.append(slow, True))


def non_floating(heights: Array, contact: Array) -> float:
    """Contact samples with the sole at most 1 cm above the ground; heights and contact (T, 4)."""
    return percent(heights[contact > IN_CONTACT] <= HEIGHT_LIMIT)


def non_penetration(heights: Array, contact: Array) -> float:
    """Contact samples with the sole at most 1 cm below the ground."""
    return percent(heights[contact > IN_CONTACT] >= -HEIGHT_LIMIT)


def slip_speeds(soles: Array, contact: Array, fps: float) -> Array:
    """(S,) m/s: horizontal speed of each region that is in contact at t and t + 1; soles (T, 4, 3)."""
    speed = np.linalg.norm(np.diff(soles[..., :2], axis=0), axis=-1) * fps
    stands = contact > IN_CONTACT
    return speed[stands[:-1] & stands[1:]]


def non_skating(soles: Array, contact: Array, fps: float) -> float:
    """Of these, the share below 10 cm/s."""
    return percent(slip_speeds(soles, contact, fps) < SLIP_LIMIT)
