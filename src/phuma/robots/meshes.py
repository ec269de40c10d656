"""A robot is drawn by its real meshes where the optional package that holds them is installed, with fewer triangles."""

from __future__ import annotations

import io
import warnings
import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.errors import ReadError, missing_extra
from phuma.robots.folder import HERE
from phuma.robots.robot import Robot

PACKAGE = "example-robot-data"
"""On PyPI, BSD-3, 131 MB; it holds the G1 but not the H1-2."""
DESCRIPTIONS = {"g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf"}
GREY = (179, 179, 179)
STL_HEAD, STL_TRIANGLE = 84, 50
"""Bytes of a binary file: a head that ends with the number of triangles, and each triangle"""
SOFT = 1e-2
"""How much the mean of a cell's corners counts beside the planes that meet in it"""

Colour = tuple[int, int, int]
"""r, g, b from 0 to 255"""


class VisualMesh(NamedTuple):
    """A visual mesh is a mesh file on a body."""

    file: Path
    pos: Array
    """(3,) m in the body's frame"""
    quat: Array
    """(4,) wxyz"""
    colour: Colour


def visual_meshes(robot: Robot) -> dict[str, list[VisualMesh]] | None:
    """Return the meshes that show each body; None where the package is not installed or does not hold this robot.

    Links that the URDF fixes to another (head, logo, hands) are counted to the body that carries them.
    """
    urdf = _description(robot.folder)
    if urdf is None:
        return None
    root = ET.parse(urdf).getroot()
    carriers, colours = _fixed(root), _colours(root)
    out: dict[str, list[VisualMesh]] = {name: [] for name in robot.body_names}
    for link in root.iter("link"):
        body, pos, quat = link.get("name", ""), np.zeros(3), rot.IDENTITY
        while body not in out and body in carriers:
            body, joint_pos, joint_quat = carriers[body]
            pos, quat = joint_pos + rot.rotate(joint_quat, pos), rot.multiply(joint_quat, quat)
        for visual in link.findall("visual") if body in out else ():
            mesh, material = visual.find("geometry/mesh"), visual.find("material")
            if mesh is not None:
                own_pos, own_quat = _origin(visual)
                path = urdf.parents[1] / "meshes" / Path(mesh.get("filename", "")).name
                colour = colours.get("" if material is None else material.get("name", ""), GREY)
                out[body].append(
                    VisualMesh(path, pos + rot.rotate(quat, own_pos), rot.multiply(quat, own_quat), colour)
                )
    return out


def read_stl(path: Path) -> Array:
    """Return the corners (N, 3, 3) of the triangles of an STL file, binary or text, anticlockwise as seen from outside.

    Only trimesh's reader of STL sees the bytes: no format is guessed, and a file cannot name another one.
    """
    load_stl = _load_trimesh().exchange.stl.load_stl
    try:
        data = path.read_bytes()
    except OSError as e:
        raise _broken(path, f"cannot be read: {e.strerror or e}") from None
    try:
        with warnings.catch_warnings():
            # Of a text with a word in it trimesh would keep what comes before that word.
            warnings.filterwarnings("error", "string or file could not be read to its end", DeprecationWarning)
            loaded = load_stl(io.BytesIO(data))
        solids = loaded.get("geometry", {"": loaded}).values()  # several, or none, in a text
        corners = np.concatenate([np.zeros((0, 3, 3)), *(s["vertices"][s["faces"]] for s in solids)])
    except Exception as e:  # Damaged bytes make a parser raise nearly anything.
        raise _broken(path, f"is no STL file or is damaged ({type(e).__name__}: {e})") from None
    facets = data.count(b"endfacet")
    if facets and facets != len(corners):  # trimesh passes over a solid that does not end
        raise _broken(path, f"has {facets} facets, but {len(corners)} between solid and endsolid; it is cut off")
    if not len(corners):
        raise _broken(path, _why_empty(data))
    if not np.isfinite(corners).all():
        raise _broken(path, "has a corner that is not a finite number")
    return corners


