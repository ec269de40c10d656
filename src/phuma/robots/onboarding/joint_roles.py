"""Axes and positions say which joint of a limb is what, and where the human's joints are on the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.onboarding.rig import Hinge, LinkPoses, Rig, rigid

MEET = 0.005  # m: axes that pass each other so closely meet
SNAP = 0.01  # m: a link's own origin is taken for a point that is so near
OFF_SOLE = 0.02  # m: a joint so near to above the middle of the sole is there
BESIDE = 0.01  # m: a leg that hangs so far beside the crossing of its hip's axes has its hip on its own line
MIDDLE = 0.6  # of the greatest distance from both ends of a limb
LEAST_BEND = 0.2  # rad: by so much more a knee or an elbow bends one way than the other
WRIST_SHARE, WRIST_BEND = 0.5, 0.25
"""of the way from elbow to fingertips: beyond lies a wrist's joint that turns the forearm, and one that bends it"""


class Axis(NamedTuple):
    """An axis is a hinge in the drawn pose, as a line in the world."""

    link: int
    hinge: Hinge
    point: Array
    way: Array

    def nearest(self, p: Array) -> Array:
        """Return the point of the line nearest to p (3,)."""
        return self.point + ((p - self.point) @ self.way) * self.way

    def distance(self, p: Array) -> float:
        """Return how far p (3,) is from the line, metres."""
        return float(np.linalg.norm(p - self.nearest(p)))

    def approach(self, other: Axis) -> tuple[Array, float] | None:
        """Return the point of this line nearest to another, and how near; None where they are parallel."""
        cross = np.cross(self.way, other.way)
        if cross @ cross < 0.05:
            return None
        t = np.cross(other.point - self.point, other.way) @ cross / (cross @ cross)
        here = self.point + t * self.way
        return here, other.distance(here)

    def through(self, p: Array, normal: Array) -> Array | None:
        """Return where this line passes the plane at p (3,) square to `normal` (3,); None where it hardly does."""
        slope = float(self.way @ normal)
        return None if abs(slope) < 0.5 else self.point + ((p - self.point) @ normal / slope) * self.way


@dataclass(frozen=True)
class Leg:
    """A leg's joints are known by what they do. The hip's `roll` and `yaw` and the ankle's joints may be missing."""

    hip: dict[str, Axis]
    knee: Axis
    ankle: dict[str, Axis]
    foot: int
    """the link that stands"""
    axes: list[Axis]
    """all from hip to ankle"""
    end: Array
    """(3,) the last joint, or the foot where no joint is behind the knee; in the world"""


@dataclass(frozen=True)
class Arm:
    """An arm's joints are known by what they do, in order."""

    shoulder: list[Axis]
    elbow: Axis
    wrist: list[Axis]
    hand: int
    """the last link"""
    axes: list[Axis]
    """all from shoulder to wrist"""


class LinkPoint(NamedTuple):
    """This is a point on a link."""

    link: int
    offset: Array
    """(3,) in the link's frame"""


def axes_of(rig: Rig, where: LinkPoses, links: list[int]) -> list[Axis]:
    """Return the hinges of some links as lines in the world."""
    return [Axis(b, h, where.point(b, h.anchor), rot.rotate(where.quat[b], h.axis)) for b, h in rig.hinges_of(links)]


def centre(axes: list[Axis]) -> Array:
    """Return the centre of a ball joint of several hinges: half-way between the first two that are not parallel."""
    for n, a in enumerate(axes):
        for b in axes[n + 1 :]:
            near = a.approach(b)
            if near is not None:
                return (near[0] + b.nearest(near[0])) / 2
    return axes[0].point


def bend(axes: list[Axis], start: Array, end: Array) -> int:
    """Return which hinge bends a limb in its middle: the first whose line passes both its ends at a distance.

    Lines of the joints at an end pass that end closely, and those of twists pass both. A wrist is far from fingertips
    too, so it is the first, not the one farthest from both.
    """
    far = np.array([min(a.distance(start), a.distance(end)) for a in axes])
    return int(np.argmax(far > MIDDLE * far.max()))


