"""Legs are solved by inverse kinematics: hip and knee from where the hip and the ankle are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from phuma.core import rotations as rot
from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX


def bones(body: Body, side: str) -> tuple[float, float]:
    """Return the lengths of thigh and shank, metres."""
    offsets = body.offsets
    thigh, shank = (float(np.linalg.norm(offsets[INDEX[f"{side}_{j}"]])) for j in ("knee", "ankle"))
    return thigh, shank


def reach(thigh: float, shank: float, knee: ArrayLike) -> Array:
    """Return the distance from hip to ankle with the knee bent by `knee` radians."""
    return np.sqrt(thigh**2 + shank**2 + 2 * thigh * shank * np.cos(knee))


def solve_leg(thigh: float, shank: float, hip: Array, ankle: Array, left: Array) -> tuple[Array, Array]:
    """Return world rotations (T, 4) wxyz of thigh and shank that bring the ankle (T, 3) where it belongs.

    `left` (T, 3) is where the knee's axis points as nearly as the leg allows; the knee bends backwards. An ankle out of
    reach is pointed at with the leg straight.
    """
    leg = ankle - hip
    length = np.linalg.norm(leg, axis=-1)
    down = leg / length[:, None]
    axis = left - np.sum(left * down, axis=-1, keepdims=True) * down
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    # Law of cosines: the angle at the hip between thigh and leg, and the bend of the knee.
    hip_angle = np.arccos(np.clip((thigh**2 + length**2 - shank**2) / (2 * thigh * length), -1, 1))
    knee = np.arccos(np.clip((length**2 - thigh**2 - shank**2) / (2 * thigh * shank), -1, 1))
    ahead = np.cross(axis, -down)
    up = -(np.cos(hip_angle)[:, None] * down + np.sin(hip_angle)[:, None] * ahead)
    thigh_quat = rot.from_matrix(np.stack([axis, up, np.cross(axis, up)], axis=-1))
    return thigh_quat, rot.multiply(thigh_quat, rot.from_axis("x", knee))


def free_ankle(thigh: float, shank: float, hip: Array, yaw: Array, leg: Array) -> Array:
    """Return the ankle (T, 3) of a leg in the air.

    `leg` (T, 2) is the knee's bend and the swing forward of the line from hip to ankle, in the vertical plane of
    heading yaw (T,).
    """
    length = reach(thigh, shank, leg[:, 0])
    forward = length * np.sin(leg[:, 1])
    return hip + np.stack([forward * np.cos(yaw), forward * np.sin(yaw), -length * np.cos(leg[:, 1])], axis=-1)


def within_reach(hip: Array, ankle: Array, easy: float, limit: float) -> Array:
    """Return the ankle drawn towards the hip where it is farther than `easy`, so that it never gets beyond `limit`.

    The result is C2.
    """
    leg = ankle - hip
    length = np.linalg.norm(leg, axis=-1, keepdims=True)
    short = easy + (limit - easy) * np.tanh((length - easy) / (limit - easy))
    return np.where(length > easy, hip + leg * short / length, ankle)
