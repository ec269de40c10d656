"""The meshes of a robot's folder: what was written is drawn, and what is damaged is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.errors import ReadError
from phuma.robots.mesh_file import ARRAYS, NAME, Mesh, load_meshes, save_meshes
from phuma.robots.onboarding.onboard import onboard_robot
from phuma.robots.shapes import MOST, robot_shapes
from tests.robots.originals import original
from tests.robots.solids import ball, cube


def corners(triangles) -> Mesh:
    """A mesh of triangles (N, 3, 3)."""
    flat = np.asarray(triangles, dtype=float).reshape(-1, 3)
    return Mesh(flat, np.arange(len(flat)).reshape(-1, 3), (10, 200, 30))


MESHES = {"pelvis": [corners(cube()), corners(ball(0.1, 2))], "head": [corners(2 * cube())]}


def test_what_was_written_is_read(tmp_path):
    save_meshes(tmp_path, MESHES)
    read = load_meshes(tmp_path)
    assert list(read) == list(MESHES)
    for body, meshes in MESHES.items():
        for mesh, again in zip(meshes, read[body], strict=True):
            assert np.allclose(again.vertices, mesh.vertices, atol=1e-6)
            assert np.array_equal(again.faces, mesh.faces)
            assert again.colour == mesh.colour


def test_a_folder_without_meshes_has_none(tmp_path):
    save_meshes(tmp_path, {"pelvis": []})
    assert not list(tmp_path.iterdir())
    assert load_meshes(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("faces", lambda v: v + 10_000),
        ("faces", lambda v: -v),
        ("vertices", lambda v: v * np.float32(np.nan)),
        ("vertex_count", lambda v: v + 1),
        ("face_count", lambda v: np.array([-1, *v[1:-1], v[-1] + v[0] + 1])),
        ("colour", lambda v: v[:1]),
    ],
)
def test_what_is_damaged_is_refused(tmp_path, name, change):
    save_meshes(tmp_path, MESHES)
    arrays = {each: value for each, value in np.load(tmp_path / NAME).items() if each in ARRAYS}
    arrays[name] = change(arrays[name]).astype(arrays[name].dtype)
    np.savez(tmp_path / NAME, **arrays)
    with pytest.raises(ReadError, match=r"meshes\.npz: is damaged"):
        load_meshes(tmp_path)


@pytest.mark.slow
def test_a_robot_of_ones_own_is_drawn_by_the_meshes_of_its_model(tmp_path):
    """Each body reaches as far as its makers' own files say, and the whole is light."""
    files = original("h1_2")
    robot = onboard_robot(files.urdf, tmp_path / "own").robot
    drawn = robot_shapes(robot)
    assert sum(len(shape.faces) for shapes in drawn.values() for shape in shapes) <= MOST
    for body in ("left_knee_link", "right_ankle_roll_link", "left_elbow_link"):
        theirs = np.concatenate(files.meshes_of(body))
        own = np.concatenate([shape.vertices for shape in drawn[body]])
        assert np.allclose([own.min(axis=0), own.max(axis=0)], [theirs.min(axis=0), theirs.max(axis=0)], atol=0.012)