def straight_angle(axis: Axis, start: Array, end: Array) -> float:
    """Return the angle within its range at which a hinge in the middle of a limb takes the limb's ends farthest apart.

    `start` and `end` (3,) are the ends in the drawn pose.
    """
    angles = np.linspace(axis.hinge.lower, axis.hinge.upper, 721)
    rotations = rot.from_rotvec((angles - axis.hinge.neutral)[:, None] * axis.way)
    foot = axis.nearest(end)
    far = np.linalg.norm(foot + rot.rotate(rotations, end - foot) - start, axis=1)
    best = angles[far > far.max() - 1e-5]
    return float(best[np.argmin(np.abs(best - axis.hinge.neutral))])


def flexion(axis: Axis, start: Array, end: Array) -> int:
    """Return the sense in which a hinge in the middle of a limb bends it: from straight to where its range is wider.

    It is 0 where both sides are alike.
    """
    straight = straight_angle(axis, start, end)
    more, less = axis.hinge.upper - straight, straight - axis.hinge.lower
    return int(np.sign(more - less)) if abs(more - less) > LEAST_BEND else 0


def read_leg(rig: Rig, where: LinkPoses, links: list[int], foot: int, sole: Array, across: Array) -> Leg:
    """Return a leg's joints; `sole` (3,) is the middle of the foot, `across` (3,) the way from side to side."""
    above = links[: links.index(foot) + 1]
    axes = axes_of(rig, where, above)
    k = bend(axes, centre(axes), sole)
    knee, ahead = axes[k], np.cross(across, rig.up)
    ways = {"pitch": across, "roll": ahead, "yaw": rig.up}
    end = axes[-1].point if k + 1 < len(axes) else sole
    return Leg(_by_way(axes[:k], ways), knee, _by_way(axes[k + 1 :], ways), foot, axes, end)


def _by_way(axes: list[Axis], ways: dict[str, Array]) -> dict[str, Axis]:
    """Each way's best hinge: first come those that fit best, and every hinge serves once."""
    fits = sorted(((abs(a.way @ w), n, name) for n, a in enumerate(axes) for name, w in ways.items()), reverse=True)
    out: dict[str, Axis] = {}
    used: set[int] = set()
    for fit, n, name in fits:
        if name not in out and n not in used and fit > 0.5:
            out[name] = axes[n]
            used.add(n)
    return out


def read_arm(rig: Rig, where: LinkPoses, links: list[int]) -> Arm:
    """Return an arm's joints."""
    axes = axes_of(rig, where, links)
    tip = fingertips(rig, where, links[-1])
    k = bend(axes[1:], centre(axes), tip) + 1
    return Arm(axes[:k], axes[k], axes[k + 1 :], links[-1], axes)


def fingertips(rig: Rig, where: LinkPoses, hand: int) -> Array:
    """Return the end (3,) of a hand that is farthest from its last joint, in the world."""
    first = next((where.point(b, h.anchor) for b, h in reversed(rig.hinges_of(rig.path(hand)))), where.pos[hand])
    inside = rig.below(hand)
    points = [where.point(b, s.points) for b in inside for s in rig.links[b].shapes]
    ends = np.concatenate([where.pos[inside], *points, *(where.point(b, rig.links[b].com)[None] for b in inside)])
    far = np.linalg.norm(ends - first, axis=1)
    return ends[far >= 0.9 * far.max()].mean(axis=0)


class HipPoint(NamedTuple):
    """This is the hip, and how far it is from where the axes of pitch and roll pass each other."""

    point: LinkPoint
    beside: float
    """m along the pitch axis: 0 where the axes cross on the leg's line"""


