"""A person as solid bones: where each one is in every frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma import rotations as rot
from phuma.rotations import Array
from phuma.skeleton import INDEX, JOINTS, N_JOINTS, PARENTS
from phuma.view import style

BONE_RADIUS, JOINT_RADIUS, HEAD_RADIUS = 0.020, 0.028, 0.095  # m
BONES = tuple(range(1, N_JOINTS))


@dataclass(frozen=True, eq=False)
class Figure:
    """Bones point along their own z, from parent to joint."""

    middle: Array
    """(T, 21, 3) m"""
    turn: Array
    """(T, 21, 4) wxyz"""
    length: Array
    """(21,) m"""
    joints: Array
    """(T, 22, 3) m; the head is shifted to its middle"""


def figure_of(joints: Array) -> Figure:
    """From joints (T, 22, 3)."""
    start, end = joints[:, [PARENTS[j] for j in BONES]], joints[:, list(BONES)]
    along = end - start
    length = np.linalg.norm(along, axis=-1)
    shown = joints.copy()
    neck = joints[:, INDEX["head"]] - joints[:, INDEX["neck"]]
    shown[:, INDEX["head"]] += 0.8 * HEAD_RADIUS * neck / np.maximum(np.linalg.norm(neck, axis=-1, keepdims=True), 1e-9)
    up = np.broadcast_to([0.0, 0.0, 1.0], along.shape)
    turn = rot.between(up, np.where(length[..., None] > 1e-9, along, up))
    return Figure((start + end) / 2, turn, length.mean(axis=0), shown)


def bone_colours() -> list[str]:
    """(21) left, right and trunk."""
    return [side_colour(JOINTS[j]) for j in BONES]


def joint_colours() -> list[str]:
    return [side_colour(name) for name in JOINTS]


def side_colour(name: str) -> str:
    """Of a joint or a sole region, by its name."""
    return style.LEFT if name.startswith("left") else style.RIGHT if name.startswith("right") else style.TRUNK
