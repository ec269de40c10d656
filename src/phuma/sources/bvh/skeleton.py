"""The body of a BVH recording has its own bones, with soles laid under its feet."""

from __future__ import annotations

import numpy as np

from phuma.body.open import ANKLE, BALL, BALL_HEIGHT, FOOT, open_body
from phuma.core import rotations as rot
from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, PARENTS, POINTS_PER_REGION, REGIONS
from phuma.sources.bvh.rest import Samples

LUMBAR_SHARE = 0.28  # SMPL-X's spine1 lies about so far up the way from pelvis to neck


def bvh_body(samples: Samples, axes: dict[int, Array], scale: float) -> Body:
    """Return the rest skeleton in SMPL-X's rest axes.

    A joint that the file lacks is put where it belongs between others.
    """
    offsets = _offsets(samples, axes, scale)
    joints = np.zeros((N_JOINTS, 3))
    for j in range(1, N_JOINTS):
        joints[j] = joints[PARENTS[j]] + offsets[j]
    soles, weights = _soles(joints)
    return Body(joints, soles, weights, name="bvh", lumbar=_lumbar(joints))


def _offsets(samples: Samples, axes: dict[int, Array], scale: float) -> Array:
    """(22, 3) metres: each joint from its parent, in the parent's rest axes.

    Constant where the file has the same parent, else (a joint between the two was left out) the mean over the motion.
    """
    offsets = np.zeros((N_JOINTS, 3))
    for j in range(1, N_JOINTS):
        if j not in samples.position:
            continue
        p = PARENTS[j]
        while p not in axes:
            p = PARENTS[p]
        inverse = rot.conjugate(rot.multiply(samples.rotation[p], axes[p]))
        offsets[j] = rot.rotate(inverse, samples.position[j] - samples.position[p]).mean(axis=0) * scale
    _fill_spine(offsets, samples)
    _fill_ends(offsets, samples)
    return offsets


def _fill_spine(offsets: Array, samples: Samples) -> None:
    """Spine joints, necks and collars that the file lacks share the way of the next joint that it has."""
    for chain in (
        ("spine1", "spine2", "spine3"),
        ("neck", "head"),
        ("left_collar", "left_shoulder"),
        ("right_collar", "right_shoulder"),
    ):
        waiting: list[int] = []
        for name in chain:
            j = INDEX[name]
            waiting.append(j)
            if j in samples.position:
                share = offsets[j] / len(waiting)
                for k in waiting:
                    offsets[k] = share
                waiting = []


def _fill_ends(offsets: Array, samples: Samples) -> None:
    """Ball of the foot, wrist and head of the average person, where the file ends before them."""
    leg = sum(np.linalg.norm(offsets[INDEX[f"{s}_{j}"]]) for s in ("left", "right") for j in ("knee", "ankle")) / 2
    average = open_body()
    ratio = leg / average.leg_length
    for name in ("left_foot", "right_foot", "left_wrist", "right_wrist", "neck", "head"):
        if INDEX[name] not in samples.position and not offsets[INDEX[name]].any():
            offsets[INDEX[name]] = average.offsets[INDEX[name]] * ratio


def _lumbar(joints: Array) -> Array:
    """From spine1 to where SMPL-X has its spine1, if this skeleton's first spine joint sits at the pelvis."""
    spine1, trunk = joints[INDEX["spine1"]], joints[INDEX["neck"]] - joints[INDEX["pelvis"]]
    missing = LUMBAR_SHARE * np.linalg.norm(trunk) - np.linalg.norm(spine1 - joints[INDEX["pelvis"]])
    if np.linalg.norm(spine1 - joints[INDEX["pelvis"]]) > 0.1 * np.linalg.norm(trunk):
        return np.zeros(3)
    return missing * trunk / np.linalg.norm(trunk)


def _soles(joints: Array) -> tuple[Array, Array]:
    """(88, 3) and (88, 22): the open body's soles, as long as this foot, under it and along it, level."""
    average = open_body()
    soles, weights = average.soles.copy(), average.sole_weights
    for r, region in enumerate(REGIONS):
        own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
        side = region.split("_")[0]
        ankle, ball = INDEX[f"{side}_ankle"], INDEX[f"{side}_foot"]
        bone, open_bone = joints[ball] - joints[ankle], average.joints[ball] - average.joints[ankle]
        length = np.hypot(bone[0], bone[2])
        ratio = length / open_bone[2]
        ahead = np.array([bone[0], 0.0, bone[2]]) / max(length, 1e-6)
        across = np.cross([0.0, 1.0, 0.0], ahead)
        local = (soles[own] - average.joints[ankle]) * ratio
        stature = (BALL - ANKLE) ** -1 * length / FOOT
        level = joints[ball][1] - BALL_HEIGHT * stature
        soles[own] = joints[ankle] + local[:, :1] * across + local[:, 2:] * ahead
        soles[own, 1] = level
    return soles, weights
