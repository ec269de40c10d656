"""Bodies that another tool's model of a robot has and ours has not: each is fixed to a body of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Indices, Robot


class Fixed(NamedTuple):
    """A body of another model that is fixed to a body of ours."""

    name: str
    parent: str
    """The body of ours that carries it"""
    offset: tuple[float, float, float]
    """Where it is in the frame of that, in m"""
    after: str = ""
    """The body of ours that it comes after in the order; that which carries it unless said otherwise"""


PROTOMOTIONS: dict[str, tuple[Fixed, ...]] = {
    "g1": (
        Fixed("head", "pelvis", (0.0, 0.0, 0.4)),
        Fixed("left_rubber_hand", "left_wrist_yaw_link", (0.12, 0.0, 0.0)),
        Fixed("right_rubber_hand", "right_wrist_yaw_link", (0.12, 0.0, 0.0)),
    ),
    "h1_2": (Fixed("head_aux", "torso_link", (0.0, 0.0, 0.7)),),
}
"""The added bodies by robot, from g1_bm.xml, g1_holo_compat.xml and h1_2.xml of ProtoMotions"""


class Bodies(NamedTuple):
    """The bodies of another model in its order."""

    names: tuple[str, ...]
    of: Indices
    """(B,) the body of ours that carries each, or that it is"""
    offset: Array
    """(B, 3) m, where it is in the frame of that"""
    added: Array
    """(B,) bool, whether it is not one of ours"""


def with_fixed(robot: Robot, extra: Sequence[Fixed]) -> Bodies:
    """Return the robot's bodies with the added ones in their places."""
    rows: list[tuple[str, int, tuple[float, float, float], bool]] = []
    for b, name in enumerate(robot.body_names):
        rows.append((name, b, (0.0, 0.0, 0.0), False))
        for one in extra:
            if (one.after or one.parent) == name:
                rows.append((one.name, robot.body_names.index(one.parent), one.offset, True))
    names, of, offset, added = zip(*rows)
    return Bodies(names, np.array(of), np.array(offset), np.array(added))
