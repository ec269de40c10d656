"""The real shapes for pictures: found where the package is installed, placed in the right frames, absent otherwise."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from phuma.robots import load_robot, meshes
from tests.robots.originals import original

URDF = """<robot name="small">
  <link name="pelvis"><visual><origin xyz="1 0 0"/><geometry><mesh filename="package://x/a.STL"/></geometry></visual></link>
  <link name="head"><visual><origin xyz="0 1 0"/><geometry><mesh filename="b.STL"/></geometry></visual></link>
  <link name="hat"><visual><geometry><mesh filename="c.STL"/></geometry></visual></link>
  <link name="stand"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <joint name="neck" type="fixed"><origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/>
    <parent link="torso_link"/><child link="head"/></joint>
  <joint name="pin" type="fixed"><origin xyz="1 0 0"/><parent link="head"/><child link="hat"/></joint>
</robot>"""


def test_meshes_are_counted_to_the_body_that_carries_them(tmp_path, monkeypatch):
    path = tmp_path / "urdf" / "small.urdf"
    path.parent.mkdir()
    path.write_text(URDF)
    monkeypatch.setattr(meshes, "_description", lambda name: path)
    found = meshes.visual_meshes(load_robot("g1"))
    assert found is not None
    ((file, pos, quat),) = found["pelvis"]
    assert file == tmp_path / "meshes" / "a.STL"
    np.testing.assert_allclose((*pos, *quat), (1, 0, 0, 1, 0, 0, 0))
    (_, head, turn), (_, hat, _) = found["torso_link"]
    np.testing.assert_allclose(head, (-1, 0, 2), atol=1e-12)
    np.testing.assert_allclose(hat, (0, 1, 2), atol=1e-12)
    np.testing.assert_allclose(turn, (np.sqrt(0.5), 0, 0, np.sqrt(0.5)), atol=1e-12)
    assert sum(map(len, found.values())) == 3


def test_without_the_package_there_are_none(monkeypatch):
    def absent(name: str):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(meshes.metadata, "distribution", absent)
    assert meshes.visual_meshes(load_robot("g1")) is None


def test_the_h1_2_has_none():
    assert meshes.visual_meshes(load_robot("h1_2")) is None


def test_the_packages_meshes_are_unitrees():
    """The same shapes in the same places as Unitree's own description."""
    robot = load_robot("g1")
    found = meshes.visual_meshes(robot)
    if found is None:
        pytest.skip(f"{meshes.PACKAGE} is not installed")
    assert all(Path(file).is_file() for parts in found.values() for file, _, _ in parts)
    assert all(found.values())
    source = original("g1")
    for _, pos, quat in found["torso_link"][1:]:
        np.testing.assert_allclose(pos, (0.0039635, 0, -0.044))
        np.testing.assert_allclose(quat, (1, 0, 0, 0))
    assert {file.stem for file, _, _ in found["left_knee_link"]} == {"left_knee_link"}
    assert len(source.meshes_of("torso_link")) >= len(found["torso_link"])
