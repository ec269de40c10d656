"""An untrusted model file, MJCF or URDF, is compiled by MuJoCo, with whatever of its meshes can be found."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.errors import ReadError
from phuma.robots.model import load_mujoco
from phuma.robots.onboarding.ambiguities import Ambiguity, some
from phuma.robots.untrusted import check_count, check_files, check_inside, home_of, in_limits

MESHES = (".stl", ".obj", ".msh")
"""what MuJoCo reads"""
OUTSIDE = "; if it is meant, give --allow-outside"
BALL = 0.04  # m: radius
LEAST_MASS, LEAST_INERTIA = 1e-3, 1e-6  # kg, kg m^2: MuJoCo refuses moving bodies without any


class UrdfLimit(NamedTuple):
    """These are a URDF's limits of a joint; None where it says nothing."""

    effort: float | None
    velocity: float | None


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model file holds what was read from it."""

    path: Path
    model: Any
    """mujoco.MjModel"""
    limits: dict[str, UrdfLimit]
    """by joint, where the file is a URDF"""
    mimics: frozenset[str]
    """joints that follow another one by the URDF's word"""
    ambiguities: tuple[Ambiguity, ...]


def read_model_file(path: Path, allow_outside: bool = False) -> ModelFile:
    """Compile a model file in a process with limits. Meshes that are missing are left out: the tree and its joints need
    none.

    Files outside its folder, or outside the ROS package that it is in, are an error unless `allow_outside`.
    """
    load_mujoco()
    if not path.is_file():
        problem = "is a folder or a device" if path.exists() else "does not exist"
        raise ReadError(path, f"{problem}; expected a robot's model, MJCF (.xml) or URDF (.urdf)")
    home = Path(path.resolve().anchor) if allow_outside else home_of(path)
    check_files(path, home, everything=False, hint=OUTSIDE)
    return in_limits(_read, path, home)


def _read(path: Path, home: Path) -> ModelFile:
    mujoco = load_mujoco()
    try:
        with _warnings() as warned:
            spec = mujoco.MjSpec.from_file(str(path))
            lost = _find_meshes(spec, path, home)
            _strip(spec)
            massless = _mend_inertias(spec)
            try:
                model = spec.compile()
            except ValueError:  # perhaps for a mesh that is there but cannot be used
                lost += _drop_meshes(spec, {m.name: m.file for m in spec.meshes if not _usable(m.file)})
                model = spec.compile()
        check_count(path, model)
    except (ReadError, MemoryError):
        raise
    except Exception as e:  # a type of its own for what it calls fatal, among others
        problem = " ".join(str(e).split())
        raise ReadError(path, f"MuJoCo cannot load it as MJCF or URDF: {problem}") from None
    ambiguities = []
    if warned:
        ambiguities.append(
            Ambiguity(f"MuJoCo warns: {'; '.join(warned[:3])}.", "see whether the model file is what its maker meant.")
        )
    if massless:
        ambiguities.append(
            Ambiguity(
                f"Inertias of {some(massless)} are impossible; they are those of small balls here.",
                "correct them in the model file if torques matter: retargeting does not use them.",
            )
        )
    if lost:
        names = sorted(set(lost))
        ambiguities.append(
            Ambiguity(
                f"{len(names)} meshes were not found or are nothing that MuJoCo reads: {some(names, 3)}. The shapes of "
                "those links are not known.",
                "put the mesh files (STL or OBJ) where the model names them and run `phuma robot init` again, or check "
                "soles and wrists in robot.json.",
            )
        )
    urdf = _urdf(path)
    limits = {} if urdf is None else _limits(urdf)
    mimics = frozenset() if urdf is None else _mimics(urdf)
    return ModelFile(path, model, limits, mimics, tuple(ambiguities))


def read_urdf_limits(path: Path) -> dict[str, UrdfLimit]:
    """Return torque and speed limits by joint, of a URDF that is given beside the model."""
    if not path.is_file():
        raise ReadError(path, "does not exist; expected the robot's URDF, for its torque and speed limits")
    urdf = _urdf(path)
    if urdf is None:
        raise ReadError(path, "is not a URDF: its first element is not <robot>")
    return _limits(urdf)


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect what MuJoCo warns of; it would print it, and write it to a file in the current folder."""
    mujoco = load_mujoco()
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        yield said
    finally:
        mujoco.set_mju_user_warning(before)


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


def _find_meshes(spec: Any, path: Path, home: Path) -> list[str]:
    """Point every mesh to its file, and take out those that have none; returns their names."""
    lost = {}
    for mesh in list(spec.meshes):
        if not mesh.file:
            continue  # its vertices are in the model
        found = _mesh_file(mesh.file, spec.compiler.meshdir or spec.meshdir, path)
        if found is None:
            lost[mesh.name or Path(mesh.file).stem] = mesh.file
        else:
            check_inside(path, found, home, OUTSIDE)
            mesh.name = mesh.name or found.stem  # MuJoCo's own rule, before the path hides it
            mesh.file = str(found)
    return _drop_meshes(spec, lost)


def _drop_meshes(spec: Any, lost: dict[str, str]) -> list[str]:
    """Take out meshes by name, with the geoms that show them; returns the names of their files."""
    for geom in list(spec.geoms):
        if geom.meshname in lost:
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if (mesh.name or Path(mesh.file).stem) in lost:
            spec.delete(mesh)
    return sorted(Path(file).name for file in lost.values())


def _usable(file: str) -> bool:
    """Whether MuJoCo takes a mesh, alone."""
    mujoco = load_mujoco()
    spec = mujoco.MjSpec()
    spec.add_mesh(name="mesh", file=file)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    try:
        spec.compile()
    except ValueError:
        return False
    return True


def _mend_inertias(spec: Any) -> list[str]:
    """Give bodies whose inertia no solid can have that of a small ball; returns their names."""
    out = []
    for body in spec.bodies:
        xx, yy, zz, xy, xz, yz = body.fullinertia
        full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        least = np.linalg.eigvalsh(full).min() if np.isfinite(full).all() else np.min(body.inertia)
        if body.explicitinertial and least <= 0:
            body.fullinertia = np.full(6, np.nan)
            body.inertia = np.full(3, max(0.4 * body.mass * BALL**2, LEAST_INERTIA))
            out += [body.name] if body.mass > 0.05 else []  # frames with a gram for a mass are nobody's concern
    return out


def _mesh_file(name: str, meshdir: str, path: Path) -> Path | None:
    """Return where a mesh is: as named, in the mesh folder, in `meshes`, or below a folder above, as in packages."""
    named = Path(name.split("://", 1)[-1])  # package://..., file://..., or a plain path
    if named.suffix.lower() not in MESHES:
        return None
    here, parts = path.resolve().parent, [p for p in named.parts if p != named.anchor]
    candidates = [here / meshdir / named, here / named, here / meshdir / named.name, here / "meshes" / named.name]
    for above in list(here.parents)[:3]:
        candidates += [above.joinpath(*parts[k:]) for k in range(len(parts))]
    return next((p for p in candidates if p.is_file()), None)


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
    spec.compiler.balanceinertia = True
    spec.compiler.meshdir = ""
