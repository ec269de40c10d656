"""A path for a person of whom only rotations are known: the lowest foot stands still on level ground.

With c_r(t) the centre of sole region r from the pelvis and r the region that is lowest at t and t + 1,

    x(t+1) - x(t) = c_r(t) - c_r(t+1)  horizontally,    z(t) = - lowest sole point of frame t

so a person always touches the ground: who jumps squats instead, and who slides stands.
"""

from __future__ import annotations

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import POINTS_PER_REGION, REGIONS

BLOCK = 2048  # frames posed at a time


def stance_path(body: Body, joint_quat: Array) -> Array:
    """Return (T, 3) m: a path of the pelvis for joint_quat (T, 22, 4) wxyz, the first from rest axes to the world."""
    centres, lowest = (np.concatenate(parts) for parts in zip(*_regions(body, joint_quat)))
    region = np.argmin(lowest[1:] + lowest[:-1], axis=1)
    steps = np.arange(len(region))
    path = np.zeros((len(joint_quat), 3))
    path[1:, :2] = np.cumsum(centres[steps, region, :2] - centres[steps + 1, region, :2], axis=0)
    path[:, 2] = -lowest.min(axis=1)
    return path


def _regions(body: Body, joint_quat: Array) -> list[tuple[Array, Array]]:
    """Return (T, 4, 3) m and (T, 4) m, in blocks: each region's centre and its lowest point, from the pelvis."""
    out = []
    for first in range(0, len(joint_quat), BLOCK):
        quat = joint_quat[first : first + BLOCK]
        soles = body.sole_positions(body.forward(np.zeros((len(quat), 3)), quat), quat)
        soles = soles.reshape(len(quat), len(REGIONS), POINTS_PER_REGION, 3)
        out.append((soles.mean(axis=2), soles[..., 2].min(axis=2)))
    return out
