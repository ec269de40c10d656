"""Readers of SMPL's family: what is written comes back, and conventions are right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.skeleton import INDEX
from phuma.errors import ConfigError
from phuma.io.probe import Probe
from phuma.sources import amass_smplh, amass_smplx, motionx, phuma_human
from phuma.sources.reader import ReadCfg
from tests.motions import smooth_motion
from tests.sources.smpl_files import NPY, NPZ, READERS, change, name, read, valid_file


@pytest.mark.parametrize("reader", READERS, ids=name)
@pytest.mark.parametrize("fps", [30.0, 59.94, 120.0])
def test_a_motion_comes_back_as_it_was_written(tmp_path: Path, reader, fps: float) -> None:
    motion = smooth_motion(open_body(), frames=50, fps=fps, seed=2)
    reader.write(tmp_path / "a", motion)
    back = read(reader, tmp_path / "a", ReadCfg(fps=fps) if reader in NPY else None)
    assert back.fps == fps
    assert back.body.name == "open"
    on_the_same_body = replace(back, body=motion.body)
    atol = 1e-5 if reader in NPY else 1e-9
    np.testing.assert_allclose(on_the_same_body.pose.position, motion.pose.position, atol=atol)
    np.testing.assert_allclose(on_the_same_body.sole_positions(), motion.sole_positions(), atol=atol)
    assert back.provenance.format == reader.FORMAT
    assert back.provenance.source == str(tmp_path / "a")


@pytest.mark.parametrize("reader", READERS, ids=name)
def test_the_same_motion_is_the_same_file(tmp_path: Path, reader) -> None:
    first, second = (valid_file(reader, tmp_path / n) for n in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("reader", READERS, ids=name)
def test_licences_are_carried_and_never_guessed(tmp_path: Path, reader) -> None:
    provenance = read(reader, valid_file(reader, tmp_path / "a")).provenance
    if reader is phuma_human:
        assert (provenance.licence, provenance.redistributable) == ("unknown", None)
    else:
        assert "no redistribution" in provenance.licence
        assert provenance.redistributable is False


@pytest.mark.parametrize("reader", NPY, ids=name)
def test_an_assumed_rate_is_noted_and_a_given_one_goes_before_it(tmp_path: Path, reader) -> None:
    path = valid_file(reader, tmp_path / "a.npy")
    assumed = read(reader, path)
    assert assumed.fps == 30.0
    note = f"30 Hz assumed: {reader.FORMAT} files hold no rate; give the true one with --fps"
    assert note in assumed.provenance.notes
    given_rate = read(reader, path, ReadCfg(fps=25))
    assert given_rate.fps == 25.0
    assert not any("assumed" in note for note in given_rate.provenance.notes)


@pytest.mark.parametrize("reader", NPZ, ids=name)
def test_a_given_rate_goes_before_the_file_s(tmp_path: Path, reader) -> None:
    path = valid_file(reader, tmp_path / "a.npz")
    assert read(reader, path).fps == 50.0
    assert read(reader, path, ReadCfg(fps=100)).fps == 100.0


@pytest.mark.parametrize("reader", READERS, ids=name)
def test_the_open_body_is_fitted_and_the_fit_is_noted(tmp_path: Path, reader) -> None:
    notes = read(reader, valid_file(reader, tmp_path / "a")).provenance.notes
    assert any(note.startswith("open body fitted: stature") for note in notes)
    with pytest.raises(ConfigError, match="valid: open"):
        read(reader, tmp_path / "a", ReadCfg(body="closed"))


# Conventions, by hand


def test_y_up_is_turned_to_z_up_and_forward_is_x(tmp_path: Path) -> None:
    """A body in its rest pose stands in a y-up world and faces z; its left is x."""
    rows = np.zeros((10, 322), dtype=np.float32)
    rows[:, 309:312] = [1.0, 2.0, 3.0]
    rows[:, 311] += np.arange(10) / 10
    np.save(tmp_path / "a.npy", rows)
    motion = read(motionx, tmp_path / "a.npy")
    np.testing.assert_allclose(motion.root_pos[0], [3, 1, 2], atol=1e-6)
    np.testing.assert_allclose(motion.root_pos[-1], [3.9, 1, 2], atol=1e-6)
    at = motion.pose.position[0]
    assert at[INDEX["head"], 2] > at[INDEX["pelvis"], 2] + 0.4
    assert at[INDEX["left_wrist"], 1] > at[INDEX["right_wrist"], 1] + 1
    assert at[INDEX["left_foot"], 0] > at[INDEX["left_ankle"], 0] + 0.05


@pytest.mark.parametrize("columns", [69, 73, 79])
def test_phuma_s_columns_are_path_root_and_body(tmp_path: Path, columns: int) -> None:
    rows = np.random.default_rng(0).normal(scale=0.3, size=(20, columns)).astype(np.float32)
    np.save(tmp_path / "a.npy", rows)
    motion = read(phuma_human, tmp_path / "a.npy")
    np.testing.assert_allclose(motion.root_pos, rows[:, [2, 0, 1]], atol=1e-6)
    local = rot.to_rotvec(motion.joint_quat[:, 1:]).reshape(20, 63)
    np.testing.assert_allclose(local, rows[:, 6:69], atol=1e-6)


def test_amass_in_smplx_with_all_its_arrays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n, evil = 15, np.empty(2, dtype=object)
    body, root, trans = rng.normal(scale=0.3, size=(n, 63)), rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    everything = {
        "trans": trans, "root_orient": root, "pose_body": body, "pose_hand": np.ones((n, 90)),
        "pose_jaw": np.ones((n, 3)), "pose_eye": np.ones((n, 6)), "betas": rng.normal(size=16), "num_betas": 16,
        "gender": "female", "surface_model_type": "smplx_locked_head", "mocap_frame_rate": 120.0,
        "mocap_time_length": n / 120, "markers_latent": np.zeros((5, 3)), "latent_labels": np.array(["a", "b"]),
        "markers_latent_vids": evil,
    }  # fmt: skip
    np.savez(tmp_path / "a.npz", **everything)
    motion = read(amass_smplx, tmp_path / "a.npz")
    assert motion.fps == 120.0
    np.testing.assert_allclose(motion.root_pos, trans, atol=1e-12)  # z-up as it is; the open pelvis is its origin
    np.testing.assert_allclose(rot.to_matrix(motion.joint_quat[:, 0]), rot.to_matrix(rot.from_rotvec(root)), atol=1e-12)
    np.testing.assert_allclose(rot.to_rotvec(motion.joint_quat[:, 1:]).reshape(n, 63), body, atol=1e-12)
    all_poses = np.concatenate([root, body, np.ones((n, 99))], axis=1)
    np.savez(tmp_path / "b.npz", trans=trans, poses=all_poses, mocap_framerate=np.array([120]))
    in_one = read(amass_smplx, tmp_path / "b.npz")
    np.testing.assert_array_equal(in_one.joint_quat, motion.joint_quat)
    assert in_one.fps == 120.0


@pytest.mark.parametrize(
    ("stored", "understood"),
    [
        ("female", "female"), (b"male", "male"), ("b'female'", "female"), (np.array(["neutral"]), "neutral"),
        ("Male", "male"), ("robot", None), (np.array({}, dtype=object), "neutral"), (3.0, None), (None, "neutral"),
    ],
)  # fmt: skip
def test_gender_is_found_however_it_is_stored(tmp_path: Path, monkeypatch, stored, understood: str | None) -> None:
    asked = []

    def choose(spec, shape, *rest):
        asked.append(shape)
        return open_body(), ()

    monkeypatch.setattr("phuma.sources.smpl.choose_body", choose)
    path = change(valid_file(amass_smplh, tmp_path / "a.npz"), gender=stored, betas=np.full((1, 16), 0.5))
    motion = read(amass_smplh, path)
    assert asked[0].gender == (understood or "neutral")
    assert asked[0].model == "smplh"
    assert asked[0].betas.tolist() == [0.5] * 16
    assert any("taken as neutral" in note for note in motion.provenance.notes) == (understood is None)


@pytest.mark.parametrize("reader", NPY, ids=name)
def test_betas_of_every_frame_are_one_shape(tmp_path: Path, monkeypatch, reader) -> None:
    asked = []

    def choose(spec, shape, *rest):
        asked.append(shape)
        return open_body(), ()

    monkeypatch.setattr("phuma.sources.smpl.choose_body", choose)
    rows = np.zeros((9, 322 if reader is motionx else 79), dtype=np.float32)
    rows[:, -10:] = np.arange(10)
    rows[4, -10:] = 40
    np.save(tmp_path / "a.npy", rows)
    read(reader, tmp_path / "a.npy")
    assert asked[0].model == "smplx"
    assert asked[0].betas.tolist() == list(range(10))


def test_shape_without_motion_is_known_as_such(tmp_path: Path) -> None:
    np.savez(tmp_path / "shape.npz", betas=np.zeros(16), gender="male")
    probe = Probe(tmp_path / "shape.npz")
    assert amass_smplx.is_shape_only(probe)
    assert not any(r.recognises(probe) for r in READERS)
    for reader in READERS:
        assert not amass_smplx.is_shape_only(Probe(valid_file(reader, tmp_path / "a")))