def decimate(triangles: Array, cell: float) -> tuple[Array, Array]:
    """Return vertices (V, 3) and faces (F, 3) of triangles (N, 3, 3) after all corners in a cell [m] of a grid became
    one.

    That one lies where the planes meet of the triangles that meet in the cell, so that edges stay edges: it minimises
    sum_i a_i (n_i . (x - p_i))^2 + SOFT sum_i a_i |x - m|^2  over the cell's corners p_i, with the normal n_i and the
    area a_i of the triangle and the corners' mean m. A cell has its middle in the origin: left and right come out
    alike.
    """
    corners = triangles.reshape(-1, 3)
    cells, which = _numbered(np.round(corners / cell).astype(np.int64))

    def summed(values: Array) -> Array:
        return np.stack([np.bincount(which, column, len(cells)) for column in values.T], axis=1)

    mean = summed(corners) / np.bincount(which)[:, None]
    area, normal = areas_of(triangles)
    n = np.repeat(normal, 3, axis=0)
    an = np.repeat(area, 3)[:, None] * n
    quadric = summed((an[:, :, None] * n[:, None, :]).reshape(-1, 9)).reshape(-1, 3, 3)
    pull = summed(an * np.sum(n * (corners - mean[which]), axis=1)[:, None])
    weight = np.trace(quadric, axis1=1, axis2=2)
    soft = np.where(weight > 0, SOFT * weight, 1.0)[:, None, None] * np.eye(3)
    best = mean + np.linalg.solve(quadric + soft, pull[:, :, None])[:, :, 0]
    vertices = np.clip(best, (cells - 0.5) * cell, (cells + 0.5) * cell)
    faces = which.reshape(-1, 3)
    turned_over = np.sum(normal * areas_of(vertices[faces])[1], axis=1) < 0  # small ones may, and show their dark side
    return _tidied(vertices, faces[~turned_over])


def _tidied(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Drop faces that have no area or are there twice, and vertices that no face uses."""
    faces = faces[areas_of(vertices[faces])[0] > 1e-12]
    first = np.argmin(faces, axis=1)[:, None]
    faces, _ = _numbered(np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1))
    used, renumbered = np.unique(faces, return_inverse=True)
    return vertices[used], renumbered.reshape(-1, 3)


def areas_of(triangles: Array) -> tuple[Array, Array]:
    """Return areas (N,) and unit normals (N, 3) of triangles (N, 3, 3); the normal is zero where the area is."""
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    size = np.linalg.norm(cross, axis=1)
    return 0.5 * size, cross / np.where(size > 0, size, 1.0)[:, None]


def _numbered(rows: Array) -> tuple[Array, Array]:
    """Return the different rows of integers (N, 3), and which of them each is; one number per row sorts quickly."""
    low = rows.min(axis=0, initial=0)
    span = rows.max(axis=0, initial=0) - low + 1
    key = ((rows[:, 0] - low[0]) * span[1] + rows[:, 1] - low[1]) * span[2] + rows[:, 2] - low[2]
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return rows[first], which


def _load_trimesh() -> Any:
    """Return trimesh, or raise an error that says how to install it."""
    try:
        import trimesh  # here, not above: it takes half a second
    except ModuleNotFoundError as e:
        raise missing_extra(e, "drawing a robot by its meshes") from None
    return trimesh


def _why_empty(data: bytes) -> str:
    """Say why no triangle was found in the bytes of a file."""
    count = int.from_bytes(data[80:84], "little")
    if count and data[:5] != b"solid":
        size = STL_HEAD + count * STL_TRIANGLE
        return f"is no STL file or is cut off: {count} triangles would be {size} bytes, it has {len(data)}"
    return "holds no triangles, or is no STL file"


def _broken(path: Path, problem: str) -> ReadError:
    return ReadError(path, f"{problem}. Install it anew: pip install --force-reinstall {PACKAGE}")


def _description(folder: Path) -> Path | None:
    """Return the URDF in the package of a robot that comes with us."""
    if folder.name not in DESCRIPTIONS or folder.parent != HERE:
        return None
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    path = Path(str(package.locate_file(f"cmeel.prefix/share/{PACKAGE}/robots/{DESCRIPTIONS[folder.name]}")))
    return path if path.is_file() else None


def _colours(root: ET.Element) -> dict[str, Colour]:
    """The URDF's materials by name."""
    out = {}
    for material in root.findall("material"):
        color = material.find("color")
        if color is not None:
            r, g, b = (round(255 * float(v)) for v in color.get("rgba", "").split()[:3])
            out[material.get("name", "")] = (r, g, b)
    return out


def _fixed(root: ET.Element) -> dict[str, tuple[str, Array, Array]]:
    """Of each link that a fixed joint holds: the link that carries it, and where."""
    out = {}
    for joint in root.iter("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if joint.get("type") == "fixed" and parent is not None and child is not None:
            out[child.get("link", "")] = (parent.get("link", ""), *_origin(joint))
    return out


def _origin(element: ET.Element) -> tuple[Array, Array]:
    """Return position (3,) and rotation (4,) wxyz of an element's <origin>.

    URDF's rpy are rotations about fixed x, then y, then z.
    """
    origin = element.find("origin")
    values = {} if origin is None else origin.attrib
    xyz, rpy = (np.array(values.get(key, "0 0 0").split(), dtype=float) for key in ("xyz", "rpy"))
    roll, pitch, yaw = (rot.from_axis(axis, angle) for axis, angle in zip("xyz", rpy))
    return xyz, rot.multiply(yaw, rot.multiply(pitch, roll))
