"""What a robot looks like: every part that is meant to be seen, where MuJoCo has it, as few triangles."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.robots import Robot, load_robot, meshes, shapes
from phuma.robots.meshes import visual_meshes
from phuma.robots.shapes import Shape, robot_shapes
from tests.robots.posing import NAMES, compiled, half_extent, other, posed
from tests.robots.solids import ball, box_of, cube, normals, volume, write_binary

mujoco = pytest.importorskip("mujoco")

pytestmark = pytest.mark.slow
KNEE = "left_knee_link"
ASKEW = rot.normalize(np.array([0.9, 0.3, -0.2, 0.4]))
PLACE = np.array([0.1, -0.2, 0.05])
KINDS = {
    "sphere": ([0.04, 0, 0], 4 / 3 * np.pi * 0.04**3),
    "capsule": ([0.03, 0.1, 0], np.pi * 0.03**2 * (0.2 + 4 / 3 * 0.03)),
    "cylinder": ([0.05, 0.02, 0], np.pi * 0.05**2 * 0.04),
    "box": ([0.03, 0.04, 0.05], 8 * 0.03 * 0.04 * 0.05),
    "ellipsoid": ([0.08, 0.03, 0.02], 4 / 3 * np.pi * 0.08 * 0.03 * 0.02),
}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(shapes, "_KEPT", {})


@pytest.fixture
def without_package(monkeypatch):
    monkeypatch.setattr(meshes, "_description", lambda folder: None)


def remade(tmp_path: Path, change: Callable) -> Robot:
    """A copy of the G1 in which the model, an MjSpec, was changed."""
    folder = Path(shutil.copytree(load_robot("g1").folder, tmp_path / "mine"))
    spec = mujoco.MjSpec.from_file(str(folder / "model.xml"))
    change(spec)
    spec.compile()
    (folder / "model.xml").write_text(spec.to_xml())
    return load_robot(folder)


def undressed(spec, body: str = KNEE) -> None:
    """Take away what is to be seen of a body."""
    for geom in [g for g in spec.body(body).geoms if g.group == 2]:
        spec.delete(geom)


def triangles(found: tuple[Shape, ...]) -> np.ndarray:
    return np.concatenate([shape.vertices[shape.faces] for shape in found]).astype(float)


def count(found: dict[str, tuple[Shape, ...]]) -> int:
    return sum(len(shape.faces) for parts in found.values() for shape in parts)


def inside(kind: int, size: np.ndarray, points: np.ndarray, slack: float) -> np.ndarray:
    """(V,) whether points in a geom's frame lie in it."""
    x, y, z = points.T
    across = np.hypot(x, y)
    names = {getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}").value: name for name in KINDS}
    match names[int(kind)]:
        case "sphere":
            return np.linalg.norm(points, axis=1) <= size[0] + slack
        case "capsule":
            return np.hypot(across, np.maximum(np.abs(z) - size[1], 0)) <= size[0] + slack
        case "cylinder":
            return (across <= size[0] + slack) & (np.abs(z) <= size[1] + slack)
        case "box":
            return (np.abs(points) <= size + slack).all(axis=1)
    return np.linalg.norm(points / (size + slack), axis=1) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_the_bodies_with_something_to_see_have_shapes(name, without_package):
    robot = load_robot(name)
    found = robot_shapes(robot)
    bodies = ET.parse(robot.model_file).getroot().iter("body")
    seen = {b.get("name") for b in bodies if any(g.get("class") == "visual" for g in b.findall("geom"))}
    assert list(found) == list(robot.body_names)
    assert {body for body, parts in found.items() if parts} == seen
    assert count(found) < 10_000
    for shape in (shape for parts in found.values() for shape in parts):
        assert (shape.vertices.dtype, shape.faces.dtype) == (np.float32, np.int32)
        assert set(shape.faces.ravel()) == set(range(len(shape.vertices)))
        assert np.linalg.norm(normals(shape.vertices[shape.faces]), axis=1).min() > 0


@pytest.mark.parametrize("name", NAMES)
def test_every_vertex_lies_in_a_geom_that_is_seen_and_all_of_them_reach_as_far(name, without_package):
    robot = load_robot(name)
    model = compiled(robot)
    data = posed(model, robot.default_pose)
    for body, parts in robot_shapes(robot).items():
        b = model.body(body).id
        seen = [g for g in range(model.ngeom) if model.geom_bodyid[g] == b and model.geom_group[g] == 2]
        points = np.concatenate([shape.vertices for shape in parts]).astype(float)
        within = [
            inside(model.geom_type[g], model.geom_size[g], _in_geom(model, g, points), 1e-6)
            for g in seen
        ]  # fmt: skip
        assert np.any(within, axis=0).all(), body
        in_world = points @ data.xmat[b].reshape(3, 3).T + data.xpos[b]
        reach = np.array([[data.geom_xpos[g] + s * half_extent(model, data, g) for s in (-1, 1)] for g in seen])
        gap = (box_of(in_world) - [reach[:, 0].min(axis=0), reach[:, 1].max(axis=0)]) * [[1], [-1]]
        assert gap.min() > -1e-6, body
        assert gap.max() < 0.005, body


