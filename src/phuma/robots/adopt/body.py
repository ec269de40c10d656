"""A model's tree as a human body: legs and arms by side, joints by what they do, keypoints and soles, in a rig whose root
is the pelvis with x ahead, y left, z up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from phuma import rotations as rot
from phuma.robots.adopt import roles
from phuma.robots.adopt.doubts import Doubt, some
from phuma.robots.adopt.facing import find_facing
from phuma.robots.adopt.limbs import Limbs, find_limbs
from phuma.robots.adopt.rig import Posed, Rig, rerooted, with_root_frame
from phuma.robots.adopt.roles import Arm, Leg, Place
from phuma.robots.adopt.soles import Sole, find_sole, foot_points, standing_link
from phuma.robots.adopt.writer import carrier
from phuma.rotations import Array

SIDES = ("left", "right")
ORIGIN = 0.3  # of the leg: a root's origin that is no more above the hips, and not beside them, is the pelvis
WORDS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A robot that has been understood. Pairs are left and right."""

    rig: Rig
    legs: tuple[Leg, Leg]
    arms: tuple[Arm, Arm]
    chest: int
    keypoints: dict[str, Place]
    soles: tuple[Sole, Sole]
    leg_length: float
    """m, from hip to ankle"""
    parts: dict[str, str]
    """joint -> hip, knee, ankle, waist, shoulder, elbow, wrist, or other"""
    doubts: tuple[Doubt, ...]

    @property
    def feet(self) -> tuple[int, int]:
        return self.legs[0].foot, self.legs[1].foot


def understand(rig: Rig, path: Path) -> Anatomy:
    """Find the human body in a rig, or raise an error that says what was looked for and what was found."""
    doubts: list[Doubt] = []
    limbs = find_limbs(rig, path)
    where = rig.posed()
    legs = _read_legs(rig, where, limbs.legs, limbs.across)
    first, second = ([rig.links[b].name for b in chain] for chain in limbs.legs)
    joints = [[h.name for _, h in rig.hinges_of(chain)] for chain in limbs.legs]
    facing = find_facing(rig, where, legs, limbs.across, [*zip(first, second), *zip(*joints)])
    doubts += facing.doubts
    order = (0, 1) if facing.first_is_left else (1, 0)
    names = _Names.of(rig, limbs, order, facing.left, where)
    rig, more = _at_pelvis(rig, limbs, facing.frame(rig.up))
    doubts += more
    where = rig.posed()
    left = np.array([0.0, 1.0, 0.0])
    legs = _read_legs(rig, where, tuple([rig.names[n] for n in chain] for chain in names.legs), left)  # type: ignore[arg-type]
    arms = tuple(roles.read_arm(rig, where, [rig.names[n] for n in chain]) for chain in names.arms)
    keypoints, soles, length, found = _places(rig, where, legs, (arms[0], arms[1]))
    doubts += found
    parts = _parts(rig, legs, (arms[0], arms[1]), rig.names[names.chest])
    doubts += _by_name(parts) + _uneven(legs, (arms[0], arms[1]))
    return Anatomy(
        rig, legs, (arms[0], arms[1]), rig.names[names.chest], keypoints, soles, length, parts, tuple(doubts)
    )


@dataclass(frozen=True)
class _Names:
    """Limbs by the names of their links, which stay when the rig gets another root."""

    legs: tuple[list[str], list[str]]
    arms: tuple[list[str], list[str]]
    chest: str

    @staticmethod
    def of(rig: Rig, limbs: Limbs, order: tuple[int, int], left: Array, where: Posed) -> _Names:
        def named(chain: list[int]) -> list[str]:
            return [rig.links[b].name for b in chain]

        arms = sorted(limbs.arms, key=lambda chain: -float(where.pos[chain].mean(axis=0) @ left))
        legs = [limbs.legs[k] for k in order]
        return _Names(
            (named(legs[0]), named(legs[1])), (named(arms[0]), named(arms[1])), rig.links[limbs.chest].name
        )


def _read_legs(rig: Rig, where: Posed, chains: tuple[list[int], list[int]], across: Array) -> tuple[Leg, Leg]:
    out = []
    for chain in chains:
        foot = standing_link(rig, where, chain)
        points = foot_points(rig, where, foot)
        middle = points.mean(axis=0) if len(points) else where.point(foot, rig.links[foot].com)
        out.append(roles.read_leg(rig, where, chain, foot, middle, across))
    return out[0], out[1]


