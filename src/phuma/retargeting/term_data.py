"""What the terms of the objective read: the target, and the robot as it is posed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array


class Targets(NamedTuple):
    """Targets are what the robot should follow."""

    root_rot: Array
    """(T, 3, 3) the human's root rotation, as a robot's root"""
    keypoints: Array
    """(T, 13, 3) pelvis and 12 joints of the adapted body"""
    links: Array
    """(L, 2) int: indices of keypoints"""
    directions: Array
    """(T, L, 3) unit vectors of the links"""
    feet: Array
    """(T, 2, 3) unit vectors from heel to toe, left and right"""
    stance: Array
    """(T, 4) int: 1 where a region is held to stand, else 0"""


class Posed(NamedTuple):
    """The robot is posed in every frame."""

    root_rot: Array
    """(T, 3, 3)"""
    body_pos: Array
    """(T, B, 3)"""
    body_rot: Array
    """(T, B, 3, 3)"""
    axis: Array
    """(T, N, 3) of the joints"""
    origin: Array
    """(T, N, 3) a point on each axis"""
    starts: Array
    """(T, C, 3) of the capsules"""
    ends: Array
    """(T, C, 3)"""


def empty_posed(frames: int, bodies: int, joints: int, capsules: int) -> Posed:
    """Return arrays for so many frames, to be filled."""
    shapes = ((3, 3), (bodies, 3), (bodies, 3, 3), (joints, 3), (joints, 3), (capsules, 3), (capsules, 3))
    return Posed(*(np.empty((frames, *shape)) for shape in shapes))
