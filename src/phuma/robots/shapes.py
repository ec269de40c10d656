"""A robot's shapes are triangles by body: of its real meshes where there are any, else of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.mesh_file import Mesh, load_meshes
from phuma.robots.meshes import Colour, areas_of, decimate, read_stl, visual_meshes
from phuma.robots.robot import Robot

CHORD = 0.0025  # m: how far a round shape's triangles may lie below its surface
CELLS = (0.01, 0.015, 0.022)  # m: grids for heavy meshes, the finest on which the robot is light is taken
WELD = 0.0005  # m: grid for light ones
BREADTH = 0.01, 0.2  # m: between these a mesh's cells shrink with the root of its area, which keeps small things
MOST = 40_000  # triangles of a robot that has meshes
SHARP = np.cos(np.radians(50))  # of the angle between two faces, from which on their edge is seen
WITHIN = 1e-4  # m: what lies so deep in another shape cannot be seen
SHOWN_GROUPS = 3  # MuJoCo's own viewer shows the groups below
UNSET = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's colour of a geom that has none

_KEPT: dict[Path, dict[str, tuple[Shape, ...]]] = {}


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape is a surface of one colour on a body."""

    vertices: Array
    """(V, 3) float32, m in the body's frame; faces share them only where they meet smoothly"""
    faces: Array
    """(F, 3) int32, anticlockwise as seen from outside"""
    colour: Colour
    """r, g, b from 0 to 255"""


class Part(NamedTuple):
    """A part is one geom or mesh in its body's frame."""

    vertices: Array
    """(V, 3)"""
    faces: Array
    """(F, 3)"""
    colour: Colour
    convex: bool


def robot_shapes(robot: Robot) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of every body, at most one per colour.

    They are kept by the robot's folder, as it takes a second to make them of meshes.
    """
    if robot.folder not in _KEPT:
        _KEPT[robot.folder] = {body: _shapes(parts) for body, parts in _parts(robot).items()}
    return _KEPT[robot.folder]


def _parts(robot: Robot) -> dict[str, list[Part]]:
    meshes = visual_meshes(robot)
    if meshes is None:
        return _folder_parts(robot)
    out: dict[str, list[Part]] = {}
    for body, own in meshes.items():
        out[body] = []
        for mesh in own:
            triangles = mesh.pos + rot.rotate(mesh.quat, read_stl(mesh.file))
            out[body].append(_soup(triangles, mesh.colour))
    return _lightened(out)


def _folder_parts(robot: Robot) -> dict[str, list[Part]]:
    """Return the meshes of the robot's folder, and of bodies that have none there the shapes of its model."""
    own = {body: parts for body, parts in load_meshes(robot.folder).items() if body in robot.body_names}
    drawn = {body: [Part(*mesh, convex=False) for mesh in meshes] for body, meshes in own.items()}
    return _model_parts(robot) | drawn


def lightened_meshes(meshes: Mapping[str, Sequence[Mesh]]) -> dict[str, list[Mesh]]:
    """Return meshes with so few triangles that the whole robot is light."""
    parts = {body: [Part(*mesh, convex=False) for mesh in own] for body, own in meshes.items()}
    return {body: [Mesh(p.vertices, p.faces, p.colour) for p in own] for body, own in _lightened(parts).items()}