def hip_point(leg: Leg, where: LinkPoses, ankle: Array) -> HipPoint:
    """Return the hip: on the pitch axis where it passes the roll axis, if that is on the leg's line.

    There it stands still in the pelvis whatever the pitch, as a human hip does. Where the two meet it lies on the link
    behind both. A leg may hang beside that crossing; then its hip is where its own line starts, on the pitch axis and
    fixed to the thigh. The leg's line lies in the plane through the `ankle` (3,) that is square to the knee's axis.
    """
    pitch = leg.hip.get("pitch") or leg.axes[0]
    roll = leg.hip.get("roll") or leg.hip.get("yaw")
    near = None if roll is None else pitch.approach(roll)
    if roll is None or near is None:
        return HipPoint(_link_point(where, pitch.link, pitch.nearest(leg.knee.point)), 0.0)
    crossing, apart = near
    start = pitch.through(ankle, leg.knee.way)
    beside = 0.0 if start is None else float(np.linalg.norm(start - crossing))
    if start is not None and beside > BESIDE:
        thigh = leg.axes[leg.axes.index(leg.knee) - 1].link
        return HipPoint(_link_point(where, thigh, start), beside)
    later = max(pitch, roll, key=lambda a: leg.axes.index(a)) if apart < MEET else pitch
    return HipPoint(_link_point(where, later.link, crossing), 0.0)


def ankle_point(leg: Leg, where: LinkPoses, sole: Array) -> LinkPoint:
    """Return the ankle: on the pitch axis where it passes the roll axis, or above `sole` (3,), the foot's middle."""
    pitch = leg.ankle.get("pitch")
    if pitch is None:  # no ankle: where it would be, above the sole in the line of the shank
        pitch = leg.ankle.get("roll")
        point = sole + 0.08 * (leg.knee.nearest(sole) - sole) if pitch is None else pitch.nearest(leg.knee.point)
        return _link_point(where, leg.foot, point)
    roll = leg.ankle.get("roll")
    near = None if roll is None else pitch.approach(roll)
    if near is not None:
        return _link_point(where, pitch.link, near[0])
    above = pitch.nearest(sole)
    if np.linalg.norm(pitch.point - above) < OFF_SOLE:  # a foot's shape is no better known than that
        above = pitch.nearest(leg.knee.nearest(pitch.point))
    return _link_point(where, pitch.link, above)


def knee_point(leg: Leg, where: LinkPoses, hip: Array, ankle: Array) -> LinkPoint:
    """Return the knee: on its axis, in the middle between hip and ankle."""
    return _link_point(where, leg.knee.link, (leg.knee.nearest(hip) + leg.knee.nearest(ankle)) / 2)


def shoulder_point(arm: Arm, where: LinkPoses) -> LinkPoint:
    """Return the shoulder: on the second hinge's axis where it passes the third's (of two hinges: the first's)."""
    if len(arm.shoulder) < 2:
        return _link_point(where, arm.shoulder[0].link, arm.shoulder[0].nearest(arm.elbow.point))
    second = arm.shoulder[1]
    others = [*arm.shoulder[2:3], arm.shoulder[0]]
    near = next((n for n in (second.approach(o) for o in others) if n is not None), None)
    return _link_point(where, second.link, second.point if near is None else near[0])


def elbow_point(arm: Arm, where: LinkPoses, shoulder: Array) -> LinkPoint:
    """Return the elbow: on its axis, level with the shoulder, in the middle of the arm."""
    return _link_point(where, arm.elbow.link, arm.elbow.nearest(shoulder))


def wrist_point(arm: Arm, rig: Rig, where: LinkPoses, elbow: Array) -> tuple[LinkPoint, str | None]:
    """Return the last wrist joint; without one the first fixed link far from the elbow, else the end of the forearm's
    shape.

    Where it is no joint, a word on how it was found comes with it.
    """
    tip = fingertips(rig, where, arm.hand)
    reach = float(np.linalg.norm(tip - elbow))
    bends = [
        a
        for a in arm.wrist
        if np.linalg.norm(a.point - elbow) > WRIST_SHARE * reach or a.distance(elbow) > WRIST_BEND * reach
    ]
    if bends:
        return _link_point(where, bends[-1].link, bends[-1].point), None
    moved = arm.axes[-1].link
    fixed = [b for b in rigid(rig, moved)[1:] if np.linalg.norm(where.pos[b] - elbow) > WRIST_SHARE * reach]
    if fixed:
        return _link_point(where, moved, where.pos[fixed[0]]), f"the origin of {rig.links[fixed[0]].name}"
    return _link_point(where, moved, tip), "the end of the forearm's shape"


def _link_point(where: LinkPoses, link: int, point: Array) -> LinkPoint:
    offset = where.local(link, point)
    return LinkPoint(link, np.zeros(3) if np.linalg.norm(offset) < SNAP else offset)
