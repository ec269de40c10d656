"""The real shapes for pictures: found where the package is installed, placed in the right frames, absent otherwise;
STL files read as they were written; fewer triangles that look the same."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.errors import MissingExtraError, ReadError
from phuma.robots import load_robot, meshes
from phuma.robots.meshes import decimate, read_stl
from tests.robots.originals import original
from tests.robots.solids import ball, box_of, cube, normals, volume, write_binary, write_text

URDF = """<robot name="small">
  <material name="dark"><color rgba="0.2 0.4 1 1"/></material>
  <link name="pelvis"><visual><origin xyz="1 0 0"/><geometry><mesh filename="package://x/a.STL"/></geometry>
    <material name="dark"/></visual></link>
  <link name="head"><visual><origin xyz="0 1 0"/><geometry><mesh filename="b.STL"/></geometry></visual></link>
  <link name="hat"><visual><geometry><mesh filename="c.STL"/></geometry></visual></link>
  <link name="stand"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <joint name="neck" type="fixed"><origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/>
    <parent link="torso_link"/><child link="head"/></joint>
  <joint name="pin" type="fixed"><origin xyz="1 0 0"/><parent link="head"/><child link="hat"/></joint>
</robot>"""
ASKEW = rot.to_matrix(rot.normalize(np.array([0.9, 0.3, -0.2, 0.4])))


def open_wedge() -> np.ndarray:
    """Two planes that would meet far outside, were they longer."""
    triangles = cube(np.array([0.08, 0.05, 1.0]), 12)
    triangles = triangles[(triangles[..., 0] > -0.08).any(axis=1)]
    triangles[..., 2] *= 0.006 + 0.15 * (triangles[..., 0] + 0.08)
    return triangles


SOLIDS = {
    "ball": ball(0.1, 16),
    "ball off the middle": ball(0.05, 16) @ ASKEW.T + [0.3, -0.2, 0.01],
    "cube askew": cube(0.08, 16) @ ASKEW.T,
    "flat box": cube(np.array([0.1, 0.06, 0.012]), 12) + [0.0, 0.0, 0.02],
    "open wedge": open_wedge(),
    "grain of triangles": np.random.default_rng(1).normal(scale=0.05, size=(600, 3, 3)),
}


def test_meshes_are_counted_to_the_body_that_carries_them(tmp_path, monkeypatch):
    path = tmp_path / "urdf" / "small.urdf"
    path.parent.mkdir()
    path.write_text(URDF)
    monkeypatch.setattr(meshes, "_description", lambda folder: path)
    found = meshes.visual_meshes(load_robot("g1"))
    assert found is not None
    (mesh,) = found["pelvis"]
    assert mesh.file == tmp_path / "meshes" / "a.STL"
    assert mesh.colour == (51, 102, 255)
    np.testing.assert_allclose((*mesh.pos, *mesh.quat), (1, 0, 0, 1, 0, 0, 0))
    head, hat = found["torso_link"]
    np.testing.assert_allclose(head.pos, (-1, 0, 2), atol=1e-12)
    np.testing.assert_allclose(hat.pos, (0, 1, 2), atol=1e-12)
    np.testing.assert_allclose(head.quat, (np.sqrt(0.5), 0, 0, np.sqrt(0.5)), atol=1e-12)
    assert head.colour == meshes.GREY
    assert sum(map(len, found.values())) == 3


def test_without_the_package_there_are_none(monkeypatch):
    def absent(name: str):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(meshes.metadata, "distribution", absent)
    assert meshes.visual_meshes(load_robot("g1")) is None


def test_the_h1_2_and_a_robot_of_your_own_have_none_whatever_its_name(tmp_path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(meshes.metadata, "distribution", lambda name: asked.append(name))
    assert meshes.visual_meshes(load_robot("h1_2")) is None
    assert meshes.visual_meshes(load_robot(shutil.copytree(load_robot("g1").folder, tmp_path / "g1"))) is None
    assert not asked


def test_the_packages_meshes_are_unitrees():
    """The same shapes in the same places as Unitree's own description."""
    robot = load_robot("g1")
    found = meshes.visual_meshes(robot)
    if found is None:
        pytest.skip(f"{meshes.PACKAGE} is not installed")
    assert all(mesh.file.is_file() for parts in found.values() for mesh in parts)
    assert all(found.values())
    source = original("g1")
    for mesh in found["torso_link"][1:]:
        np.testing.assert_allclose(mesh.pos, (0.0039635, 0, -0.044))
        np.testing.assert_allclose(mesh.quat, (1, 0, 0, 0))
    assert {mesh.file.stem for mesh in found["left_knee_link"]} == {"left_knee_link"}
    assert len(source.meshes_of("torso_link")) >= len(found["torso_link"])


def test_both_kinds_of_stl_file_are_read_as_they_were_written(tmp_path):
    triangles = np.random.default_rng(0).normal(size=(37, 3, 3)).astype(np.float32)
    binary = read_stl(write_binary(tmp_path / "a.STL", triangles))
    np.testing.assert_array_equal(binary, triangles)
    np.testing.assert_array_equal(read_stl(write_text(tmp_path / "b.stl", triangles)), binary)
    misleading = write_binary(tmp_path / "c.stl", triangles, head=b"solid, though it is binary")
    np.testing.assert_array_equal(read_stl(misleading), binary)
    text = write_text(tmp_path / "d.stl", triangles[:5]).read_bytes() + (tmp_path / "b.stl").read_bytes()
    (tmp_path / "two.stl").write_bytes(text)
    np.testing.assert_array_equal(read_stl(tmp_path / "two.stl"), np.concatenate([binary[:5], binary]))


