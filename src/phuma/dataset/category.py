"""Decide which of eleven types a motion is, and in which of four groups: by its text label, or else by the motion
itself.

Each feature is one function and one number. Lengths are in leg lengths (hip to knee to ankle), speeds beside gravity,
so that a child and a giant are judged alike; nothing depends on heading, position, side or frame rate. The rules and
where their thresholds come from are in docs/formats/motion_types.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.series import length, rate
from phuma.core.skeleton import INDEX
from phuma.dataset.labels import type_of_text
from phuma.errors import PhumaError

GROUPS: dict[str, tuple[str, ...]] = {
    "stationary": ("stand", "reach"),
    "angular": ("bend", "twist", "turn", "kick"),
    "vertical": ("squat", "lunge", "jump"),
    "horizontal": ("walk", "run"),
}
TYPES = tuple(t for types in GROUPS.values() for t in types)
"""The eleven motion types, in the order of their groups"""
GROUP_OF = {t: group for group, types in GROUPS.items() for t in types}

GRAVITY = 9.81
SIDES = ("left", "right")
REST_UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Thresholds:
    """Thresholds that features have to reach. One set for everybody; no value is fitted to a recording."""

    flight: float = 0.1
    """Time in s that no sole point is near the ground while the pelvis falls by at least half of gravity"""
    froude: float = 0.5
    """Froude number at which people change from walking to running, whatever their size"""
    kick_angle: float = np.radians(45.0)
    """Angle in rad from hanging of a leg that is almost straight"""
    kick_speed: float = 1.5
    """Speed of the foot beside the pelvis, in sqrt(g leg)"""
    stoop: float = np.radians(70.0)
    """Angle in rad of the chest forward that is a bend, even with bent knees or between steps"""
    deep: float = 0.4
    """Value of the feature `crouch` that is a squat, however the chest is held; both knees bent by 110 degrees"""
    crouch: float = 0.18
    """Share of the pelvis' standing height over the ankles by which it is lower; both knees bent by about 75 degrees"""
    split: float = 0.5
    """Leg lengths from foot to foot, front to back, in a lunge; feet apart sideways are a wide squat"""
    twist: float = np.radians(50.0)
    """Angle in rad between the shoulders' extremes, beside the hips"""
    turn: float = np.radians(60.0)
    """Angle in rad between the hips' extreme headings"""
    radius: float = 1.0
    """Radius in leg lengths: whoever goes round a wider curve walks, on a tighter one turns"""
    pace: float = 0.5
    """Leg lengths per second in the fastest second; half of slow walking"""
    bend: float = np.radians(50.0)
    """Angle in rad of the chest forward"""
    lean: float = np.radians(20.0)
    """Angle in rad of the chest sideways or back, where a spine goes less than half as far"""
    reach: float = 0.75
    """Arm lengths from the hip to a hand; with the upper arm hanging and the forearm level it is about 0.7"""


THRESHOLDS = Thresholds()
_NEARLY_STRAIGHT = 0.8  # of the leg's length from hip to ankle: a knee bent by no more than 74 degrees
_FALLING = 0.5 * GRAVITY


@dataclass(frozen=True)
class Features:
    """The features by which a clip is judged, in the units of `Thresholds`; angles in radians."""

    flight: float
    pace: float
    path: float
    froude: float
    turned: float
    leg_angle: float
    foot_speed: float
    crouch: float
    crouch_split: float
    forward: float
    aside: float
    twist: float
    reach: float


def categorise(motion: HumanMotion, contact: FootContacts) -> str:
    """Return the type of a clip of a few seconds, z-up, guessed from the motion."""
    return decide(features(motion, contact))


def category_of(label: str | None, guess: str) -> str:
    """Return the type that a text label names; without a label, or with one that names none, the guess."""
    return (type_of_text(label) if label else None) or guess


