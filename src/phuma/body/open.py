"""The open body is a skeleton with soles from anthropometric tables, free of any model licence.

Fractions of stature are means of men and women of ANSUR II (Natick TR-15/007), and Winter's (Biomechanics and Motor
Control of Human Movement) where ANSUR has no such measure. The body stands in a T-pose, legs straight, soles flat.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from phuma.body.space import ShapeSpace
from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, N_SOLE, POINTS_PER_REGION, REGIONS
from phuma.errors import PhumaError

AVERAGE_STATURE = 1.72

# Fractions of stature.
THIGH, SHANK = 0.233, 0.243
ANKLE_HEIGHT = 0.040
LEG = THIGH + SHANK
TRUNK = 0.339  # hip centres to the base of the neck
UPPER_ARM, FOREARM = 0.172, 0.148  # Winter's 0.186 less 0.014 from acromion to joint centre; mean of both tables
ARM = UPPER_ARM + FOREARM
SHOULDER_WIDTH = 0.2306  # biacromial; joint centres lie at 0.44 of it to either side
HIP_WIDTH = 0.12  # between the hip joint centres
FOOT = 0.153
BALL = 0.113 / FOOT  # of the foot's length, from the heel
ANKLE = 0.25  # of the foot's length, from the heel
FOOT_BREADTH = 0.0575
BALL_HEIGHT = 0.012

# Heights of the trunk's joints, as shares of the way from the hips to the base of the neck, and how far in front of
# the hips they lie, in fractions of stature.
SPINE = {
    "pelvis": (0.15, 0.005), "spine1": (0.36, 0.0), "spine2": (0.58, 0.0), "spine3": (0.72, 0.0), "neck": (1.0, -0.005),
    "left_collar": (0.86, 0.0), "right_collar": (0.86, 0.0), "left_shoulder": (0.853, -0.005),
    "right_shoulder": (0.853, -0.005),
}  # fmt: skip


@dataclass(frozen=True)
class OpenShape:
    """A shape of the open body is a stature, and parts relative to the average person of that stature.

    >>> long = phuma.open_body(phuma.OpenShape(stature=1.8, leg=1.05))
    >>> long.leg_length > phuma.open_body(phuma.OpenShape(stature=1.8)).leg_length
    True
    """

    stature: float = AVERAGE_STATURE
    """metres"""
    leg: float = 1.0
    arm: float = 1.0
    trunk: float = 1.0
    shoulder: float = 1.0
    hip: float = 1.0
    foot: float = 1.0

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            low, high = (0.5, 2.6) if f.name == "stature" else (0.5, 2.0)
            if not low <= value <= high:
                raise PhumaError(f"open body: {f.name} is {value:g}; expected between {low} and {high}")

    def lengths(self) -> Array:
        """Return the seven numbers of OPEN_SPACE, metres."""
        h = self.stature
        return h * np.array(
            [1.0, LEG * self.leg, ARM * self.arm, TRUNK * self.trunk, SHOULDER_WIDTH * self.shoulder,
             HIP_WIDTH * self.hip, FOOT * self.foot]
        )  # fmt: skip

    @staticmethod
    def from_lengths(lengths: Array) -> OpenShape:
        """Return the shape that has these seven lengths, metres."""
        h, leg, arm, trunk, shoulder, hip, foot = (float(v) for v in lengths)
        return OpenShape(
            h, leg / (h * LEG), arm / (h * ARM), trunk / (h * TRUNK), shoulder / (h * SHOULDER_WIDTH),
            hip / (h * HIP_WIDTH), foot / (h * FOOT),
        )  # fmt: skip


def _disc() -> Array:
    """Return points (22, 2) that cover the unit disc evenly (Vogel's spiral)."""
    k = np.arange(POINTS_PER_REGION)
    radius, angle = np.sqrt((k + 0.5) / POINTS_PER_REGION), k * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _space() -> ShapeSpace:
    params = ("stature", "leg", "arm", "trunk", "shoulder_width", "hip_width", "foot")
    stature, leg, arm, trunk, shoulder, hip, foot = np.eye(len(params))
    x, y, z = np.eye(3)

    def at(across: Array, up: Array, ahead: Array) -> Array:
        """(3, S) a point whose coordinates are linear in the parameters."""
        return np.outer(x, across) + np.outer(y, up) + np.outer(z, ahead)

    none = np.zeros(len(params))
    ground_to_hip = ANKLE_HEIGHT * stature + leg
    joints = np.zeros((N_JOINTS, 3, len(params)))
    for name, (share, ahead) in SPINE.items():
        joints[INDEX[name]] = at(none, ground_to_hip + share * trunk, ahead * stature)
    joints[INDEX["head"]] = at(none, ground_to_hip + trunk + 0.045 * stature, 0.01 * stature)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for joint, height in (("hip", ground_to_hip), ("knee", ANKLE_HEIGHT * stature + SHANK / LEG * leg)):
            joints[INDEX[f"{side}_{joint}"]] = at(0.5 * sign * hip, height, none)
        joints[INDEX[f"{side}_ankle"]] = at(0.5 * sign * hip, ANKLE_HEIGHT * stature, none)
        joints[INDEX[f"{side}_foot"]] = at(0.5 * sign * hip, BALL_HEIGHT * stature, (BALL - ANKLE) * foot)
        joints[INDEX[f"{side}_collar"]] += at(sign * 0.1 * shoulder, none, none)
        joints[INDEX[f"{side}_shoulder"]] += at(sign * 0.44 * shoulder, none, none)
        upper = joints[INDEX[f"{side}_shoulder"]] + at(sign * UPPER_ARM / ARM * arm, none, none)
        joints[INDEX[f"{side}_elbow"]] = upper
        joints[INDEX[f"{side}_wrist"]] = upper + at(sign * FOREARM / ARM * arm, none, none)

    soles = np.zeros((N_SOLE, 3, len(params)))
    weights = np.zeros((N_SOLE, N_JOINTS))
    disc = _disc()
    for r, region in enumerate(REGIONS):
        side, part = region.split("_")
        sign = 1.0 if side == "left" else -1.0
        # Heel: the rear 30 % of the foot. Toe: from the ball forward.
        centre, half_length, half_width = (
            (0.15, 0.15, 0.3) if part == "heel" else (0.5 * (BALL + 1), 0.5 * (1 - BALL), 0.45)
        )
        for i, (u, v) in enumerate(disc):
            across = sign * (0.5 * hip + u * half_width * FOOT_BREADTH * stature)
            soles[r * POINTS_PER_REGION + i] = at(across, none, (centre - ANKLE + v * half_length) * foot)
        own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
        weights[own, INDEX[f"{side}_{'ankle' if part == 'heel' else 'foot'}"]] = 1.0

    # The pelvis is the origin, as everything is measured from it.
    origin = joints[INDEX["pelvis"]].copy()
    return ShapeSpace(
        name="open",
        params=params,
        joints=np.zeros((N_JOINTS, 3)),
        joint_dirs=joints - origin,
        soles=np.zeros((N_SOLE, 3)),
        sole_dirs=soles - origin,
        sole_weights=weights,
    )


OPEN_SPACE = _space()


def open_body(shape: OpenShape | None = None) -> Body:
    """Return the open body of a shape; the average one by default.

    >>> phuma.open_body(phuma.OpenShape(stature=1.8)).joints.shape
    (22, 3)
    """
    return OPEN_SPACE.body((shape or OpenShape()).lengths())
