"""Feet, knees and names say which way a robot faces, and so which side is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.onboarding.ambiguities import Ambiguity
from phuma.robots.onboarding.joint_roles import Leg, centre, flexion, straight_angle
from phuma.robots.onboarding.rig import LinkPoses, Rig
from phuma.robots.onboarding.soles import foot_points

CLEAR = 0.15  # of a foot's length: by so much more it reaches ahead of the ankle than behind it


class Facing(NamedTuple):
    """The facing is a right-handed frame, ahead, left and up in the world, and `first_is_left` of a pair of limbs."""

    ahead: Array
    left: Array
    first_is_left: bool
    ambiguities: list[Ambiguity]

    def frame(self, up: Array) -> Array:
        """Return the frame's rotation (4,) wxyz."""
        return rot.from_matrix(np.stack([self.ahead, self.left, up], axis=1))


def find_facing(
    rig: Rig, where: LinkPoses, legs: tuple[Leg, Leg], across: Array, names: list[tuple[str, str]]
) -> Facing:
    """Find which way a robot faces.

    `across` (3,) is the way from the second leg to the first, `names` are theirs in pairs. Feet and knees say it; names
    decide where those two disagree, and are an ambiguity where they disagree with both.
    """
    forward = np.cross(across, rig.up)  # if the first leg is the left one
    feet = _sign(sum(_foot_vote(rig, where, leg, forward) for leg in legs))
    knees = _sign(sum(_knee_vote(leg, forward) for leg in legs))
    named = _sign(sum(named_side(a, b) for a, b in names))
    ambiguities = []
    sense = _sign(feet + knees) or named or feet or knees
    if feet * knees < 0:
        ambiguities.append(
            Ambiguity(
                "Feet and knees disagree about which way the robot faces: its feet are longer "
                f"{'with' if sense == feet else 'against'} the way that was taken for ahead, its knees bend "
                f"{'as' if sense == knees else 'against the way that'} a human's do.",
                "look at robot.png: the robot has to face to the right in the view from the side. If it does not, give "
                "its knees their real range in the model file.",
            )
        )
    if named and sense and named != sense:
        ambiguities.append(
            Ambiguity(
                f"By feet and knees the limb named {names[0][0 if sense > 0 else 1]!r} is the left one; its name says "
                "right. The shape was followed.",
                "look at robot.png: left is blue. If the names are right, the feet or the knees' ranges of the model "
                "are the wrong way round.",
            )
        )
    if not sense:
        sense = 1 if forward[0] >= 0 else -1
        ambiguities.append(
            Ambiguity(
                "Neither feet nor knees nor names say which way the robot faces; x of the model file was taken.",
                "look at robot.png; if it looks backwards, turn the root body of the model by half a turn about z.",
            )
        )
    ahead = _snapped(sense * forward, rig, where)
    return Facing(ahead, np.cross(rig.up, ahead), sense > 0, ambiguities)


def _snapped(ahead: Array, rig: Rig, where: LinkPoses) -> Array:
    """The nearest axis of the root's own frame, if it is within two degrees: a model is never mirrored to the last
    digit."""
    axes = rot.to_matrix(where.quat[0]).T
    for way in (*axes, *-axes):
        level = way - (way @ rig.up) * rig.up
        if level @ ahead > np.cos(np.radians(2)):
            return level / np.linalg.norm(level)
    return ahead


def _foot_vote(rig: Rig, where: LinkPoses, leg: Leg, forward: Array) -> int:
    points = foot_points(rig, where, leg.foot) @ forward
    if not len(points) or np.ptp(points) < 0.02:
        return 0
    ankle = (leg.end if leg.ankle else leg.knee.point) @ forward
    lean = (points.max() - ankle) + (points.min() - ankle)
    return _sign(lean) if abs(lean) > CLEAR * np.ptp(points) else 0


def _knee_vote(leg: Leg, forward: Array) -> int:
    """A human's knee takes the foot back."""
    bend = flexion(leg.knee, centre(leg.axes), leg.end)
    shank = leg.end - leg.knee.nearest(leg.end)
    straight = straight_angle(leg.knee, centre(leg.axes), leg.end) - leg.knee.hinge.neutral
    shank = rot.rotate(rot.from_rotvec(straight * leg.knee.way), shank)
    return -_sign(bend * float(np.cross(leg.knee.way, shank) @ forward))


def named_side(a: str, b: str) -> int:
    """Return 1 if two names (hip_l and hip_r) say that the first is the left one, -1 if the right, else 0."""
    for x, y in zip(a.lower(), b.lower()):
        if x != y:
            return {("l", "r"): 1, ("r", "l"): -1}.get((x, y), 0)
    return 0


def _sign(value: float) -> int:
    return int(np.sign(value))
