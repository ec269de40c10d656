"""Readers of SMPL's family: what is written comes back, conventions are right, and bad files are told so."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma import rotations as rot
from phuma.body import open_body
from phuma.errors import ConfigError, ReadError
from phuma.files.probe import Probe
from phuma.motion import HumanMotion
from phuma.skeleton import INDEX, N_JOINTS
from phuma.sources import amass_smplh, amass_smplx, motionx, phuma_human
from phuma.sources.reader import ReadCfg, Reader
from tests.fuzz import changes, damage, fuzzed, only_read_errors
from tests.motions import smooth_motion

NPZ = (amass_smplx, amass_smplh)
NPY = (motionx, phuma_human)
READERS = (*NPZ, *NPY)


def name(reader: Reader) -> str:
    return reader.FORMAT


def read(reader: Reader, path: Path, cfg: ReadCfg | None = None) -> HumanMotion:
    probe = Probe(path)
    assert [r.FORMAT for r in READERS if r.recognises(probe)] == [reader.FORMAT]
    motions = reader.read(probe, cfg or ReadCfg())
    assert len(motions) == 1
    return motions[0]


def try_reading(path: Path) -> None:
    """What a program does with a file that somebody gives it."""
    probe = Probe(path)
    for reader in READERS:
        if reader.recognises(probe):
            reader.read(probe, ReadCfg())


def valid_file(reader, path: Path, frames: int = 12) -> Path:
    reader.write(path, smooth_motion(open_body(), frames=frames, fps=50.0))
    return path


def change(path: Path, **arrays) -> Path:
    """An `.npz` with some arrays replaced; None takes one out."""
    with np.load(path, allow_pickle=True) as file:
        content = {**file, **arrays}
    np.savez(path, **{k: v for k, v in content.items() if v is not None})
    return path


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
    assert f"30 frames a second assumed: {reader.FORMAT} files hold no rate" in assumed.provenance.notes
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


# Bad input


@pytest.mark.parametrize("reader", READERS, ids=name)
def test_files_cut_anywhere_are_refused(tmp_path: Path, reader) -> None:
    whole = valid_file(reader, tmp_path / "a").read_bytes()
    path = tmp_path / "cut"
    for n in [*range(0, 200, 7), *range(200, len(whole), max(1, len(whole) // 60)), len(whole) - 1]:
        path.write_bytes(whole[:n])
        probe = Probe(path)
        with pytest.raises(ReadError, match="cut"):  # noqa: PT012 (most cuts leave nothing that could be recognised)
            if not reader.recognises(probe):
                raise ReadError(path, "is not recognised")
            reader.read(probe, ReadCfg())


def spoil(array: np.ndarray, at: tuple, value: float) -> np.ndarray:
    array = np.array(array, dtype=float)
    array[at] = value
    return array


ZEROS = {"poses": np.zeros((12, 156)), "trans": np.zeros((12, 3))}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"poses": np.zeros((1, 156)), "trans": np.zeros((1, 3))}, "has 1 frames; a motion needs at least 2"),
        ({"poses": np.zeros((0, 156)), "trans": np.zeros((0, 3))}, "has 0 frames"),
        ({"poses": np.zeros((12, 72))}, r"poses has shape \(12, 72\); expected \(frames, 156\)"),
        ({"poses": np.zeros(156)}, r"poses has shape \(156,\); expected \(frames, 156\)"),
        ({"trans": np.zeros((11, 3))}, r"trans has shape \(11, 3\); expected \(12, 3\)"),
        ({"trans": np.zeros((12, 2))}, r"trans has shape \(12, 2\)"),
        ({"poses": spoil(ZEROS["poses"], (3, 5), np.nan)}, r"body rotations holds nan at index \(3, 5\)"),
        ({"poses": spoil(ZEROS["poses"], (3, 5), np.inf)}, "body rotations holds inf"),
        ({"poses": spoil(ZEROS["poses"], (3, 5), 90.0)}, "body rotations reaches 90.*degrees"),
        ({"poses": spoil(ZEROS["poses"], (3, 5), 1e300)}, "body rotations reaches 1e"),
        ({"trans": spoil(ZEROS["trans"], (0, 0), -1e30)}, "translation reaches 1e"),
        ({"trans": np.full((12, 3), "text")}, "translation is of type <U4; expected numbers"),
        ({"trans": np.zeros((12, 3), dtype=complex)}, "translation is of type complex128"),
        ({"poses": np.full((12, 156), None)}, "array poses holds Python objects"),
        ({"mocap_framerate": np.array(0.0)}, "a frame rate of 0 is not plausible"),
        ({"mocap_framerate": np.array(-120)}, "a frame rate of -120"),
        ({"mocap_framerate": np.array(1e9)}, r"a frame rate of 1e\+09"),
        ({"mocap_framerate": np.array(np.nan)}, "a frame rate of nan"),
        ({"mocap_framerate": np.array([30.0, 60.0])}, r"mocap_framerate has shape \(2,\).*expected one number"),
        ({"mocap_framerate": np.array("fast")}, "mocap_framerate .*expected one number"),
        ({"mocap_framerate": None}, "has no frame rate; give it with --fps"),
        ({"betas": np.full(16, np.nan)}, "betas holds nan"),
        ({"betas": np.full((2, 2, 2), 0.0)}, r"betas has shape \(2, 2, 2\)"),
        ({"betas": np.full(16, 1e9)}, "betas reaches"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, arrays: dict, message: str) -> None:
    path = change(valid_file(amass_smplh, tmp_path / "bad.npz"), **arrays)
    with pytest.raises(ReadError, match=rf"bad\.npz: .*{message}"):
        read(amass_smplh, path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"pose_body": np.zeros((12, 60))}, r"pose_body has shape \(12, 60\); expected \(12, 63\)"),
        ({"pose_body": np.zeros((11, 63))}, r"pose_body has shape \(11, 63\); expected \(12, 63\)"),
        ({"root_orient": np.zeros(3)}, r"root_orient has shape \(3,\); expected \(frames, 3\)"),
        ({"root_orient": np.full((12, 3), "text")}, "expected numbers"),
    ],
)
def test_wrong_parts_of_smplx_are_told(tmp_path: Path, arrays: dict, message: str) -> None:
    path = change(valid_file(amass_smplx, tmp_path / "bad.npz"), **arrays)
    with pytest.raises(ReadError, match=rf"bad\.npz: .*{message}"):
        read(amass_smplx, path)


@pytest.mark.parametrize("reader", NPY, ids=name)
@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e38, 100.0])
def test_bad_values_in_rows_are_told(tmp_path: Path, reader, value: float) -> None:
    rows = np.load(valid_file(reader, tmp_path / "bad.npy")).copy()
    rows[5, 40] = value
    np.save(tmp_path / "bad.npy", rows)
    with pytest.raises(ReadError, match=r"bad\.npy: body rotations"):
        read(reader, tmp_path / "bad.npy")
    for frames in (0, 1):
        np.save(tmp_path / "bad.npy", rows[:frames])
        with pytest.raises(ReadError, match=rf"bad\.npy: has {frames} frames"):
            read(reader, tmp_path / "bad.npy")
    np.save(tmp_path / "bad.npy", rows.astype("S3"))
    with pytest.raises(ReadError, match=r"bad\.npy: .*S3"):
        read(reader, tmp_path / "bad.npy")


@pytest.mark.parametrize("reader", READERS, ids=name)
@pytest.mark.parametrize("fps", [0.0, -5.0, float("nan"), 1e9])
def test_an_absurd_rate_from_the_user_is_told(tmp_path: Path, reader, fps: float) -> None:
    with pytest.raises(ReadError, match="frame rate of"):
        read(reader, valid_file(reader, tmp_path / "a"), ReadCfg(fps=fps))


class Evil:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


@pytest.mark.parametrize("reader", NPZ, ids=name)
@pytest.mark.parametrize("array", ["trans", "betas", "gender", "mocap_framerate", "surface_model_type", "extra"])
def test_code_in_an_array_never_runs(tmp_path: Path, reader, array: str) -> None:
    marker = tmp_path / "marker"
    evil = np.empty((12, 3), dtype=object)
    evil[:] = Evil(marker)
    path = change(valid_file(reader, tmp_path / "evil.npz"), **{array: evil})
    only_read_errors(ReadError, lambda: try_reading(path))
    assert not marker.exists()


# Fuzz


@pytest.mark.parametrize("reader", READERS, ids=name)
@fuzzed
@given(edits=changes, inside=st.sampled_from(["", "trans", "betas", "gender", "poses", "mocap_framerate"]))
def test_damaged_files_give_a_motion_or_a_read_error(tmp_path_factory, reader, edits, inside: str) -> None:
    """Damage to the file as it lies on the disk, or to one array of an archive that is whole."""
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    folder.mkdir(exist_ok=True)
    whole, path = folder / reader.FORMAT, folder / f"{reader.FORMAT}.damaged"
    if not whole.exists():
        valid_file(reader, whole)
    path.write_bytes(
        damage_member(whole.read_bytes(), f"{inside}.npy", edits)
        if inside and reader in NPZ
        else damage(whole.read_bytes(), edits)
    )
    only_read_errors(ReadError, lambda: try_reading(path))


def damage_member(archive: bytes, member: str, edits) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            new.writestr(info.filename, damage(content, edits) if info.filename == member else content)
    return stream.getvalue()


@fuzzed
@given(
    st.sampled_from([69, 73, 79, 322]),
    st.integers(0, 5),
    st.sampled_from(["f4", "f8", "f2", "i8", "u1", "?", "S4", "U1", ">f4", "c8"]),
    st.binary(min_size=8, max_size=64),
)
def test_rows_of_any_bits_give_a_motion_or_a_read_error(tmp_path: Path, columns: int, frames: int, dtype, bits) -> None:
    size = frames * columns * np.dtype(dtype).itemsize
    rows = np.frombuffer((bits * (size // len(bits) + 1))[:size], dtype).reshape(frames, columns)
    np.save(tmp_path / "a.npy", rows)
    only_read_errors(ReadError, lambda: try_reading(tmp_path / "a.npy"))


def test_fuzzing_reaches_motions_too(tmp_path: Path) -> None:
    """Were every damaged file refused at the door, the tests above would prove little."""
    whole = valid_file(motionx, tmp_path / "a.npy").read_bytes()
    (tmp_path / "b.npy").write_bytes(damage(whole, [("flip", 0.5, b"\x01")]))
    assert len(read(motionx, tmp_path / "b.npy").joint_quat[0]) == N_JOINTS
