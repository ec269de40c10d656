"""The five metrics of retargeting and what stands beside them, as pure functions; shares in percent."""

from __future__ import annotations

import numpy as np

from phuma.core.foot_contacts import in_contact
from phuma.core.robot_metrics import DIRECTION_LIMIT, HEIGHT_LIMIT, MARGIN, POSITION_LIMIT, SLIP_LIMIT
from phuma.core.rotations import Array


def percent(passed: Array) -> float | None:
    """Return the share that passed; None, which is unknown, where there is nothing to judge."""
    return 100.0 * float(np.mean(passed)) if np.size(passed) else None


def position_errors(robot: Array, human: Array) -> Array:
    """Return (T, 12) metres between keypoints (T, 12, 3)."""
    return np.linalg.norm(robot - human, axis=-1)


def direction_errors(robot: Array, human: Array) -> Array:
    """Return (T, L) degrees between unit vectors (T, L, 3)."""
    cosine = np.clip(np.sum(robot * human, axis=-1), -1, 1)
    return np.degrees(np.arccos(cosine))


def fidelity(positions: Array, directions: Array) -> float | None:
    """Return the share of frames with a mean position error below 10 cm and a mean direction error below 10 degrees."""
    return percent((positions.mean(axis=1) < POSITION_LIMIT) & (directions.mean(axis=1) < DIRECTION_LIMIT))


def strict_fidelity(positions: Array, directions: Array) -> float | None:
    """Return the share of frames in which every joint and every link is within the limits of `fidelity`."""
    near = (positions < POSITION_LIMIT).all(axis=1)
    return percent(np.asarray(near & (directions < DIRECTION_LIMIT).all(axis=1)))


def sample_fidelity(positions: Array, directions: Array) -> float | None:
    """Return the share of samples (joint or link, frame) within their limits."""
    return percent(np.concatenate([positions < POSITION_LIMIT, directions < DIRECTION_LIMIT], axis=1))


def beyond_limits(joint_pos: Array, fps: float, lower: Array, upper: Array, velocity_limit: Array) -> Array:
    """Return (T, N) bool: whether the joint is beyond 98 % of its range or of its speed; joint_pos (T, N).

    A step belongs to the frame that it starts from.
    """
    beyond = (joint_pos < MARGIN * lower) | (joint_pos > MARGIN * upper)
    beyond[:-1] |= np.abs(np.diff(joint_pos, axis=0)) * fps > MARGIN * velocity_limit
    return beyond


def feasibility(joint_pos: Array, fps: float, lower: Array, upper: Array, velocity_limit: Array) -> float | None:
    """Return the share of frames in which no joint is beyond its limits."""
    return percent(~np.any(beyond_limits(joint_pos, fps, lower, upper, velocity_limit), axis=1))


def range_use(joint_pos: Array, lower: Array, upper: Array) -> Array:
    """Return (T, N): the percent of its limit at which each joint is: 100 max(q / upper, q / lower).

    100 is the limit, whichever of the two; 0 is the zero pose. Where zero is not within the range the share is counted
    from the other end instead, 100 (q - lower) / (upper - lower) for an upper limit that is not above zero.
    """
    low_start, high_start = np.where(lower < 0, 0.0, upper), np.where(upper > 0, 0.0, lower)
    low = (joint_pos - low_start) / (lower - low_start)
    high = (joint_pos - high_start) / (upper - high_start)
    return 100.0 * np.maximum(low, high)


def non_floating(heights: Array, contact: Array) -> float | None:
    """Return the share of contact samples with the sole at most 1 cm above the ground; heights and contact (T, 4)."""
    return percent(heights[in_contact(contact)] <= HEIGHT_LIMIT)


def non_penetration(heights: Array, contact: Array) -> float | None:
    """Return the share of contact samples with the sole at most 1 cm below the ground."""
    return percent(heights[in_contact(contact)] >= -HEIGHT_LIMIT)


def contact_slip(soles: Array, contact: Array, fps: float) -> Array:
    """Return (T, 4) m/s: the horizontal speed of each region to the next frame; nan unless in contact at t and t + 1.

    soles (T, 4, 3), contact (T, 4).
    """
    stands = in_contact(contact)
    speed = np.linalg.norm(np.diff(soles[..., :2], axis=0), axis=-1) * fps
    out = np.full(stands.shape, np.nan)
    out[:-1] = np.where(stands[:-1] & stands[1:], speed, np.nan)
    return out


def slip_speeds(soles: Array, contact: Array, fps: float) -> Array:
    """Return (S,) m/s: the values of `contact_slip` that are defined."""
    slip = contact_slip(soles, contact, fps)
    return slip[~np.isnan(slip)]


def is_skating(slip: Array) -> Array:
    """Return bool, of any shape: whether a slip is 10 cm/s or faster."""
    return slip >= SLIP_LIMIT


def non_skating(soles: Array, contact: Array, fps: float) -> float | None:
    """Return the share of steps in contact that do not skate."""
    return percent(~is_skating(slip_speeds(soles, contact, fps)))


def fastest(points: Array, fps: float) -> Array:
    """Return (T,) m/s: the speed of the fastest of points (T, P, 3) to the next frame; the last frame has that of the
    one before, and a single frame none, which is nan."""
    speed = np.linalg.norm(np.diff(points, axis=0), axis=-1).max(axis=1) * fps
    return np.concatenate([speed, speed[-1:]]) if len(speed) else np.full(len(points), np.nan)


def joint_speed(joint_pos: Array, fps: float, velocity_limit: Array) -> float | None:
    """Return the greatest speed of any joint in percent of its limit; None of a single frame."""
    if len(joint_pos) < 2:
        return None
    return 100.0 * float(np.max(np.abs(np.diff(joint_pos, axis=0)) * fps / velocity_limit))
