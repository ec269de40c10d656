"""Where on the body the landmarks of pose networks and the markers of other tools are.

A marker follows a joint at an offset in that joint's rest axes (x to the left, y up, z ahead), as a share of stature.
BlazePose's landmarks were placed by people who clicked on pictures: a hip is in the groin's height, four centimetres
below the joint's centre, a heel is its back, a foot index the tip of the big toe. Their offsets are those at which four
views of one person see them; what other tools call a hip or a knee is clicked in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phuma.body.open import OPEN_SPACE, OpenShape
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX

Offset = tuple[float, float, float]
_MIDDLE: dict[str, tuple[str, Offset]] = {
    "nose": ("head", (0.0, 0.013, 0.057)),
    "neck": ("spine3", (0.0, 0.05, 0.0)),
    "mid_hip": ("pelvis", (0.0, -0.073, -0.005)),
    "head": ("head", (0.0, 0.1, 0.01)),
}
_LEFT: dict[str, tuple[str, Offset]] = {
    "eye": ("head", (0.015, 0.029, 0.044)),
    "ear": ("head", (0.03, 0.022, 0.014)),
    "mouth": ("head", (0.009, -0.006, 0.049)),
    "shoulder": ("shoulder", (0.0, 0.0, 0.0)),
    "elbow": ("elbow", (0.0, 0.0, 0.0)),
    "wrist": ("wrist", (0.0, 0.0, 0.0)),
    "pinky": ("wrist", (0.045, -0.004, -0.008)),
    "index": ("wrist", (0.051, -0.005, 0.01)),
    "thumb": ("wrist", (0.035, -0.006, 0.017)),
    "hip": ("hip", (-0.004, -0.022, 0.0)),
    "knee": ("knee", (0.0, -0.012, 0.0)),
    "ankle": ("ankle", (0.0, 0.006, 0.0)),
    "heel": ("ankle", (0.0, -0.028, -0.031)),
    "foot_index": ("foot", (0.0, -0.005, 0.031)),
    "big_toe": ("foot", (-0.015, -0.004, 0.033)),
    "small_toe": ("foot", (0.025, -0.004, 0.012)),
}


@dataclass(frozen=True)
class Marker:
    """A marker follows a joint."""

    joint: int
    offset: Offset
    """From the joint in its rest axes, as a share of stature"""


def _table() -> dict[str, Marker]:
    table = {name: Marker(INDEX[joint], offset) for name, (joint, offset) in _MIDDLE.items()}
    for name, (joint, (x, y, z)) in _LEFT.items():
        for side, sign in (("left", 1.0), ("right", -1.0)):
            own = joint if joint in INDEX else f"{side}_{joint}"
            full = f"mouth_{side}" if name == "mouth" else f"{side}_{name}"
            table[full] = Marker(INDEX[own], (sign * x, y, z))
    return table


MARKERS = _table()
"""All markers that are known, by name: BlazePose's names, and `neck`, `mid_hip`, `head`, `big_toe`, `small_toe`"""

SEEN = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "mouth_left", "mouth_right",
    "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
    "left_pinky", "right_pinky", "left_index", "right_index", "left_thumb", "right_thumb",
    "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle",
    "left_heel", "right_heel", "left_foot_index", "right_foot_index",
)  # fmt: skip
"""The landmarks of BlazePose that are used: inner and outer corners of the eyes say what the eyes say"""


def _seen_length() -> float:
    """Return the way from the middle of the shoulders over hip and knee to the ankle by the markers, over stature."""
    joints = OPEN_SPACE.joint_dirs @ OpenShape(1.0).lengths()
    at = {n: joints[m.joint] + np.array(m.offset) for n, m in MARKERS.items()}
    trunk = 0.5 * (at["left_shoulder"] + at["right_shoulder"] - at["left_hip"] - at["right_hip"])
    ways = [trunk, at["left_hip"] - at["left_knee"], at["left_knee"] - at["left_ankle"]]
    return float(sum(np.linalg.norm(way) for way in ways))


SEEN_LENGTH = _seen_length()


def stature_of(points: Mapping[str, Array], trust: Mapping[str, Array] | None = None) -> float:
    """Return m: the stature of a person of average proportions whose trunk and legs are as long as these points (T, 3)
    show them, in the median of the frames that are trusted most."""
    names = [f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "hip", "knee", "ankle")]
    some = np.ones(len(points[names[0]]), dtype=bool)
    if trust is not None:
        least = np.min([trust[n] for n in names], axis=0)
        some = least >= np.median(least)
    at = {n: points[n][some] for n in names}
    upper, lower = (0.5 * (at[f"left_{n}"] + at[f"right_{n}"]) for n in ("shoulder", "hip"))
    total = 2 * float(np.median(np.linalg.norm(upper - lower, axis=-1)))
    for side in ("left", "right"):
        for a, b in (("hip", "knee"), ("knee", "ankle")):
            total += float(np.median(np.linalg.norm(at[f"{side}_{a}"] - at[f"{side}_{b}"], axis=-1)))
    return total / (2 * SEEN_LENGTH)


def marker_positions(motion: HumanMotion, names: tuple[str, ...], stature: float) -> Array:
    """Return (T, N, 3) m: the markers on a person of this stature, in the world."""
    joints = [MARKERS[n].joint for n in names]
    offset = stature * np.array([MARKERS[n].offset for n in names])
    return np.asarray(motion.pose.position[:, joints] + rot.rotate(motion.pose.rotation[:, joints], offset))
