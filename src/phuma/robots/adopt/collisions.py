"""The shapes of an adopted robot that collide, and the pairs of links that may not be judged by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phuma import rotations as rot
from phuma.robots.adopt.rig import Rig
from phuma.robots.adopt.shapes import Shape
from phuma.robots.adopt.soles import Sole
from phuma.robots.adopt.writer import carried_shapes, carrier
from phuma.robots.model import load_mujoco
from phuma.rotations import Array

RANDOM_POSES = 60
OFTEN = 0.3  # of random poses: links near each other in the tree that touch so often are made to
NEAR = 2  # joints
FOOT_BOX = 0.6  # of the foot's height


def colliding_shapes(rig: Rig, soles: Mapping[int, Sole], hands: Sequence[int]) -> dict[int, list[Shape]]:
    """By link: the model's own colliding shapes, or those for the eye where a link has no others; a box on the sole for
    each foot. Fingers and toes have none: they do not move."""
    without = {c for b in (*soles, *hands) for c in rig.below(b)[1:] if carrier(rig, c) not in (*soles, *hands)}
    out = {}
    for b, shapes in carried_shapes(rig).items():
        if b in soles:
            out[b] = [foot_box(soles[b])]
        elif b not in without:
            out[b] = [s for s in shapes if s.collides] or shapes
    return out


def foot_box(sole: Sole) -> Shape:
    """A box on the sole, as wide and as long as it."""
    side = np.cross(sole.normal, sole.ahead)
    frame = np.stack([sole.ahead, side, sole.normal], axis=1)
    length, width = (float(np.ptp(sole.corners.reshape(4, 3) @ v)) for v in (sole.ahead, side))
    half = max(FOOT_BOX * sole.top, 0.02) / 2
    middle = sole.middle + half * sole.normal
    size = np.array([length / 2, width / 2, half])
    return Shape("box", middle, rot.from_matrix(frame), size, True, np.array([0.5, 0.5, 0.55, 1]), middle[None])


def excluded_pairs(rig: Rig, model: Any, poses: Sequence[Array]) -> list[tuple[str, str]]:
    """Names of the links whose shapes are not to be held apart: those that touch in one of `poses` (N,), neighbours over
    a fixed link, and near ones that touch in many poses drawn by chance."""
    out = set()
    for b, link in enumerate(rig.links):
        if link.hinges and carrier(rig, link.parent) != link.parent:
            out.add(_pair(carrier(rig, link.parent), b))
    for pose in poses:
        out |= _touching(model, pose)
    rng = np.random.default_rng(0)
    lower, upper = model.jnt_range[1:, 0], model.jnt_range[1:, 1]
    counts: dict[tuple[int, int], int] = {}
    for pose in rng.uniform(lower, upper, (RANDOM_POSES, len(lower))):
        for pair in _touching(model, pose):
            counts[pair] = counts.get(pair, 0) + 1
    often = {p for p, n in counts.items() if n > OFTEN * RANDOM_POSES and _joints_between(rig, *p) <= NEAR}
    return [(rig.links[a].name, rig.links[b].name) for a, b in sorted(out | often)]


def _pair(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def _touching(model: Any, pose: Array) -> set[tuple[int, int]]:
    mujoco = load_mujoco()
    data = mujoco.MjData(model)
    data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), pose
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    bodies = model.geom_bodyid[data.contact.geom].reshape(-1, 2)
    return {_pair(int(a) - 1, int(b) - 1) for a, b in bodies[data.contact.dist < 0]}


def _joints_between(rig: Rig, a: int, b: int) -> int:
    first, second = rig.path(a), rig.path(b)
    apart = set(first) ^ set(second)
    return len(rig.hinges_of(sorted(apart)))