def decide(f: Features) -> str:
    """Return the type by the first rule that holds: the rarest and shortest types come first, standing last."""
    limit = THRESHOLDS
    if f.froude >= limit.froude:  # before jumps, as whoever runs flies too
        return "run"
    if f.flight >= limit.flight:
        return "jump"
    if f.leg_angle >= limit.kick_angle and f.foot_speed >= limit.kick_speed:
        return "kick"
    if f.forward >= limit.stoop and f.crouch < limit.deep:
        return "bend"
    if f.crouch_split >= limit.crouch:
        return "lunge"
    if f.crouch >= limit.crouch:
        return "squat"
    if f.twist >= limit.twist:
        return "twist"
    walks = f.pace >= limit.pace
    if f.turned >= limit.turn and not (walks and f.path >= limit.radius * f.turned):
        return "turn"
    if walks:
        return "walk"
    if f.forward >= limit.bend or f.aside >= limit.lean:
        return "bend"
    return "reach" if f.reach >= limit.reach else "stand"


def features(motion: HumanMotion, contact: FootContacts) -> Features:
    """Return all features of a clip and its foot contacts."""
    if len(motion) != len(contact):
        raise PhumaError(f"a motion of {len(motion)} frames has contacts of {len(contact)}; both need the same number")
    pace, crouch = fastest_second(motion), crouching(motion)
    forward, aside = chest_angles(motion)
    return Features(
        flight=longest_flight(motion, contact),
        pace=pace,
        path=path_length(motion),
        froude=pace**2 * motion.body.leg_length / GRAVITY,
        turned=float(np.ptp(heading(motion))),
        leg_angle=leg_angle(motion),
        foot_speed=foot_speed(motion),
        crouch=_held(crouch, motion.fps),
        crouch_split=_held(np.where(split(motion) >= THRESHOLDS.split, crouch, 0.0), motion.fps),
        forward=_held(forward, motion.fps),
        aside=_held(np.maximum(np.abs(aside), -forward), motion.fps),
        twist=twist_range(motion),
        reach=hand_reach(motion),
    )


def longest_flight(motion: HumanMotion, contact: FootContacts) -> float:
    """Return the seconds of the longest stretch without contact in which the pelvis falls: its mean vertical
    acceleration is below -g / 2.

    Feet on a step or on tiptoe are above the ground too, but what stands on them does not fall.
    """
    up = rate(rate(motion.root_pos[:, 2])) * motion.fps**2 if len(motion) > 1 else np.zeros(1)
    in_air = np.concatenate([[0], contact.airborne, [0]]).astype(int)
    edges = np.flatnonzero(np.diff(in_air)).reshape(-1, 2)
    return max((float(b - a) / motion.fps for a, b in edges if up[a:b].mean() < -_FALLING), default=0.0)


def fastest_second(motion: HumanMotion) -> float:
    """Return leg lengths per second: max |p(t + 1 s) - p(t)| / leg of the pelvis over the ground."""
    xy = motion.root_pos[:, :2]
    frames = min(len(xy) - 1, round(motion.fps))
    if not frames:
        return 0.0
    way = length(xy[frames:] - xy[:-frames]).max()
    return float(way * motion.fps / frames / motion.body.leg_length)


def path_length(motion: HumanMotion) -> float:
    """Return the leg lengths that the pelvis goes over the ground."""
    return float(length(np.diff(motion.root_pos[:, :2], axis=0)).sum() / motion.body.leg_length)


def heading(motion: HumanMotion) -> Array:
    """Return (T,) rad, without jumps: the direction from the right hip to the left one over the ground."""
    left = _left(motion)
    return _unwrapped(np.arctan2(left[:, 1], left[:, 0]))


def leg_angle(motion: HumanMotion) -> float:
    """Return rad between hip-to-ankle and straight down, of the leg that is higher and nearly straight, for 0.1 s."""
    angle = np.zeros(len(motion))
    for side in SIDES:
        leg = _joint(motion, f"{side}_ankle") - _joint(motion, f"{side}_hip")
        long = length(leg)
        straight = long >= _NEARLY_STRAIGHT * motion.body.leg_length
        angle = np.maximum(angle, np.where(straight, np.arccos(np.clip(-leg[:, 2] / long, -1, 1)), 0.0))
    return _held(angle, motion.fps, 0.1)


def foot_speed(motion: HumanMotion) -> float:
    """Return the speed of the faster ankle beside the pelvis, kept for 0.1 s, in sqrt(g leg)."""
    if len(motion) < 2:
        return 0.0
    ankles = motion.pose.position[:, [INDEX[f"{s}_ankle"] for s in SIDES]] - motion.root_pos[:, None]
    speed = length(np.diff(ankles, axis=0)).max(axis=1) * motion.fps
    return _held(speed, motion.fps, 0.1) / float(np.sqrt(GRAVITY * motion.body.leg_length))


