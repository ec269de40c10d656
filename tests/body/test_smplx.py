from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from phuma.body import Body
from phuma.body.choice import SmplShape, choose_body
from phuma.body.smplx import SOLE_VERTICES, cached_smplx, load_smplx
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.skeleton import N_JOINTS
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.io.cache import cache_dir
from phuma.sources import amass_smplx

from .conftest import JOINTS, PARENTS

pytestmark = pytest.mark.slow


def direct(model: dict[str, np.ndarray], betas: np.ndarray, rotvecs: np.ndarray, trans: np.ndarray):
    """SMPL-X as its paper has it: all vertices and joints of one frame, rotvecs (22, 3); the other joints at rest."""
    m = {k: np.asarray(v, dtype=np.float64) for k, v in model.items()}
    rotations = np.stack([np.eye(3)] * JOINTS)
    rotations[:N_JOINTS] = rot.to_matrix(rot.from_rotvec(rotvecs))
    shaped = m["v_template"] + m["shapedirs"][..., : len(betas)] @ betas
    joints = m["J_regressor"] @ shaped
    posed = shaped + m["posedirs"] @ (rotations[1:] - np.eye(3)).ravel()
    world = np.zeros((JOINTS, 4, 4))
    for j, parent in enumerate(PARENTS):
        local = np.eye(4)
        local[:3, :3] = rotations[j]
        local[:3, 3] = joints[j] - (joints[parent] if j else 0)
        world[j] = world[parent] @ local if j else local
    positions = world[:, :3, 3].copy()
    from_rest = world.copy()
    from_rest[:, :3, 3] -= np.einsum("jab,jb->ja", world[:, :3, :3], joints)
    blended = np.einsum("vj,jab->vab", m["weights"], from_rest)
    vertices = np.einsum("vab,vb->va", blended[:, :3, :3], posed) + blended[:, :3, 3]
    return vertices + trans, positions + trans


