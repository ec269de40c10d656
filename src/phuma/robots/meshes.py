"""The real shapes of a robot for pictures, where the optional package that holds them is installed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path

import numpy as np

from phuma import rotations as rot
from phuma.robots.robot import Robot
from phuma.rotations import Array

PACKAGE = "example-robot-data"
"""On PyPI, BSD-3, 131 MB; it holds the G1 but not the H1-2."""
DESCRIPTIONS = {"g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf"}

Placed = tuple[Path, Array, Array]
"""A mesh file, its position (3,) [m] and its turn (4,) wxyz in the body's frame"""


def visual_meshes(robot: Robot) -> dict[str, list[Placed]] | None:
    """By body, the meshes that show it; None where the package is not installed or does not hold this robot.

    Links that the URDF fixes to another (head, logo, hands) are counted to the body that carries them.
    """
    urdf = _description(robot.name)
    if urdf is None:
        return None
    root = ET.parse(urdf).getroot()
    carriers = _fixed(root)
    out: dict[str, list[Placed]] = {name: [] for name in robot.body_names}
    for link in root.iter("link"):
        body, pos, quat = link.get("name", ""), np.zeros(3), rot.IDENTITY
        while body not in out and body in carriers:
            body, joint_pos, joint_quat = carriers[body]
            pos, quat = joint_pos + rot.rotate(joint_quat, pos), rot.multiply(joint_quat, quat)
        for visual in link.findall("visual") if body in out else ():
            mesh = visual.find("geometry/mesh")
            if mesh is not None:
                here, turn = _origin(visual)
                path = urdf.parents[1] / "meshes" / Path(mesh.get("filename", "")).name
                out[body].append((path, pos + rot.rotate(quat, here), rot.multiply(quat, turn)))
    return out


def _description(name: str) -> Path | None:
    """The URDF of a robot in the package."""
    if name not in DESCRIPTIONS:
        return None
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    path = Path(str(package.locate_file(f"cmeel.prefix/share/{PACKAGE}/robots/{DESCRIPTIONS[name]}")))
    return path if path.is_file() else None


def _fixed(root: ET.Element) -> dict[str, tuple[str, Array, Array]]:
    """Of each link that a fixed joint holds: the link that carries it, and where."""
    out = {}
    for joint in root.iter("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if joint.get("type") == "fixed" and parent is not None and child is not None:
            out[child.get("link", "")] = (parent.get("link", ""), *_origin(joint))
    return out


def _origin(element: ET.Element) -> tuple[Array, Array]:
    """Position (3,) and turn (4,) wxyz of an element's <origin>; URDF's rpy turn about fixed x, then y, then z."""
    origin = element.find("origin")
    values = {} if origin is None else origin.attrib
    xyz, rpy = (np.array(values.get(key, "0 0 0").split(), dtype=float) for key in ("xyz", "rpy"))
    roll, pitch, yaw = (rot.from_axis(axis, angle) for axis, angle in zip("xyz", rpy))
    return xyz, rot.multiply(yaw, rot.multiply(pitch, roll))