def _in_geom(model, g: int, points: np.ndarray) -> np.ndarray:
    return (points - model.geom_pos[g]) @ rot.to_matrix(model.geom_quat[g])


@pytest.mark.parametrize("name", NAMES)
def test_left_and_right_mirror_each_other(name, without_package):
    found = robot_shapes(load_robot(name))
    boxes = {body: box_of(np.concatenate([shape.vertices for shape in parts])) for body, parts in found.items()}
    assert any("left" in body for body in boxes)
    for body, box in boxes.items():
        twin = boxes[other(body)] * [1, -1, 1]
        np.testing.assert_allclose(np.sort(twin, axis=0), box, atol=0.004, err_msg=body)
        assert [shape.colour for shape in found[body]] == [shape.colour for shape in found[other(body)]]


@pytest.mark.parametrize("body", ["pelvis", "left_ankle_roll_link", "torso_link", KNEE])
def test_what_is_left_out_cannot_be_seen(body, without_package):
    """Rays from all around meet the same surface as with all triangles."""
    robot = load_robot("g1")
    whole = np.concatenate([part.vertices[part.faces] for part in shapes._model_parts(robot)[body]])
    drawn = triangles(robot_shapes(robot)[body])
    assert len(drawn) < 0.9 * len(whole)
    rng = np.random.default_rng(0)
    start = rot.normalize(rng.normal(size=(300, 3))) + whole.reshape(-1, 3).mean(axis=0)
    target = whole[rng.integers(len(whole), size=300)].mean(axis=1)
    np.testing.assert_allclose(_hits(start, target, drawn), _hits(start, target, whole), atol=1e-5)


def _hits(start: np.ndarray, target: np.ndarray, those: np.ndarray) -> np.ndarray:
    """(R,) how far along each ray the first triangle is, in units of the way from start to target."""
    way = (target - start)[:, None]
    a, b, c = those[None, :, 0], those[None, :, 1] - those[None, :, 0], those[None, :, 2] - those[None, :, 0]
    across = np.cross(way, c)
    size = np.sum(b * across, axis=-1)
    scale = 1 / np.where(np.abs(size) > 1e-15, size, np.inf)
    off = start[:, None] - a
    u, side = np.sum(off * across, axis=-1) * scale, np.cross(off, b)
    v, t = np.sum(way * side, axis=-1) * scale, np.sum(c * side, axis=-1) * scale
    met = (scale != 0) & (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (t > 0)
    return np.where(met, t, np.inf).min(axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_convex_geom_is_closed_smooth_and_seen_from_outside(kind, tmp_path):
    size, full = KINDS[kind]

    def change(spec) -> None:
        undressed(spec)
        spec.body(KNEE).add_geom(
            type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"), size=size, pos=PLACE, quat=ASKEW, group=2,
            contype=0, conaffinity=0, rgba=[1, 0.2, 0, 1],
        )  # fmt: skip

    (shape,) = robot_shapes(remade(tmp_path, change))[KNEE]
    those = (triangles((shape,)) - PLACE) @ rot.to_matrix(ASKEW)
    assert shape.colour == (255, 51, 0)
    assert (np.einsum("ij,ij->i", normals(those), those.mean(axis=1)) > 0).all()
    assert 0.83 * full < volume(those) < 1.0001 * full
    corners = {tuple(p) for p in shape.vertices[shape.faces].reshape(-1, 3)}
    number = {p: k for k, p in enumerate(sorted(corners))}
    faces = [[number[tuple(p)] for p in triangle] for triangle in shape.vertices[shape.faces]]
    edges = {(f[i], f[i - 2]) for f in faces for i in range(3)}
    assert len(edges) == 3 * len(faces)
    assert {(b, a) for a, b in edges} == edges
    if kind in ("sphere", "capsule"):
        assert len(shape.vertices) == len(corners)
    unit = rot.normalize(normals(those))
    for vertex in range(len(shape.vertices)):
        around = unit[(shape.faces == vertex).any(axis=1)]
        assert (around @ around.T).min() > (0.999 if kind == "box" else 0.1)


def test_colours_are_the_materials_and_a_body_has_one_shape_a_colour(without_package):
    found = robot_shapes(load_robot("g1"))
    light, dark = (219, 222, 224), (51, 51, 54)
    assert {shape.colour for parts in found.values() for shape in parts} == {light, dark}
    assert [shape.colour for shape in found["pelvis"]] == [dark, light]
    assert all(len({shape.colour for shape in parts}) == len(parts) for parts in found.values())


def test_shapes_for_contact_alone_and_invisible_ones_are_not_shown(tmp_path, without_package):
    def change(spec) -> None:
        sphere = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [0.02, 0, 0], "pos": [1, 1, 1]}
        spec.body(KNEE).add_geom(**sphere, group=0)
        spec.body(KNEE).add_geom(**sphere, group=1, contype=0, conaffinity=0, rgba=[1, 1, 1, 0])
        spec.body(KNEE).add_geom(**sphere, group=3, contype=0, conaffinity=0)

    before, after = robot_shapes(load_robot("g1"))[KNEE], robot_shapes(remade(tmp_path, change))[KNEE]
    np.testing.assert_allclose(triangles(after), triangles(before), atol=1e-4)


def test_a_model_without_shapes_for_the_eye_shows_what_it_has(tmp_path):
    def change(spec) -> None:
        for body in load_robot("g1").body_names:
            undressed(spec, body)

    robot = remade(tmp_path, change)
    model = compiled(robot)
    touching = {model.body(int(b)).name for b in model.geom_bodyid}
    assert {body for body, parts in robot_shapes(robot).items() if parts} == touching


def test_meshes_of_your_own_model_are_shown_and_heavy_ones_made_light(tmp_path):
    def change(spec) -> None:
        for body, solid in ((KNEE, cube(0.05)), ("pelvis", ball(0.2, 60))):
            path = write_binary(tmp_path / "mine" / f"{body}.stl", solid)
            spec.add_mesh(name=body, file=path.name)
            undressed(spec, body)
            spec.body(body).add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=body, pos=PLACE, quat=ASKEW, group=2, contype=0, conaffinity=0
            )

    found = robot_shapes(remade(tmp_path, change))
    small, round_one = (
        (triangles(found[b]).reshape(-1, 3) - PLACE) @ rot.to_matrix(ASKEW) for b in (KNEE, "pelvis")
    )  # fmt: skip
    np.testing.assert_allclose(box_of(small), [[-0.05] * 3, [0.05] * 3], atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(round_one, axis=1), 0.2, atol=0.01)
    assert count(found) <= shapes.MOST < len(ball(0.2, 60))


