"""Positions and rotations of a BVH skeleton's joints, in the file's own axes and units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from phuma import rotations as rot
from phuma.rotations import Array
from phuma.sources.bvh.parse import BvhJoint


def needed_joints(joints: Sequence[BvhJoint], wanted: Iterable[int]) -> list[int]:
    """The wanted joints and all above them, parents first."""
    need: set[int] = set()
    for i in wanted:
        while i >= 0 and i not in need:
            need.add(i)
            i = joints[i].parent
    return sorted(need)


def forward(
    joints: Sequence[BvhJoint], need: Sequence[int], values: Array
) -> tuple[dict[int, Array], dict[int, Array]]:
    """World positions (T, 3) and rotations (T, 4) wxyz of the needed joints for rows of channel values (T, C).

    Rotations apply in the order of the channels, the last one first. Position channels stand in for the offset.
    """
    position: dict[int, Array] = {}
    rotation: dict[int, Array] = {}
    for i in need:
        j = joints[i]
        place = np.broadcast_to(np.array(j.offset), (len(values), 3))
        local: Array | None = None
        for c, (kind, axis) in enumerate(j.channels):
            column = values[:, j.first_channel + c].astype(np.float64)
            if kind == "position":
                place = place.copy() if not place.flags.writeable else place
                place[:, axis] = column
            else:
                turn = rot.from_axis("xyz"[axis], np.radians(column))
                local = turn if local is None else rot.multiply(local, turn)
        if j.parent < 0:
            position[i] = place
            rotation[i] = np.tile(rot.IDENTITY, (len(values), 1)) if local is None else local
        else:
            position[i] = position[j.parent] + rot.rotate(rotation[j.parent], place)
            rotation[i] = rotation[j.parent] if local is None else rot.multiply(rotation[j.parent], local)
    return position, rotation
