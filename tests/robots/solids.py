"""Solids as triangles, and files of them; what tests of shapes share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
"""One triangle of a binary file, behind a head of 84 bytes that ends with their number"""
SQUARES = np.array([(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])
CORNERS = np.array([(x, y, z) for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])


def cube(half=1.0, steps: int = 1) -> np.ndarray:
    """(12 steps^2, 3, 3) triangles about the origin; half its size may differ by axis."""
    grid = np.linspace(0, 1, steps + 1)
    out = []
    for a, b, _, d in CORNERS[SQUARES]:
        for u, v in ((i, j) for i in range(steps) for j in range(steps)):
            p, q, r, s = (
                a + grid[u + i] * (b - a) + grid[v + j] * (d - a) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))
            )
            out += [(p, q, r), (p, r, s)]
    return np.array(out) * half


def ball(radius: float, steps: int) -> np.ndarray:
    """Triangles of a ball: a cube's, pushed out."""
    points = cube(1.0, steps)
    return radius * points / np.linalg.norm(points, axis=-1, keepdims=True)


def volume(triangles: np.ndarray) -> float:
    """Signed: positive where the triangles are anticlockwise as seen from outside."""
    return float(np.einsum("ij,ij->i", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6)


def normals(triangles: np.ndarray) -> np.ndarray:
    """(N, 3), as long as twice the area."""
    return np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])


def box_of(points: np.ndarray) -> np.ndarray:
    """(2, 3) least and greatest."""
    flat = np.asarray(points, dtype=float).reshape(-1, 3)
    return np.array([flat.min(axis=0), flat.max(axis=0)])


def write_binary(path: Path, triangles: np.ndarray, head: bytes = b"made by a test") -> Path:
    records = np.zeros(len(triangles), STL)
    records["corners"] = triangles
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head.ljust(80, b"\0") + len(triangles).to_bytes(4, "little") + records.tobytes())
    return path


def write_text(path: Path, triangles: np.ndarray) -> Path:
    lines = ["solid made by a test"]
    for triangle in triangles.astype(np.float32):
        corners = ["      vertex " + " ".join(repr(float(v)) for v in corner) for corner in triangle]
        lines += ["  facet normal 0 0 0", "    outer loop", *corners, "    endloop", "  endfacet"]
    path.write_text("\n".join([*lines, "endsolid made by a test\n"]))
    return path