def random_pose(frames: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(scale=0.7, size=(frames, N_JOINTS, 3)), rng.normal(size=(frames, 3))


def soles_and_joints(body: Body, rotvecs: np.ndarray, trans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    quat = rot.from_rotvec(rotvecs)
    pose = body.forward(trans + body.joints[0], quat)
    return body.sole_positions(pose, quat), pose.position


def test_sole_vertices_are_four_regions_alike_on_both_sides() -> None:
    regions = SOLE_VERTICES.reshape(4, 22)
    assert len(set(SOLE_VERTICES.tolist())) == 88
    assert (np.diff(regions, axis=1) > 0).all()
    # The two feet of the mesh are numbered alike: all toes correspond, and most of the heels.
    assert set(regions[3] - regions[1]) == {2694}
    assert (regions[0] - regions[2] == 212).sum() == 19


@pytest.mark.parametrize(("file", "content", "betas"), [("model_npz", "model", 300), ("model_pkl", "small_model", 10)])
def test_joints_and_soles_agree_with_the_whole_model(request, file: str, content: str, betas: int) -> None:
    path, model = request.getfixturevalue(file), request.getfixturevalue(content)
    space = load_smplx(path)
    assert len(space.params) == betas
    beta = np.random.default_rng(1).normal(size=betas)
    rotvecs, trans = random_pose(4)
    soles, joints = soles_and_joints(space.body(beta), rotvecs, trans)
    for t in range(len(trans)):
        vertices, all_joints = direct(model, beta, rotvecs[t], trans[t])
        assert np.abs(soles[t] - vertices[SOLE_VERTICES]).max() < 1e-9
        assert np.abs(joints[t] - all_joints[:N_JOINTS]).max() < 1e-9


def test_a_recording_read_with_the_model_is_where_the_model_puts_it(tmp_path: Path, model, model_npz: Path) -> None:
    rotvecs, trans = random_pose(3)
    betas = np.random.default_rng(2).normal(size=16)
    path = tmp_path / "a.npz"
    np.savez(
        path, trans=trans, root_orient=rotvecs[:, 0], pose_body=rotvecs[:, 1:].reshape(3, 63), betas=betas,
        gender="neutral", mocap_frame_rate=60.0, surface_model_type="smplx",
    )  # fmt: skip
    motion = amass_smplx.read(amass_smplx.Probe(path), amass_smplx.ReadCfg(body=f"smplx:{model_npz}"))[0]
    assert motion.provenance.notes == ()
    for t in range(3):
        vertices, joints = direct(model, betas, rotvecs[t], trans[t])
        np.testing.assert_allclose(motion.pose.position[t], joints[:N_JOINTS], atol=1e-9)
        np.testing.assert_allclose(motion.sole_positions()[t], vertices[SOLE_VERTICES], atol=1e-9)
    some = np.array([80, 3, 25])
    np.testing.assert_allclose(motion.sole_positions(some), motion.sole_positions()[:, some], atol=1e-12)


def test_the_mirrored_body_in_the_mirrored_motion_is_the_mirror_image(model_npz: Path) -> None:
    body = load_smplx(model_npz).body(np.random.default_rng(4).normal(size=20))
    rotvecs, trans = random_pose(3)
    motion = HumanMotion(body, trans, rot.from_rotvec(rotvecs), 30.0, Provenance("made up", "none"))
    soles, mirrored = motion.sole_positions(), motion.mirror().sole_positions()
    exchanged = np.concatenate([mirrored[:, 44:], mirrored[:, :44]], axis=1)
    np.testing.assert_allclose(exchanged, soles * [1, -1, 1], atol=1e-9)
    again = motion.mirror().mirror()
    np.testing.assert_allclose(again.sole_positions(), soles, atol=1e-9)


def test_the_second_load_comes_from_the_cache(model_npz: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(model_npz, tmp_path))
    first = load_smplx(path)
    assert first.name.startswith("smplx:")
    assert len(first.name) == len("smplx:") + 12
    stat = path.stat()
    path.write_bytes(bytes(stat.st_size))  # it is not looked at again
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    again, by_name = load_smplx(path), cached_smplx(first.name)
    assert by_name is not None
    for other in (again, by_name):
        assert other.params == first.params
        assert other.name == first.name
        for key in ("joints", "joint_dirs", "soles", "sole_dirs", "sole_weights", "pose_dirs"):
            np.testing.assert_array_equal(getattr(other, key), getattr(first, key))


def test_a_damaged_cache_is_made_again_and_an_impossible_one_is_done_without(model_pkl: Path, monkeypatch) -> None:
    first = load_smplx(model_pkl)
    for file in (cache_dir() / "smplx").iterdir():
        file.write_bytes(file.read_bytes()[:20])
    assert cached_smplx(first.name) is None
    np.testing.assert_array_equal(load_smplx(model_pkl).pose_dirs, first.pose_dirs)
    assert cached_smplx(first.name) is not None
    monkeypatch.setenv("PHUMA_CACHE", str(model_pkl / "not a folder"))
    np.testing.assert_array_equal(load_smplx(model_pkl).pose_dirs, first.pose_dirs)
    assert cached_smplx(first.name) is None


def test_a_changed_file_is_another_body(tmp_path: Path, small_model) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, **small_model)
    first = load_smplx(path)
    np.savez(path, **{**small_model, "v_template": small_model["v_template"] + 1})
    os.utime(path, ns=(0, 0))
    assert load_smplx(path).name != first.name


@pytest.mark.parametrize("name", ["smplx:../../etc/x", "smplx:", "open", "smplx:0123456789ab"])
def test_unknown_names_are_not_in_the_cache(name: str) -> None:
    assert cached_smplx(name) is None


def test_a_folder_gives_the_file_of_the_gender(tmp_path: Path, model_npz: Path, model_pkl: Path) -> None:
    (tmp_path / "smplx").mkdir()
    (tmp_path / "smplx" / "smplx_male.pkl").symlink_to(model_pkl)
    (tmp_path / "SMPLX_NEUTRAL.npz").symlink_to(model_npz)
    assert load_smplx(tmp_path, "neutral").name == load_smplx(model_npz).name
    assert load_smplx(tmp_path, "male").name == load_smplx(model_pkl).name
    with pytest.raises(ReadError, match=r"has no SMPLX_FEMALE.npz or .pkl.*found SMPLX_NEUTRAL.npz, smplx_male.pkl"):
        load_smplx(tmp_path, "female")
    with pytest.raises(ConfigError, match="neutral, male, female"):
        load_smplx(tmp_path, "other")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"v_template": np.zeros((6890, 3)), "J_regressor": np.zeros((24, 6890))},
            "is an SMPL model .*SMPL-X is needed",
        ),
        ({"v_template": np.zeros((6890, 3)), "J_regressor": np.zeros((52, 6890))}, r"is an SMPL\+H model"),
        ({"weights": np.zeros((10475, 24))}, r"weights has shape \(10475, 24\); an SMPL-X model has \(10475, 55\)"),
        ({"posedirs": np.array(["text"])}, "posedirs is not an array of numbers"),
        ({"v_template": np.full((10475, 3), np.nan)}, "v_template holds values that are not finite"),
        ({"kintree_table": np.zeros((2, 55))}, "not SMPL-X's"),
        ({"shapedirs": None}, "is not an SMPL-X model: it has no shapedirs"),
        ({"J_regressor": np.array({}, dtype=object)}, "J_regressor holds Python objects"),
    ],
)
def test_other_models_are_told_what_they_are(tmp_path: Path, small_model, change: dict, message: str) -> None:
    content = {k: v for k, v in {**small_model, **change}.items() if v is not None}
    np.savez(tmp_path / "model.npz", **content)
    with pytest.raises(ReadError, match=rf"model\.npz: .*{message}"):
        load_smplx(tmp_path / "model.npz")


