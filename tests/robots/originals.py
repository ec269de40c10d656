"""Unitree's own descriptions of the robots, where they are on this machine; they are not part of the project."""

from __future__ import annotations

import os
import struct
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("PHUMA_ROBOTS", ROOT.parent / "shared" / "robots"))
FILES = {"g1": "unitree_g1/g1_29dof_rev_1_0", "h1_2": "unitree_h1_2/h1_2_handless"}


@dataclass(frozen=True)
class Original:
    """One of them: its MJCF, its URDF and its meshes."""

    mjcf: Path
    urdf: Path
    meshes: Path

    def urdf_limits(self) -> dict[str, dict[str, float]]:
        """lower, upper, effort and velocity by joint."""
        joints = ET.parse(self.urdf).getroot().iter("joint")
        limits = {j.get("name", ""): j.find("limit") for j in joints}
        return {n: {k: float(v) for k, v in e.attrib.items()} for n, e in limits.items() if e is not None}

    def mesh(self, name: str) -> np.ndarray:
        """(V, 3) corners of the triangles of a binary STL."""
        data = (self.meshes / f"{name}.STL").read_bytes()
        count = struct.unpack_from("<I", data, 80)[0]
        kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
        return np.frombuffer(data, kind, count, 84)["corners"].reshape(-1, 3).astype(float)

    def meshes_of(self, body: str) -> list[np.ndarray]:
        """The meshes of a link in the link's frame, (V, 3) each."""
        model = ET.parse(self.mjcf).getroot()
        files = {m.get("name"): Path(m.get("file", "")).stem for m in model.iter("mesh")}
        link = next(b for b in model.iter("body") if b.get("name") == body)
        geoms = [g for g in link.findall("geom") if g.get("mesh")]
        return [self.mesh(files[g.get("mesh")]) + np.array(g.get("pos", "0 0 0").split(), float) for g in geoms]


def original(name: str) -> Original:
    base = FOLDER / FILES[name]
    if not base.with_suffix(".urdf").exists():
        pytest.skip(f"Unitree's files are not at {FOLDER}; set PHUMA_ROBOTS to the folder that holds unitree_g1")
    return Original(base.with_suffix(".xml"), base.with_suffix(".urdf"), base.parent / "meshes")
