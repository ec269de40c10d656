"""Keypoints and soles are found on a robot whose limbs are known, with what is ambiguous about them."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.onboarding import joint_roles
from phuma.robots.onboarding.ambiguities import Ambiguity
from phuma.robots.onboarding.joint_roles import Arm, Leg, LinkPoint
from phuma.robots.onboarding.rig import LinkPoses, Rig
from phuma.robots.onboarding.soles import Sole, find_sole, foot_points

SIDES = ("left", "right")
ORIGIN = 0.3  # of the leg: a root's origin that is no more above the hips, and not beside them, is the pelvis


def find_keypoints(
    rig: Rig, where: LinkPoses, legs: tuple[Leg, Leg], arms: tuple[Arm, Arm]
) -> tuple[dict[str, LinkPoint], tuple[Sole, Sole], float, list[Ambiguity]]:
    """Return keypoints, soles, the length of a leg [m], and ambiguities."""
    out: dict[str, LinkPoint] = {}
    soles, ambiguities, lengths = [], [], []
    ahead = np.array([1.0, 0.0, 0.0])

    def at(point: LinkPoint) -> Array:
        return where.point(point.link, point.offset)

    for side, leg in zip(SIDES, legs):
        points = foot_points(rig, where, leg.foot)
        middle = points.mean(axis=0) if len(points) else where.point(leg.foot, rig.links[leg.foot].com)
        ankle = out[f"{side}_ankle"] = joint_roles.ankle_point(leg, where, middle)
        hip, beside = joint_roles.hip_point(leg, where, at(ankle))
        out[f"{side}_hip"] = hip
        knee = out[f"{side}_knee"] = joint_roles.knee_point(leg, where, at(hip), at(ankle))
        lengths.append(float(np.linalg.norm(at(knee) - at(hip)) + np.linalg.norm(at(ankle) - at(knee))))
        soles.append(find_sole(rig, where, leg.foot, ahead, at(ankle), lengths[-1]))
        ambiguities += _hip_ambiguities(side, beside)
        ambiguities += _sole_ambiguities(side, rig.links[leg.foot].name, soles[-1]) if side == "left" else []
        if "pitch" not in leg.ankle:
            ambiguities.append(
                Ambiguity(
                    f"The {side} leg has no ankle joint that pitches the foot; the keypoint {side}_ankle is where an "
                    "ankle would be. Such a foot cannot stand flat with a bent knee.",
                    f"check keypoints: {side}_ankle in robot.json.",
                )
            )
    for side, arm in zip(SIDES, arms):
        shoulder = out[f"{side}_shoulder"] = joint_roles.shoulder_point(arm, where)
        elbow = out[f"{side}_elbow"] = joint_roles.elbow_point(arm, where, at(shoulder))
        wrist, how = joint_roles.wrist_point(arm, rig, where, at(elbow))
        out[f"{side}_wrist"] = wrist
        if how:
            reach = 100 * float(np.linalg.norm(at(wrist) - at(elbow)))
            ambiguities.append(
                Ambiguity(
                    f"The {side} arm has no joint at the wrist, which was taken to be {how}, {reach:.1f} cm from the "
                    "elbow.",
                    f"check keypoints: {side}_wrist in robot.json: where the forearm ends and the hand begins.",
                )
            )
    length = float(np.mean(lengths))
    hips = (at(out["left_hip"]) + at(out["right_hip"])) / 2
    out["pelvis"], unsure = _pelvis(hips, length)
    ambiguities += unsure
    return out, (soles[0], soles[1]), length, ambiguities


def _pelvis(hips: Array, leg: float) -> tuple[LinkPoint, list[Ambiguity]]:
    """Return the root's own origin if it lies where a pelvis does, else a point a little above the hips."""
    if np.linalg.norm(hips[:2]) < 0.15 * leg and -ORIGIN * leg < hips[2] < 0.05 * leg:
        return LinkPoint(0, np.zeros(3)), []
    point = hips + [0.0, 0.0, 0.12 * leg]
    return LinkPoint(0, point), [
        Ambiguity(
            f"The root's origin is not between the hips or above them; the pelvis was put {12 * leg:.1f} cm above the "
            "middle of the hips.",
            "check keypoints: pelvis in robot.json. Where it is exactly matters little.",
        )
    ]


def _hip_ambiguities(side: str, beside: float) -> list[Ambiguity]:
    if not beside:
        return []
    return [
        Ambiguity(
            f"The {side} leg hangs {100 * beside:.1f} cm beside the place where its hip's axes of pitch and roll pass "
            f"each other; the keypoint {side}_hip was put on the leg's own line. Roll carries it along, and a human's "
            "hip stays where it is.",
            f"look at robot.png: hip, knee and ankle have to lie in the leg; else edit keypoints: {side}_hip in "
            "robot.json.",
        )
    ]


def _sole_ambiguities(side: str, foot: str, sole: Sole) -> list[Ambiguity]:
    out = []
    edit = f"measure the sole in the frame of {foot!r} and edit soles in robot.json, of the other foot too."
    if sole.source == "inertia":
        out.append(
            Ambiguity(f"The shape of the foot {foot!r} is not known; its sole is that of a box with its inertia.", edit)
        )
    if sole.source == "proportion":
        out.append(
            Ambiguity(
                f"The shape of the foot {foot!r} is not known; its sole is as large as a person's would be.", edit
            )
        )
    if sole.tilt > 3:
        out.append(
            Ambiguity(
                f"In the pose that the file draws, the sole of {foot!r} leans by {sole.tilt:.0f} degrees; the flattest "
                "face of the foot's underside was taken.",
                "look at robot.png: soles have to lie on the ground line.",
            )
        )
    return out
