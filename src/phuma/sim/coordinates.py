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
