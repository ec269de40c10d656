"""Where on the body the landmarks of pose networks and the markers of other tools are.

A marker follows a joint at an offset in that joint's rest axes (x to the left, y up, z ahead), as a share of stature.
BlazePose's landmarks were placed by people who clicked on pictures: a hip is a point in the groin's height and not the
joint's centre, a heel is its back, a foot index the tip of the big toe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX

Offset = tuple[float, float, float]
_MIDDLE: dict[str, tuple[str, Offset]] = {
    "nose": ("head", (0.0, 0.012, 0.065)),
    "neck": ("spine3", (0.0, 0.05, 0.0)),
    "mid_hip": ("pelvis", (0.0, -0.051, -0.005)),
    "head": ("head", (0.0, 0.1, 0.01)),
}
_LEFT: dict[str, tuple[str, Offset]] = {
    "eye": ("head", (0.018, 0.034, 0.05)),
    "ear": ("head", (0.043, 0.022, -0.003)),
    "mouth": ("head", (0.014, -0.012, 0.053)),
    "shoulder": ("shoulder", (0.0, 0.0, 0.0)),
    "elbow": ("elbow", (0.0, 0.0, 0.0)),
    "wrist": ("wrist", (0.0, 0.0, 0.0)),
    "pinky": ("wrist", (0.046, -0.004, -0.015)),
    "index": ("wrist", (0.052, -0.004, 0.012)),
    "thumb": ("wrist", (0.028, -0.006, 0.022)),
    "hip": ("hip", (0.0, 0.0, 0.0)),
    "knee": ("knee", (0.0, 0.0, 0.0)),
    "ankle": ("ankle", (0.0, 0.0, 0.0)),
    "heel": ("ankle", (0.0, -0.026, -0.034)),
    "foot_index": ("foot", (0.0, -0.004, 0.033)),
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


def marker_positions(motion: HumanMotion, names: tuple[str, ...], stature: float) -> Array:
    """Return (T, N, 3) m: the markers on a person of this stature, in the world."""
    joints = [MARKERS[n].joint for n in names]
    offset = stature * np.array([MARKERS[n].offset for n in names])
    return np.asarray(motion.pose.position[:, joints] + rot.rotate(motion.pose.rotation[:, joints], offset))
