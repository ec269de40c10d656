"""A robot's collision shapes are capsules: segments with a radius, whose distances are quick to compute.

Spheres and capsules are taken as they are; a box becomes two capsules along its longest edge, which stand out of its
faces by as much as its edges stand out of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model

BOX_RADIUS = 0.5 * (1 + 2**0.5)
"""of half a box's height: between the face, at 1, and the edge, at sqrt(2)"""


class Capsules(NamedTuple):
    """These are C capsules and the M pairs of them that may not touch."""

    body: Array
    """(C,) int"""
    start: Array
    """(C, 3) in the body's frame"""
    end: Array
    """(C, 3)"""
    radius: Array
    """(C,)"""
    pairs: Array
    """(M, 2) int"""
    apart: Array
    """(M,) m: capsules whose middles are further apart than this cannot touch"""
    joints: Array
    """(C, J) int: joints above the capsule, -1 behind the last"""
    depth: Array
    """(C,) int"""


def no_capsules() -> Capsules:
    """Return no capsule at all."""
    ints, floats = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 3))
    return Capsules(ints[:, 0], floats, floats, floats[:, 0], ints, floats[:, 0], ints, ints[:, 0])


@lru_cache(maxsize=8)  # a model takes longer to compile than a clip to solve
def capsules_of(robot: Robot) -> Capsules:
    """Return the capsules of a robot's collision geoms, and the pairs that its model lets collide."""
    from phuma.robots.kinematics import points_of

    model = robot_model(robot)
    found = [(g, *shape) for g in range(model.ngeom) if model.geom_contype[g] for shape in _shapes(model, g)]
    geoms = np.array([f[0] for f in found], dtype=np.int64)
    bodies = model.geom_bodyid[geoms] - 1
    chains = points_of(robot, bodies, np.zeros((len(bodies), 3)))
    pairs = [
        (a, b)
        for a in range(len(found))
        for b in range(a + 1, len(found))
        if _may_touch(model, int(geoms[a]), int(geoms[b]))
    ]
    start, end, radius = (np.array([f[k] for f in found]) for k in (1, 2, 3))
    pair = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    reach = radius + 0.5 * np.linalg.norm(end - start, axis=1)
    return Capsules(
        bodies.astype(np.int64),
        start,
        end,
        radius,
        pair,
        reach[pair].sum(axis=1),
        chains.joints,
        chains.depth,
    )


def _shapes(model, g: int):
    """Return the segments (start, end, radius) of one geom, in its body's frame."""
    import mujoco

    kind, size = int(model.geom_type[g]), model.geom_size[g]
    centre, matrix = model.geom_pos[g], rot.to_matrix(model.geom_quat[g])
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return [(centre, centre, size[0])]
    if kind in (int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_CYLINDER)):
        half = matrix[:, 2] * (size[1] if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE) else max(size[1] - size[0], 0.0))
        return [(centre - half, centre + half, size[0])]
    order = np.argsort(size[:3])  # box, ellipsoid: thin, middle, long
    radius = size[order[0]]
    half, aside = matrix[:, order[2]] * (size[order[2]] - radius), matrix[:, order[1]] * (size[order[1]] - radius)
    reach = BOX_RADIUS * radius if kind == int(mujoco.mjtGeom.mjGEOM_BOX) else radius
    return [(centre - half + s * aside, centre + half + s * aside, reach) for s in (-1.0, 1.0)]


def _may_touch(model, a: int, b: int) -> bool:
    """Return whether two geoms may touch by MuJoCo's own rules.

    They may not on one body or on parent and child, nor where they are excluded, and the masks have to agree.
    """
    first, second = int(model.geom_bodyid[a]), int(model.geom_bodyid[b])
    if (
        first == second
        or first in (0, int(model.body_parentid[second]))
        or second in (0, int(model.body_parentid[first]))
    ):
        return False
    low, high = min(first, second), max(first, second)
    excluded = {int(s) for s in model.exclude_signature}
    if (low << 16) + high in excluded or (high << 16) + low in excluded:
        return False
    masks = (model.geom_contype[a] & model.geom_conaffinity[b]) | (model.geom_contype[b] & model.geom_conaffinity[a])
    return bool(masks)