def crouching(motion: HumanMotion) -> Array:
    """Return (T,) 1 - h / h0: how much lower than standing the pelvis is over the lower ankle."""
    offsets = motion.body.offsets
    standing = motion.body.leg_length - float(np.mean([offsets[INDEX[f"{s}_hip"], 1] for s in SIDES]))
    ankles = np.minimum(_joint(motion, "left_ankle")[:, 2], _joint(motion, "right_ankle")[:, 2])
    return 1 - (motion.root_pos[:, 2] - ankles) / standing


def split(motion: HumanMotion) -> Array:
    """Return (T,) leg lengths between the ankles over the ground, front to back as the hips face."""
    between = _joint(motion, "left_ankle") - _joint(motion, "right_ankle")
    return np.abs(_ahead(motion, between)) / motion.body.leg_length


def chest_angles(motion: HumanMotion) -> tuple[Array, Array]:
    """Return (T,) rad each: how far the chest's own up leans forward, and to the left, as the hips face."""
    up = rot.rotate(motion.pose.rotation[:, INDEX["spine3"]], REST_UP)
    left = np.sum(up * _left(motion), axis=-1)
    return np.arctan2(_ahead(motion, up), up[:, 2]), np.arcsin(np.clip(left, -1, 1))


def twist_range(motion: HumanMotion) -> float:
    """Return rad between the extremes of the angle, about pelvis-to-neck, from the hips' line to the shoulders'."""
    trunk = _unit(_joint(motion, "neck") - motion.root_pos)
    hips, shoulders = (_joint(motion, f"left_{j}") - _joint(motion, f"right_{j}") for j in ("hip", "shoulder"))
    hips, shoulders = (v - trunk * np.sum(v * trunk, axis=-1, keepdims=True) for v in (hips, shoulders))
    sine = np.sum(np.cross(hips, shoulders) * trunk, axis=-1)
    angle = _unwrapped(np.arctan2(sine, np.sum(hips * shoulders, axis=-1)))
    return _held(angle, motion.fps) + _held(-angle, motion.fps)


def hand_reach(motion: HumanMotion) -> float:
    """Return arm lengths between a wrist and the hip on its side, where it hangs: of the hand that is farther away."""
    bones = length(motion.body.offsets)
    far = np.zeros(len(motion))
    for side in SIDES:
        arm = bones[INDEX[f"{side}_elbow"]] + bones[INDEX[f"{side}_wrist"]]
        away = length(_joint(motion, f"{side}_wrist") - _joint(motion, f"{side}_hip"))
        far = np.maximum(far, away / arm)
    return _held(far, motion.fps)


def _unwrapped(angle: Array) -> Array:
    """Return angles (T,) rad without jumps by whole turns, of which most clips have none."""
    return angle if (np.abs(np.diff(angle)) < np.pi).all() else np.unwrap(angle)


def _held(values: Array, fps: float, seconds: float = 0.2) -> float:
    """Return what `values` (T,) reach for `seconds` in all, so that no single frame decides."""
    index = max(0, len(values) - max(1, round(seconds * fps)))
    return float(np.partition(values, index)[index])


def _joint(motion: HumanMotion, name: str) -> Array:
    """Return (T, 3) m: the position of a joint."""
    return motion.pose.position[:, INDEX[name]]


@lru_cache(maxsize=1)  # several features ask for that of one motion
def _left(motion: HumanMotion) -> Array:
    """Return (T, 3) the level direction from the right hip to the left one."""
    return _unit((_joint(motion, "left_hip") - _joint(motion, "right_hip")) * [1.0, 1.0, 0.0])


def _ahead(motion: HumanMotion, vector: Array) -> Array:
    """Return (T,) how far vectors (T, 3) go where the hips face."""
    left = _left(motion)
    return left[:, 1] * vector[:, 0] - left[:, 0] * vector[:, 1]


def _unit(v: Array) -> Array:
    return v / np.maximum(length(v)[..., None], 1e-9)