def _at_pelvis(rig: Rig, limbs: Limbs, frame: Array) -> tuple[Rig, list[Doubt]]:
    """The rig with the pelvis as its root, at the origin, x ahead; and what changed by that."""
    doubts = []
    old = rig.links[0].name
    pelvis = carrier(rig, limbs.pelvis)
    if pelvis != 0:
        above = set(rig.path(pelvis)[:-1])
        carries = above & set(rig.path(limbs.chest))  # the trunk is above the pelvis in the file's tree
        keep = limbs.chest in above or (carries and limbs.chest not in rig.below(pelvis))
        drop = frozenset() if keep else frozenset({rig.links[pelvis].parent})
        rig = rerooted(rig, pelvis, drop)
        doubts.append(
            Doubt(
                f"The root of the file is {old!r}, but the legs hang on {rig.links[0].name!r}, which is the root of the "
                "written model" + (f"; {old!r} and what hangs on it beside the robot is left out." if drop else "."),
                f"nothing to do if {rig.links[0].name!r} is the pelvis. Motions hold its place and turn, not those of "
                f"{old!r}, and joints are in the order of the written model.",
            )
        )
    elif not rig.free_root:
        doubts.append(
            Doubt(
                f"The file fixes its root {old!r} in the world or moves it by other joints; the written model has a free "
                "joint there.",
                "nothing to do, unless another body is the pelvis.",
            )
        )
    turn = rot.multiply(rot.conjugate(frame), rig.links[0].quat)
    angle = float(np.degrees(np.linalg.norm(rot.to_rotvec(turn))))
    if angle > 0.01:
        rig = with_root_frame(rig, frame)
        doubts.append(
            Doubt(
                f"The root's axes of the written model are turned by {angle:.0f} degrees against those of the file: here "
                "x is ahead, y left, z up.",
                "nothing to do. Whoever plays motions on the file's own model has to turn root_quat back.",
            )
        )
    root = replace(rig.links[0], pos=np.zeros(3), quat=rot.IDENTITY)
    return replace(rig, links=(root, *rig.links[1:]), up=Z), doubts


def _places(
    rig: Rig, where: Posed, legs: tuple[Leg, Leg], arms: tuple[Arm, Arm]
) -> tuple[dict[str, Place], tuple[Sole, Sole], float, list[Doubt]]:
    """Keypoints, soles, the length of a leg, and what was not sure."""
    out: dict[str, Place] = {}
    soles, doubts, lengths = [], [], []
    ahead = np.array([1.0, 0.0, 0.0])

    def at(place: Place) -> Array:
        return where.point(place.link, place.offset)

    for side, leg in zip(SIDES, legs):
        points = foot_points(rig, where, leg.foot)
        middle = points.mean(axis=0) if len(points) else where.point(leg.foot, rig.links[leg.foot].com)
        hip = out[f"{side}_hip"] = roles.hip_place(leg, where)
        ankle = out[f"{side}_ankle"] = roles.ankle_place(leg, where, middle)
        knee = out[f"{side}_knee"] = roles.knee_place(leg, where, at(hip), at(ankle))
        lengths.append(float(np.linalg.norm(at(knee) - at(hip)) + np.linalg.norm(at(ankle) - at(knee))))
        soles.append(find_sole(rig, where, leg.foot, ahead, at(ankle), lengths[-1]))
        doubts += _sole_doubts(side, rig.links[leg.foot].name, soles[-1]) if side == "left" else []
        if "pitch" not in leg.ankle:
            doubts.append(
                Doubt(
                    f"The {side} leg has no ankle joint that pitches the foot; the keypoint {side}_ankle is where an ankle "
                    "would be. Such a foot cannot stand flat with a bent knee.",
                    f"check keypoints: {side}_ankle in robot.json.",
                )
            )
    for side, arm in zip(SIDES, arms):
        shoulder = out[f"{side}_shoulder"] = roles.shoulder_place(arm, where)
        elbow = out[f"{side}_elbow"] = roles.elbow_place(arm, where, at(shoulder))
        wrist, how = roles.wrist_place(arm, rig, where, at(elbow))
        out[f"{side}_wrist"] = wrist
        if how:
            reach = 100 * float(np.linalg.norm(at(wrist) - at(elbow)))
            doubts.append(
                Doubt(
                    f"The {side} arm has no wrist joint; its wrist was taken to be {how}, {reach:.1f} cm from the elbow.",
                    f"check keypoints: {side}_wrist in robot.json: where the forearm ends and the hand begins.",
                )
            )
    length = float(np.mean(lengths))
    hips = (at(out["left_hip"]) + at(out["right_hip"])) / 2
    out["pelvis"], unsure = _pelvis(hips, length)
    doubts += unsure
    return out, (soles[0], soles[1]), length, doubts