def _model_parts(robot: Robot) -> dict[str, list[Part]]:
    """Return the geoms in the MJCF that are for the eye."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(robot.model_file))
    out: dict[str, list[Part]] = {name: [] for name in robot.body_names}
    for g in _seen(model):
        kind, colour = int(model.geom_type[g]), _colour(model, g)
        matrix = rot.to_matrix(model.geom_quat[g])
        if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
            part = _soup(_mesh(model, int(model.geom_dataid[g])) @ matrix.T + model.geom_pos[g], colour)
        else:
            vertices, faces = _primitive(kind, model.geom_size[g])
            part = Part(vertices @ matrix.T + model.geom_pos[g], faces, colour, convex=True)
        out[model.body(int(model.geom_bodyid[g])).name].append(part)
    return _lightened(out)


def _seen(model: Any) -> list[int]:
    """Geoms for the eye: of MuJoCo's shown groups, or all if none is there; of a body that has geoms which touch
    nothing, these alone."""
    bodies, kinds = model.geom_bodyid, _kinds()
    alpha = [_rgba(model, g)[3] for g in range(model.ngeom)]
    own = [g for g in range(model.ngeom) if int(bodies[g]) > 0 and int(model.geom_type[g]) in kinds and alpha[g] > 0]
    shown = [g for g in own if int(model.geom_group[g]) < SHOWN_GROUPS] or own
    bare = {g for g in shown if not model.geom_contype[g] and not model.geom_conaffinity[g]}
    dressed = {int(bodies[g]) for g in bare}
    return [g for g in shown if g in bare or int(bodies[g]) not in dressed]


def _kinds() -> dict[int, str]:
    import mujoco

    names = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
    return {int(getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")): name for name in names}


def _rgba(model: Any, g: int) -> tuple[float, ...]:
    """A geom's own colour, else its material's."""
    material, own = int(model.geom_matid[g]), tuple(float(v) for v in model.geom_rgba[g])
    return own if material < 0 or own != UNSET else tuple(float(v) for v in model.mat_rgba[material])


def _colour(model: Any, g: int) -> Colour:
    red, green, blue = (round(255 * v) for v in _rgba(model, g)[:3])
    return red, green, blue


def _mesh(model: Any, mesh: int) -> Array:
    """(N, 3, 3) triangles of a mesh, in its geom's frame."""
    start, first = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    vertices = model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])].astype(float)
    return vertices[model.mesh_face[first : first + int(model.mesh_facenum[mesh])]]


def _primitive(kind: int, size: Array) -> tuple[Array, Array]:
    """Vertices (V, 3) and faces (F, 3) of a geom in its own frame."""
    name = _kinds()[kind]
    if name == "box":
        return _box(size)
    radius = float(size.max() if name == "ellipsoid" else size[0])
    sides = _sides(radius)
    if name == "cylinder":
        return _turned(np.array([[0.0, -size[1]], [radius, -size[1]], [radius, size[1]], [0.0, size[1]]]), sides)
    arc = np.linspace(0.0, np.pi / 2, (sides + 2) // 4 + 1)
    dome = np.stack([np.sin(arc), np.cos(arc)], axis=1)
    if name == "capsule":
        dome = radius * dome + [0.0, size[1]]
        return _turned(np.concatenate([dome * [1, -1], dome[::-1]]), sides)
    vertices, faces = _turned(np.concatenate([dome * [1, -1], dome[-2::-1]]), sides)
    return vertices * (size if name == "ellipsoid" else radius), faces


def _sides(radius: float) -> int:
    """The even number of sides that a circle needs:  r (1 - cos(pi / n)) <= CHORD,  at least 8."""
    return max(8, 2 * int(np.ceil(np.pi / 2 / np.arccos(max(1 - CHORD / radius, 0.0)))))


def _turned(profile: Array, sides: int) -> tuple[Array, Array]:
    """A profile (P, 2) of radius and height, which starts and ends on the axis, turned about z."""
    angle = 2 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [np.column_stack([r * circle, np.full(sides, z)]) for r, z in profile[1:-1]]
    ends = np.array([[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]])
    vertices = np.concatenate([*rings, ends])
    here, after = np.arange(sides), (np.arange(sides) + 1) % sides
    bottom, top, last = len(vertices) - 2, len(vertices) - 1, sides * (len(rings) - 1)
    faces = [np.stack([after, here, np.full(sides, bottom)], axis=1)]
    for k in range(0, last, sides):
        faces.append(np.stack([k + here, k + after, k + sides + after], axis=1))
        faces.append(np.stack([k + here, k + sides + after, k + sides + here], axis=1))
    faces.append(np.stack([last + here, last + after, np.full(sides, top)], axis=1))
    return vertices, np.concatenate(faces)


def _box(half: Array) -> tuple[Array, Array]:
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return signs * half, np.array([face for a, b, c, d in squares for face in ((a, b, c), (a, c, d))])


def _soup(triangles: Array, colour: Colour) -> Part:
    return Part(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3), colour, convex=False)


