"""Positions and rotations of a BVH skeleton's joints are computed in the file's own axes and units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.sources.bvh.parse import BvhJoint


def needed_joints(joints: Sequence[BvhJoint], wanted: Iterable[int]) -> list[int]:
    """Return the wanted joints and all above them, parents first."""
    need: set[int] = set()
    for i in wanted:
        while i >= 0 and i not in need:
            need.add(i)
            i = joints[i].parent
    return sorted(need)


def forward(
    joints: Sequence[BvhJoint], need: Sequence[int], values: Array
) -> tuple[dict[int, Array], dict[int, Array]]:
    """Return world positions (T, 3) and rotations (T, 4) wxyz of the needed joints for rows of channel values (T, C).

    Rotations apply in the order of the channels, the last one first. Position channels replace the offset.
    """
    position: dict[int, Array] = {}
    rotation: dict[int, Array] = {}
    for i in need:
        j = joints[i]
        local_pos = np.broadcast_to(np.array(j.offset), (len(values), 3))
        local_rot: Array | None = None
        for c, (kind, axis) in enumerate(j.channels):
            column = values[:, j.first_channel + c].astype(np.float64)
            if kind == "position":
                local_pos = local_pos.copy() if not local_pos.flags.writeable else local_pos
                local_pos[:, axis] = column
            else:
                axis_rot = rot.from_axis("xyz"[axis], np.radians(column))
                local_rot = axis_rot if local_rot is None else rot.multiply(local_rot, axis_rot)
        if j.parent < 0:
            position[i] = local_pos
            rotation[i] = np.tile(rot.IDENTITY, (len(values), 1)) if local_rot is None else local_rot
        else:
            position[i] = position[j.parent] + rot.rotate(rotation[j.parent], local_pos)
            rotation[i] = rotation[j.parent] if local_rot is None else rot.multiply(rotation[j.parent], local_rot)
    return position, rotation