def _pelvis(hips: Array, leg: float) -> tuple[Place, list[Doubt]]:
    """The root's own origin if it lies where a pelvis does, else a little above the hips."""
    if np.linalg.norm(hips[:2]) < 0.15 * leg and -ORIGIN * leg < hips[2] < 0.05 * leg:
        return Place(0, np.zeros(3)), []
    point = hips + [0.0, 0.0, 0.12 * leg]
    return Place(0, point), [
        Doubt(
            f"The root's origin is not between the hips or above them; the pelvis was put {12 * leg:.1f} cm above the "
            "middle of the hips.",
            "check keypoints: pelvis in robot.json. Where it is exactly matters little.",
        )
    ]


def _sole_doubts(side: str, foot: str, sole: Sole) -> list[Doubt]:
    out = []
    edit = f"measure the sole in the frame of {foot!r} and edit soles in robot.json, of the other foot too."
    if sole.source == "inertia":
        out.append(
            Doubt(f"The shape of the foot {foot!r} is not known; its sole is that of a box with its inertia.", edit)
        )
    if sole.source == "proportion":
        out.append(
            Doubt(f"The shape of the foot {foot!r} is not known; its sole is as large as a person's would be.", edit)
        )
    if sole.tilt > 3:
        out.append(
            Doubt(
                f"In the pose that the file draws, the sole of {foot!r} leans by {sole.tilt:.0f} degrees; the flattest "
                "face of the foot's underside was taken.",
                "look at robot.png: soles have to lie on the ground line.",
            )
        )
    return out


def _parts(rig: Rig, legs: tuple[Leg, Leg], arms: tuple[Arm, Arm], chest: int) -> dict[str, str]:
    out = {h.name: "other" for _, h in rig.hinges_of(range(len(rig.links)))}
    out |= {h.name: "waist" for _, h in rig.hinges_of(rig.path(chest))}
    for leg in legs:
        k = leg.axes.index(leg.knee)
        out |= {a.hinge.name: "hip" for a in leg.axes[:k]} | {a.hinge.name: "ankle" for a in leg.axes[k + 1 :]}
        out[leg.knee.hinge.name] = "knee"
    for arm in arms:
        out |= {a.hinge.name: "shoulder" for a in arm.shoulder} | {a.hinge.name: "wrist" for a in arm.wrist}
        out[arm.elbow.hinge.name] = "elbow"
    return out


def _by_name(parts: dict[str, str]) -> list[Doubt]:
    """Joints whose names say something else than their places."""
    wrong = [
        f"{joint} serves as {part}"
        for joint, part in parts.items()
        if part in WORDS and any(w in joint.lower() for w in WORDS) and part not in joint.lower()
    ]
    if not wrong:
        return []
    return [
        Doubt(
            f"Names of joints say something else than their axes and places: {some(wrong)}. Axes and places were followed.",
            "look at the keypoints in robot.png; edit keypoints in robot.json where they are wrong.",
        )
    ]


def _uneven(legs: tuple[Leg, Leg], arms: tuple[Arm, Arm]) -> list[Doubt]:
    out = []
    for what, (a, b) in (("legs", legs), ("arms", arms)):
        if len(a.axes) != len(b.axes):
            out.append(
                Doubt(
                    f"The two {what} differ: the left one has {len(a.axes)} joints, the right one {len(b.axes)}.",
                    "look at robot.png; a joint too many is one of a hand or a closed loop.",
                )
            )
    return out