def _lightened(parts: dict[str, list[Part]]) -> dict[str, list[Part]]:
    """Return meshes on the finest grid on which the whole robot is light."""
    out = parts
    for cell in CELLS if _triangles(parts) > MOST else (WELD,):
        out = {body: [p if p.convex else _coarse(p, cell) for p in those] for body, those in parts.items()}
        if _triangles(out) <= MOST:
            break
    return out


def _triangles(parts: dict[str, list[Part]]) -> int:
    return sum(len(p.faces) for those in parts.values() for p in those)


def _coarse(part: Part, cell: float) -> Part:
    triangles = part.vertices[part.faces]
    breadth = np.clip(np.sqrt(areas_of(triangles)[0].sum()), *BREADTH)
    return Part(*decimate(triangles, cell * breadth / BREADTH[1]), part.colour, part.convex)


def _shapes(parts: list[Part]) -> tuple[Shape, ...]:
    """Return the parts of a body as one shape per colour, without what cannot be seen."""
    if not parts:
        return ()
    starts = np.cumsum([0] + [len(part.vertices) for part in parts])
    vertices = np.concatenate([part.vertices for part in parts])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts)])
    owner = np.repeat(np.arange(len(parts)), [len(part.faces) for part in parts])
    seen = ~_hidden(vertices, faces, parts)
    out = []
    for colour in dict.fromkeys(part.colour for part in parts):
        those = seen & np.array([part.colour == colour for part in parts])[owner]
        if those.any():
            out.append(_creased(vertices, faces[those], colour))
    return tuple(out)


def _hidden(vertices: Array, faces: Array, parts: list[Part]) -> Array:
    """(F,) the faces that lie within a part: a third of all where a robot is made of primitives."""
    out = np.zeros(len(faces), dtype=bool)
    for part in parts:
        if part.convex:
            corners = part.vertices[part.faces]
            normals = areas_of(corners)[1]
            depth = np.sum(normals * corners[:, 0], axis=1) - vertices @ normals.T
            out |= (depth > WITHIN).all(axis=1)[faces].all(axis=1)
    return out


def _creased(vertices: Array, faces: Array, colour: Colour) -> Shape:
    """Part vertices along sharp edges: whoever draws smoothly keeps them sharp.

    Corners k of all faces (3 F of them) that lie in one vertex stay together if a way from face to face, across smooth
    edges only, leads from one to the other.
    """
    corners = faces.ravel()
    ends = np.roll(faces, -1, axis=1).ravel()
    following = np.arange(len(corners)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    normals = np.repeat(areas_of(vertices[faces])[1], 3, axis=0)
    key, twin_key = corners * len(vertices) + ends, ends * len(vertices) + corners
    order = np.argsort(key)
    found = np.minimum(np.searchsorted(key, twin_key, sorter=order), len(order) - 1)
    twin = order[found]
    smooth = (key[twin] == twin_key) & (np.sum(normals * normals[twin], axis=1) > SHARP)
    one, two = np.flatnonzero(smooth), following[twin[smooth]]
    group, before = np.arange(len(corners)), None
    while before is None or (group != before).any():
        before = group.copy()
        least = np.minimum(group[one], group[two])
        np.minimum.at(group, one, least)
        np.minimum.at(group, two, least)
    kept, renumbered = np.unique(group, return_inverse=True)
    out = vertices[corners[kept]].astype(np.float32), renumbered.reshape(-1, 3).astype(np.int32)
    for array in out:
        array.flags.writeable = False
    return Shape(*out, colour)