def test_installed_meshes_take_the_place_of_the_models_geoms(tmp_path, monkeypatch):
    """A URDF and STL files as the package holds them."""
    bodies = load_robot("g1").body_names
    seen = '<visual><origin xyz="0 0 0.1"/><geometry><mesh filename="{0}.STL"/></geometry></visual>'
    links = [f'<link name="{body}">{seen.format(body)}</link>' for body in bodies]
    path = tmp_path / "urdf" / "small.urdf"
    path.parent.mkdir()
    path.write_text(f"<robot>{''.join(links)}</robot>")
    for k, body in enumerate(bodies):
        write_binary(tmp_path / "meshes" / f"{body}.STL", cube(0.02 + 0.001 * k, 4))
    monkeypatch.setattr(meshes, "_description", lambda folder: path)
    for k, (body, (shape,)) in enumerate(robot_shapes(load_robot("g1")).items()):
        assert body == bodies[k]
        assert shape.colour == meshes.GREY
        half = 0.02 + 0.001 * k
        np.testing.assert_allclose(
            box_of(shape.vertices), [[-half] * 2 + [0.1 - half], [half] * 2 + [0.1 + half]], atol=1e-5
        )
        assert len(shape.vertices) == 6 * 5**2  # parted along the edges


def test_the_g1s_real_meshes_are_light_and_keep_their_place():
    robot = load_robot("g1")
    placed = visual_meshes(robot)
    if placed is None:
        pytest.skip(f"{meshes.PACKAGE} is not installed")
    found = robot_shapes(robot)
    full = {b: [m.pos + rot.rotate(m.quat, meshes.read_stl(m.file)) for m in parts] for b, parts in placed.items()}
    assert count(found) <= min(shapes.MOST, 0.2 * sum(len(t) for parts in full.values() for t in parts))
    boxes = {body: box_of(np.concatenate([shape.vertices for shape in parts])) for body, parts in found.items()}
    for body, box in boxes.items():
        assert np.abs(box - box_of(np.concatenate(full[body]))).max() < shapes.CELLS[0], body
        twin = np.sort(boxes[other(body)] * [1, -1, 1], axis=0)
        np.testing.assert_allclose(twin, box, atol=shapes.CELLS[0], err_msg=body)


def test_shapes_are_kept_and_cannot_be_spoilt(without_package):
    found = robot_shapes(load_robot("g1"))
    assert robot_shapes(load_robot("g1")) is found
    with pytest.raises(ValueError, match="read-only"):
        found["pelvis"][0].vertices[0] = 0
