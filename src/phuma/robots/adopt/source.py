"""A stranger's model file, MJCF or URDF, compiled by MuJoCo, with whatever of its meshes can be found."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from phuma.errors import ReadError
from phuma.robots.adopt.doubts import Doubt, some
from phuma.robots.model import load_mujoco

MESHES = (".stl", ".obj", ".msh")
"""what MuJoCo reads"""
LEAST_MASS, LEAST_INERTIA = 1e-3, 1e-6  # kg, kg m^2: MuJoCo refuses moving bodies without any


class UrdfLimit(NamedTuple):
    """What a URDF says of a joint; None where it says nothing."""

    effort: float | None
    velocity: float | None


@dataclass(frozen=True, eq=False)
class Source:
    """A model file as it was read."""

    path: Path
    model: Any
    """mujoco.MjModel"""
    limits: dict[str, UrdfLimit]
    """by joint, where the file is a URDF"""
    mimics: frozenset[str]
    """joints that follow another one by the URDF's word"""
    doubts: tuple[Doubt, ...]


def read_source(path: Path) -> Source:
    """Compile a model file. Meshes that are missing are left out: the tree and its joints need none."""
    mujoco = load_mujoco()
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise ReadError(path, f"{problem}; expected a robot's model, MJCF (.xml) or URDF (.urdf)")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        lost = _find_meshes(spec, path)
        _strip(spec)
        model = spec.compile()
    except (ValueError, OSError, RuntimeError) as e:
        problem = " ".join(str(e).split())
        raise ReadError(path, f"MuJoCo cannot load it as MJCF or URDF: {problem}") from None
    doubts = []
    if lost:
        doubts.append(
            Doubt(
                f"{len(lost)} meshes were not found or are in a format that MuJoCo does not read: {some(lost, 3)}. The "
                "shapes of those links are not known.",
                "put the mesh files (STL or OBJ) where the model names them and run `phuma robot init` again, or check "
                "soles and wrists in robot.json.",
            )
        )
    urdf = _urdf(path)
    limits = {} if urdf is None else _limits(urdf)
    mimics = frozenset() if urdf is None else _mimics(urdf)
    return Source(path, model, limits, mimics, tuple(doubts))


def read_urdf_limits(path: Path) -> dict[str, UrdfLimit]:
    """Torque and speed limits by joint, of a URDF that is given beside the model."""
    if not path.is_file():
        raise ReadError(path, "does not exist; expected the robot's URDF, for its torque and speed limits")
    urdf = _urdf(path)
    if urdf is None:
        raise ReadError(path, "is not a URDF: its first element is not <robot>")
    return _limits(urdf)


def _urdf(path: Path) -> ET.Element | None:
    """The file's root element if it is a URDF."""
    try:
        root = ET.parse(path).getroot()
    except ET.ParseError as e:
        raise ReadError(path, f"is not XML: {e}") from None
    return root if root.tag == "robot" else None


def _limits(urdf: ET.Element) -> dict[str, UrdfLimit]:
    def number(element: ET.Element, key: str) -> float | None:
        try:
            value = float(element.get(key, ""))
        except ValueError:
            return None
        return value if 0 < value < 1e6 else None

    found = ((joint.get("name", ""), joint.find("limit")) for joint in urdf.iter("joint"))
    return {name: UrdfLimit(number(e, "effort"), number(e, "velocity")) for name, e in found if e is not None}


def _mimics(urdf: ET.Element) -> frozenset[str]:
    return frozenset(j.get("name", "") for j in urdf.iter("joint") if j.find("mimic") is not None)


def _find_meshes(spec: Any, path: Path) -> list[str]:
    """Point every mesh to its file, and take out those that have none; returns their names."""
    lost = {}
    for mesh in list(spec.meshes):
        if not mesh.file:
            continue  # its vertices are in the model
        found = _mesh_file(mesh.file, spec.compiler.meshdir or spec.meshdir, path)
        if found is None:
            lost[mesh.name or Path(mesh.file).stem] = mesh.file
        else:
            mesh.name = mesh.name or found.stem  # MuJoCo's own rule, before the path hides it
            mesh.file = str(found)
    kind = int(load_mujoco().mjtGeom.mjGEOM_MESH)
    for geom in list(spec.geoms):
        if geom.meshname in lost and (geom.meshname or int(geom.type) == kind):
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if (mesh.name or Path(mesh.file).stem) in lost:
            spec.delete(mesh)
    return sorted(Path(file).name for file in lost.values())


def _mesh_file(name: str, meshdir: str, path: Path) -> Path | None:
    """Where a mesh is: as named, in the mesh folder, in `meshes`, or below a folder above, as packages have it."""
    name = name.removeprefix("file://")
    rest = Path(name.split("://", 1)[-1])
    if rest.suffix.lower() not in MESHES:
        return None
    here = path.resolve().parent
    places = [here / meshdir / rest, here / rest, here / meshdir / rest.name, here / "meshes" / rest.name]
    for above in list(here.parents)[:3]:
        places += [above.joinpath(*rest.parts[k:]) for k in range(len(rest.parts)) if not rest.is_absolute()]
    return next((p for p in places if p.is_file()), None)


def _strip(spec: Any) -> None:
    """Take out what a robot's description needs not, since it may name files or count joints."""
    for material in spec.materials:
        for k in range(len(material.textures)):
            material.textures[k] = ""
    for group in (spec.textures, spec.keys, spec.sensors, spec.skins):
        for element in list(group):
            spec.delete(element)
    spec.compiler.discardvisual, spec.compiler.fusestatic = False, False
    spec.compiler.boundmass = max(spec.compiler.boundmass, LEAST_MASS)
    spec.compiler.boundinertia = max(spec.compiler.boundinertia, LEAST_INERTIA)
    spec.compiler.meshdir = ""