@pytest.mark.parametrize("content", [b"", b"PK", b"\x80\x02]q\x00.", b"nonsense"])
def test_files_that_are_no_model_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.pkl").write_bytes(content)
    with pytest.raises(ReadError, match=r"model\.pkl"):
        load_smplx(tmp_path / "model.pkl")
    with pytest.raises(ReadError, match="cannot be opened"):
        load_smplx(tmp_path / "missing.npz")


def test_more_betas_than_the_model_has_are_cut_with_a_note(model_pkl: Path) -> None:
    _, trans = random_pose(3)
    quat = np.tile(rot.IDENTITY, (3, N_JOINTS, 1))
    body, notes = choose_body(f"smplx:{model_pkl}", SmplShape("smplx", np.ones(16)), trans, quat, 30.0)
    assert notes == ("16 betas cut to the 10 of the body model",)
    assert list(body.shape.values()) == [1.0] * 10
    zeros, notes = choose_body(f"smplx:{model_pkl}", SmplShape("smplx", np.zeros(16)), trans, quat, 30.0)
    assert notes == ()
    assert not any(zeros.shape.values())
    _, notes = choose_body(f"smplx:{model_pkl}", SmplShape("smplx", np.zeros(16), "male"), trans, quat, 30.0)
    assert "male model put on the neutral one" in notes[0]


@pytest.mark.parametrize("spec", ["smpl", "smplx", "smplx:", "", "closed"])
def test_an_unknown_body_lists_the_valid_ones(spec: str) -> None:
    with pytest.raises(ConfigError, match="valid: open, smplx:FILE"):
        choose_body(spec, SmplShape("smplx"), np.zeros((3, 3)), np.tile(rot.IDENTITY, (3, N_JOINTS, 1)), 30.0)


def test_shape_parameters_beyond_the_space_are_an_error(model_pkl: Path) -> None:
    with pytest.raises(PhumaError, match="11 shape parameters"):
        load_smplx(model_pkl).body(np.zeros(11))
