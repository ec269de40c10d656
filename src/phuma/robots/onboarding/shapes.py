"""The shapes of a link are primitives as they are, and for meshes the box or the capsule that fits them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.model import load_mujoco

PRIMITIVES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")
ROUND = 1.4
"""A mesh whose smaller extents differ by less than this factor becomes a capsule, else a box"""
SNUG = 0.92
"""of a mesh's extents: a fitted shape bulges out of the real one in some places and stays inside in others"""


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape is a geom of a link."""

    kind: str
    """one of PRIMITIVES"""
    pos: Array
    """(3,) in the link's frame"""
    quat: Array
    """(4,) wxyz"""
    size: Array
    """(3,) as MuJoCo has it"""
    collides: bool
    rgba: Array
    points: Array
    """(P, 3) of its real surface, in the link's frame: enough of them to know how far it reaches"""
    faces: Array | None = None
    """(F, 3) of a mesh, by the numbers of its points; None of a primitive"""

    def moved(self, pos: Array, quat: Array) -> Shape:
        """Return the shape in a frame in which the link's own lies at `pos`, rotated by `quat`."""
        return replace(
            self,
            pos=pos + rot.rotate(quat, self.pos),
            quat=rot.multiply(quat, self.quat),
            points=pos + rot.rotate(quat, self.points),
        )


def shapes_of(model: Any, body: int) -> Iterator[Shape]:
    """Yield the shapes of one body of a compiled model; planes and height fields are left out."""
    mujoco = load_mujoco()
    kinds = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")): name for name in PRIMITIVES}
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    for g in range(first, first + count):
        kind = int(model.geom_type[g])
        pos, quat = np.array(model.geom_pos[g]), rot.normalize(np.array(model.geom_quat[g]))
        rgba = model.geom_rgba[g] if int(model.geom_matid[g]) < 0 else model.mat_rgba[int(model.geom_matid[g])]
        collides = bool(model.geom_contype[g] or model.geom_conaffinity[g])
        if kind in kinds:
            name, size = kinds[kind], np.array(model.geom_size[g])
            local = surface(name, size)
        elif kind == int(mujoco.mjtGeom.mjGEOM_MESH):
            mesh = int(model.geom_dataid[g])
            at, n = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            local = np.array(model.mesh_vert[at : at + n], dtype=float)
            name, middle, own, size = fitted(local)
            points = pos + rot.rotate(quat, local)
            pos, quat = pos + rot.rotate(quat, middle), rot.multiply(quat, own)
            face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
            triangles = np.array(model.mesh_face[face : face + faces])
            yield Shape(name, pos, quat, size, collides, np.array(rgba, dtype=float), points, triangles)
            continue
        else:
            continue
        points = pos + rot.rotate(quat, local)
        yield Shape(name, pos, quat, size, collides, np.array(rgba, dtype=float), points)


def fitted(points: Array) -> tuple[str, Array, Array, Array]:
    """Return a box or a capsule that fits points (P, 3): its kind, middle (3,), rotation (4,) wxyz and size (3,)."""
    _, axes = np.linalg.eigh(np.cov(points.T) + 1e-12 * np.eye(3))
    straight = np.eye(3)
    rotated, plain = (np.ptp(points @ frame, axis=0) for frame in (axes, straight))
    frame = axes if rotated.prod() < 0.9 * plain.prod() else straight  # its own axes, unless others fit better
    if np.linalg.det(frame) < 0:
        frame = frame * [1, 1, -1]
    local = points @ frame
    low, high = local.min(axis=0), local.max(axis=0)
    half = np.maximum(SNUG * (high - low) / 2, 1e-3)
    order = np.argsort(half)
    middle = frame @ ((low + high) / 2)
    if half[order[1]] / half[order[0]] > ROUND:
        return "box", middle, rot.from_matrix(frame), half
    radius = half[order[:2]].mean()
    long = order[2]
    frame = frame[:, [(long + 1) % 3, (long + 2) % 3, long]]
    return "capsule", middle, rot.from_matrix(frame), np.array([radius, max(half[long] - radius, 1e-3), 0.0])


def surface(kind: str, size: Array) -> Array:
    """Return points (P, 3) on a primitive, in its own frame, that reach as far as it in (nearly) every direction."""
    if kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        return signs * size
    around = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.stack([np.cos(around), np.sin(around), np.zeros_like(around)], axis=1)
    if kind == "cylinder":
        return np.concatenate([ring * size[0] + [0, 0, s * size[1]] for s in (-1, 1)])
    rise = np.linspace(-np.pi / 2, np.pi / 2, 13)
    ball = np.concatenate([ring * np.cos(r) + [0, 0, np.sin(r)] for r in rise])
    if kind == "ellipsoid":
        return ball * size
    if kind == "sphere":
        return ball * size[0]
    return ball * size[0] + np.where(ball[:, 2:] >= 0, 1.0, -1.0) * [0, 0, size[1]]
