"""The state of one robot, or of many, in MuJoCo's coordinates, and how far two of them are apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array


class Coordinates(NamedTuple):
    """The state of a robot, or of several with leading axes."""

    qpos: Array
    """(..., 7 + N) root position, root quaternion wxyz, joints"""
    qvel: Array
    """(..., 6 + N) root linear velocity in the world, angular in the root's frame, joints"""


def tangent(state: Coordinates, reference: Coordinates) -> Array:
    """Return (..., 2V) how far states are from a reference: root position in the world, rotation vector in the
    reference's root frame, joints; and the velocities of all these."""
    turn = rot.to_rotvec(rot.multiply(rot.conjugate(reference.qpos[..., 3:7]), state.qpos[..., 3:7]))
    away = state.qpos - reference.qpos
    return np.concatenate([away[..., :3], turn, away[..., 7:], state.qvel - reference.qvel], axis=-1)


def moved(reference: Coordinates, away: Array) -> Coordinates:
    """Return the states that are so far (..., 2V) from a reference: what `tangent` is of."""
    half = away.shape[-1] // 2
    qpos, turn = reference.qpos, rot.from_rotvec(away[..., 3:6])
    quat = rot.multiply(qpos[..., 3:7], turn)
    parts = (qpos[..., :3] + away[..., :3], quat, qpos[..., 7:] + away[..., 6:half])
    return Coordinates(np.concatenate(parts, axis=-1), reference.qvel + away[..., half:])
