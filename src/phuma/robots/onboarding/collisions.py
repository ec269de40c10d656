"""An onboarded robot gets the shapes that collide, and the pairs of links that may not be judged by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.model import touching_bodies
from phuma.robots.onboarding.anatomy import Anatomy
from phuma.robots.onboarding.rig import Rig, carrier
from phuma.robots.onboarding.shapes import Shape
from phuma.robots.onboarding.soles import Sole
from phuma.robots.onboarding.writer import carried_shapes

FOOT_BOX = 0.6  # of the foot's height
THIN = 0.02  # m: of a foot whose height is not known


def colliding_shapes(body: Anatomy) -> dict[int, list[Shape]]:
    """Return the colliding shapes by link.

    They are the model's own, or those for the eye where a link has no others, and a box on the sole for each foot.
    Fingers, toes and the rods of closed loops have none: here they do not move as they really do.
    """
    rig, feet = body.rig, dict(zip(body.feet, body.soles))
    limbs = {c for limb in (*body.legs, *body.arms) for c in rig.below(limb.axes[0].link)}
    out = {}
    for b, shapes in carried_shapes(rig).items():
        still = {body.parts[h.name] for h in rig.links[b].hinges} == {"other"}
        if b in feet:
            out[b] = [foot_box(feet[b])]
        elif not (still and b in limbs):
            out[b] = [s for s in shapes if s.collides] or shapes
    return out


def foot_box(sole: Sole) -> Shape:
    """Return a box on the sole, as wide and as long as it."""
    side = np.cross(sole.normal, sole.ahead)
    frame = np.stack([sole.ahead, side, sole.normal], axis=1)
    length, width = (float(np.ptp(sole.corners.reshape(4, 3) @ v)) for v in (sole.ahead, side))
    half = max(FOOT_BOX * sole.top, THIN) / 2
    middle = sole.middle + half * sole.normal
    size = np.array([length / 2, width / 2, half])
    return Shape("box", middle, rot.from_matrix(frame), size, True, np.array([0.6, 0.6, 0.65, 1]), middle[None])


def excluded_pairs(body: Anatomy, model: Any, poses: Sequence[Array]) -> list[tuple[str, str]]:
    """Return the names of links whose shapes are not held apart.

    These are the two ends of a hip, a shoulder, an ankle, a wrist or a waist, whatever number of hinges it has, and
    those that touch in one of `poses` (N,).
    """
    rig = body.rig
    shaped = sorted({int(b) - 1 for b in model.geom_bodyid[model.geom_contype > 0]})
    out = {(a, b) for a in shaped for b in shaped if a < b and _one_joint(rig, body.parts, a, b)}
    mirror = _mirror(body)
    for pose in poses:
        for a, b in ((i - 1, j - 1) for i, j in touching_bodies(model, pose)):
            out |= {_pair(a, b), _pair(mirror.get(a, a), mirror.get(b, b))}
    return [(rig.links[a].name, rig.links[b].name) for a, b in sorted(out)]


def _one_joint(rig: Rig, parts: Mapping[str, str], a: int, b: int) -> bool:
    """Whether all hinges between two links, one above the other, serve as one joint of a human's."""
    path = rig.path(b)
    if a not in path:
        return False
    between = {parts[h.name] for _, h in rig.hinges_of(path[path.index(a) + 1 :])}
    parent = rig.links[b].parent
    return len(between) == 1 and parent != a  # MuJoCo leaves out parent and child by itself


def _mirror(body: Anatomy) -> dict[int, int]:
    """The link of the other side, for those of limbs."""
    pairs = {(a.link, b.link) for left, right in (body.legs, body.arms) for a, b in zip(left.axes, right.axes)}
    return dict(pairs) | {b: a for a, b in pairs}


def _pair(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def shown_feet(body: Anatomy) -> dict[int, list[Shape]]:
    """Return a box for the eye on each foot that has no shape of its own."""
    carried = carried_shapes(body.rig)
    return {b: [foot_box(sole)] for b, sole in zip(body.feet, body.soles) if not carried.get(carrier(body.rig, b))}