TEXT = "solid x\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\nendsolid x\n"
FAULTS = {
    "nothing": (b"", "holds no triangles, or is no STL file"),
    "no triangles": (bytes(84), "holds no triangles"),
    "a page": (b"<html>" + 200 * b" ", "is no STL file or is cut off"),
    "half a file": (bytes(80) + b"\7\0\0\0" + bytes(60), "is cut off: 7 triangles would be 434 bytes, it has 144"),
    "not finite": (bytes(80) + b"\1\0\0\0" + 48 * b"\xff" + bytes(2), "not a finite number"),
    "two corners": (TEXT.replace("vertex 0 1 0\n", "").encode(), r"is damaged \(ValueError: "),
    "a word": (TEXT.replace("1 0 0", "1 up 0").encode(), r"is damaged \(\w+: "),
    "a word behind a whole facet": (
        2 * TEXT[:-11].encode() + b"vertex a b c\n" + TEXT[-11:].encode(),
        r"is damaged \(",
    ),
    "a solid that does not end": ((2 * TEXT).encode()[:-11], "has 2 facets, but 1 between solid and endsolid"),
    "no facets": (b"solid x\nendsolid x\n" + 100 * b" ", "holds no triangles"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_file_is_named_with_its_fault_and_what_to_do(tmp_path, fault):
    data, message = FAULTS[fault]
    path = tmp_path / "knee.STL"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=rf"knee\.STL: .*{message}.*pip install --force-reinstall {meshes.PACKAGE}"):
        read_stl(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"gone\.STL: cannot be read: No such file"):
        read_stl(tmp_path / "gone.STL")


def test_without_trimesh_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"needs trimesh.*pip install 'phuma\[view\]'"):
        read_stl(write_binary(tmp_path / "a.STL", cube()))


@pytest.mark.parametrize("cell", [0.004, 0.018])
@pytest.mark.parametrize("solid", SOLIDS)
def test_fewer_triangles_stay_where_they_were(solid, cell):
    triangles = SOLIDS[solid]
    vertices, faces = decimate(triangles, cell)
    assert len(faces) <= len(triangles)
    away = [np.linalg.norm(vertex - triangles, axis=-1).min() for vertex in vertices[::9]]
    assert max(away) <= np.sqrt(3) * cell
    assert np.abs(box_of(vertices) - box_of(triangles)).max() <= cell
    assert set(faces.ravel()) == set(range(len(vertices)))
    assert np.linalg.norm(normals(vertices[faces]), axis=1).min() > 0
    starts = np.array([np.roll(face, -int(np.argmin(face))) for face in faces])
    assert len(np.unique(starts, axis=0)) == len(faces)


@pytest.mark.parametrize("solid", ["ball", "ball off the middle", "cube askew"])
def test_a_convex_solid_keeps_its_volume_and_its_outside(solid):
    triangles = SOLIDS[solid]
    vertices, faces = decimate(triangles, 0.018)
    assert len(faces) < 0.8 * len(triangles)
    assert volume(vertices[faces] - vertices.mean(axis=0)) == pytest.approx(volume(triangles), rel=0.06)
    normal, outward = normals(vertices[faces]), vertices[faces].mean(axis=1) - vertices.mean(axis=0)
    area, inward = np.linalg.norm(normal, axis=1), np.einsum("ij,ij->i", normal, outward) < 0
    assert area[inward].sum() <= (0.005 if solid == "cube askew" else 0.0) * area.sum()  # slivers beside its edges


def test_edges_stay_sharp():
    """The mean of the corners in a cell would cut them off by some millimetres."""
    vertices, _ = decimate(SOLIDS["cube askew"], 0.018)
    off = np.linalg.norm((vertices @ ASKEW)[:, None] - 0.08 * cube().reshape(1, -1, 3), axis=-1).min(axis=0)
    assert off.max() < 0.001
    outside = np.abs(np.abs(vertices @ ASKEW).max(axis=1) - 0.08)
    assert np.quantile(outside, 0.9) < 0.0005


def test_left_and_right_come_out_alike():
    triangles, mirror = SOLIDS["grain of triangles"], np.array([1.0, -1.0, 1.0])
    one, other = decimate(triangles, 0.02)[0], decimate((triangles * mirror)[:, ::-1], 0.02)[0]
    assert len(one) == len(other)
    np.testing.assert_allclose(_sorted(one), _sorted(other * mirror), atol=1e-12)


def test_a_plate_thinner_than_a_cell_can_be_seen_from_both_sides():
    vertices, faces = decimate(cube(np.array([0.1, 0.1, 0.001]), 10), 0.015)
    up = normals(vertices[faces])[:, 2]
    assert np.abs(up[up > 0].sum() / 2 - 0.04) < 0.008
    assert np.abs(up[up < 0].sum() / 2 + 0.04) < 0.008


def test_what_has_no_area_leaves_nothing():
    vertices, faces = decimate(np.zeros((5, 3, 3)), 0.01)
    assert vertices.shape == (0, 3)
    assert faces.shape == (0, 3)


def _sorted(points: np.ndarray) -> np.ndarray:
    rounded = points.round(9) + 0.0
    return points[np.lexsort(rounded.T)]
