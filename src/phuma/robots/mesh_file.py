"""The meshes of a robot's folder, `meshes.npz`: what its bodies look like, apart from the model that is simulated.

`phuma robot init` writes them with fewer triangles; a folder without the file is drawn by the shapes of its model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.npz import load_npz
from phuma.io.npz_writer import npz_bytes

NAME = "meshes.npz"
ARRAYS = ("body", "colour", "vertex_count", "face_count", "vertices", "faces")


class Mesh(NamedTuple):
    """A surface of one colour in its body's frame."""

    vertices: Array
    """(V, 3) m"""
    faces: Array
    """(F, 3) int"""
    colour: tuple[int, int, int]
    """r, g, b from 0 to 255"""


def save_meshes(folder: Path, meshes: Mapping[str, Sequence[Mesh]]) -> None:
    """Write the meshes of bodies by their names atomically; nothing where there are none."""
    flat = [(body, mesh) for body, own in meshes.items() for mesh in own]
    if not flat:
        return
    arrays = {
        "body": np.array([body for body, _ in flat]),
        "colour": np.array([mesh.colour for _, mesh in flat], dtype=np.uint8),
        "vertex_count": np.array([len(mesh.vertices) for _, mesh in flat], dtype=np.int32),
        "face_count": np.array([len(mesh.faces) for _, mesh in flat], dtype=np.int32),
        "vertices": np.concatenate([mesh.vertices for _, mesh in flat]).astype(np.float32),
        "faces": np.concatenate([mesh.faces for _, mesh in flat]).astype(np.int32),
    }
    data = npz_bytes(arrays)
    write_atomic(folder / NAME, lambda f: f.write(data))


def load_meshes(folder: Path) -> dict[str, list[Mesh]]:
    """Return the meshes of bodies by their names; none where the folder has no such file. A fault is a ReadError."""
    path = folder / NAME
    if not path.is_file():
        return {}
    data = load_npz(path, ARRAYS)
    count, vertices, faces = len(data["body"]), data["vertices"], data["faces"]
    ends = [np.cumsum(data[f"{what}_count"].astype(np.int64)) for what in ("vertex", "face")]
    shapes = {"colour": (count, 3), "vertex_count": (count,), "face_count": (count,)}
    wrong = [name for name, shape in shapes.items() if data[name].shape != shape]
    wrong += [name for name in ("vertices", "faces") if data[name].ndim != 2 or data[name].shape[1] != 3]
    if wrong or not count or (ends[0][-1], ends[1][-1]) != (len(vertices), len(faces)):
        raise ReadError(path, f"is damaged: its {wrong[0] if wrong else 'counts'} do not fit; remove it, or init again")
    if not np.isfinite(vertices).all() or min(data["vertex_count"].min(), data["face_count"].min()) < 0:
        raise ReadError(path, "is damaged: a vertex is not a finite number; remove it, or init again")
    out: dict[str, list[Mesh]] = {}
    for k, body in enumerate(map(str, data["body"])):
        own = faces[ends[1][k] - data["face_count"][k] : ends[1][k]]
        corners = vertices[ends[0][k] - data["vertex_count"][k] : ends[0][k]]
        if own.size and not (own.min() >= 0 and own.max() < len(corners)):
            raise ReadError(path, f"is damaged: a face of {body} has no such vertex; remove it, or init again")
        red, green, blue = map(int, data["colour"][k])
        out.setdefault(body, []).append(Mesh(corners.astype(float), own, (red, green, blue)))
    return out
