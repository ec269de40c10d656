"""The 22 body joints of SMPL-X and the 88 sole points: names, tree, left and right.

Rest axes are SMPL-X's: x to the person's left, y up, z forward. The world is z-up with x forward.
"""

from __future__ import annotations

import numpy as np

JOINTS = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
)  # fmt: skip
"""Names in SMPL-X's order; `foot` is the ball of the foot, where the toes bend."""

PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
N_JOINTS = len(JOINTS)
INDEX = {name: i for i, name in enumerate(JOINTS)}

REGIONS = ("left_heel", "left_toe", "right_heel", "right_toe")
"""Order of the columns of every contact array."""
POINTS_PER_REGION = 22
N_SOLE = POINTS_PER_REGION * len(REGIONS)


def _other_side(name: str) -> str:
    return name.replace("left", "#").replace("right", "left").replace("#", "right")


MIRROR_JOINTS = np.array([INDEX[_other_side(n)] for n in JOINTS])
MIRROR_REGIONS = np.array([REGIONS.index(_other_side(r)) for r in REGIONS])
MIRROR_SOLE = (MIRROR_REGIONS[:, None] * POINTS_PER_REGION + np.arange(POINTS_PER_REGION)).ravel()

REST_TO_WORLD = np.array([0.5, 0.5, 0.5, 0.5])
"""wxyz of the rotation (x, y, z) -> (z, x, y): a body in its rest axes then stands in the world, facing x."""
