"""A model's tree is read as a human body: legs and arms by side, joints by what they do, keypoints and soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.onboarding import joint_roles
from phuma.robots.onboarding.ambiguities import Ambiguity, some
from phuma.robots.onboarding.facing import find_facing
from phuma.robots.onboarding.joint_roles import Arm, Leg, LinkPoint
from phuma.robots.onboarding.keypoints import find_keypoints
from phuma.robots.onboarding.limbs import Limbs, find_limbs
from phuma.robots.onboarding.reroot import reroot_at_pelvis
from phuma.robots.onboarding.rig import LinkPoses, Rig
from phuma.robots.onboarding.soles import Sole, foot_points, standing_link

WORDS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")


@dataclass(frozen=True, eq=False)
class Anatomy:
    """An anatomy is a robot whose limbs and joints are known. Pairs are left and right."""

    rig: Rig
    legs: tuple[Leg, Leg]
    arms: tuple[Arm, Arm]
    chest: int
    keypoints: dict[str, LinkPoint]
    soles: tuple[Sole, Sole]
    leg_length: float
    """m, from hip to ankle"""
    parts: dict[str, str]
    """joint -> hip, knee, ankle, waist, shoulder, elbow, wrist, or other"""
    ambiguities: tuple[Ambiguity, ...]

    @property
    def feet(self) -> tuple[int, int]:
        """Return the links of the feet, left and right."""
        return self.legs[0].foot, self.legs[1].foot


def find_anatomy(rig: Rig, path: Path) -> Anatomy:
    """Find the human body in a rig, or raise an error that says what was searched and what was found."""
    ambiguities: list[Ambiguity] = []
    limbs = find_limbs(rig, path)
    where = rig.posed()
    legs = _read_legs(rig, where, limbs.legs, limbs.across)
    first, second = ([rig.links[b].name for b in chain] for chain in limbs.legs)
    joints = [[h.name for _, h in rig.hinges_of(chain)] for chain in limbs.legs]
    facing = find_facing(rig, where, legs, limbs.across, [*zip(first, second), *zip(*joints)])
    ambiguities += facing.ambiguities
    order = (0, 1) if facing.first_is_left else (1, 0)
    names = _Names.of(rig, limbs, order, facing.left, where)
    rig, more = reroot_at_pelvis(rig, limbs, facing.frame(rig.up))
    ambiguities += more
    where = rig.posed()
    chest = rig.names[names.chest]
    legs = _read_legs(rig, where, [rig.numbers(chain) for chain in names.legs], np.array([0.0, 1.0, 0.0]))
    left, right = (joint_roles.read_arm(rig, where, rig.numbers(chain)) for chain in names.arms)
    arms = left, right
    keypoints, soles, length, found = find_keypoints(rig, where, legs, arms)
    parts = _parts(rig, legs, arms, chest)
    ambiguities += found + _by_name(parts) + _uneven(legs, arms)
    return Anatomy(rig, legs, arms, chest, keypoints, soles, length, parts, tuple(ambiguities))


@dataclass(frozen=True)
class _Names:
    """Limbs by the names of their links, which stay when the rig gets another root."""

    legs: tuple[list[str], list[str]]
    arms: tuple[list[str], list[str]]
    chest: str

    @staticmethod
    def of(rig: Rig, limbs: Limbs, order: tuple[int, int], left: Array, where: LinkPoses) -> _Names:
        def named(chain: list[int]) -> list[str]:
            return [rig.links[b].name for b in chain]

        arms = sorted(limbs.arms, key=lambda chain: -float(where.pos[chain].mean(axis=0) @ left))
        legs = [limbs.legs[k] for k in order]
        return _Names((named(legs[0]), named(legs[1])), (named(arms[0]), named(arms[1])), rig.links[limbs.chest].name)


def _read_legs(rig: Rig, where: LinkPoses, chains: Sequence[list[int]], across: Array) -> tuple[Leg, Leg]:
    out = []
    for chain in chains:
        foot = standing_link(rig, where, chain)
        points = foot_points(rig, where, foot)
        middle = points.mean(axis=0) if len(points) else where.point(foot, rig.links[foot].com)
        out.append(joint_roles.read_leg(rig, where, chain, foot, middle, across))
    return out[0], out[1]


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


def _by_name(parts: dict[str, str]) -> list[Ambiguity]:
    """Return an ambiguity where joints' names say something else than their positions."""
    wrong = [
        f"{joint} serves as {part}"
        for joint, part in parts.items()
        if part in WORDS and any(w in joint.lower() for w in WORDS) and part not in joint.lower()
    ]
    if not wrong:
        return []
    return [
        Ambiguity(
            f"Names of joints say something else than their axes and places, which were followed: {some(wrong)}.",
            "look at the keypoints in robot.png; edit keypoints in robot.json where they are wrong.",
        )
    ]


def _uneven(legs: tuple[Leg, Leg], arms: tuple[Arm, Arm]) -> list[Ambiguity]:
    out = []
    for what, (a, b) in (("legs", legs), ("arms", arms)):
        if len(a.axes) != len(b.axes):
            out.append(
                Ambiguity(
                    f"The two {what} differ: the left one has {len(a.axes)} joints, the right one {len(b.axes)}.",
                    "look at robot.png; a joint too many is one of a hand or a closed loop.",
                )
            )
    return out
