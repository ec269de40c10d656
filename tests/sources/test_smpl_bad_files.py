"""Readers of SMPL's family: what is wrong with a file is told, nothing in it runs, and nothing else goes wrong."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma.core.skeleton import N_JOINTS
from phuma.errors import ConfigError, ReadError
from phuma.io.probe import Probe
from phuma.sources import amass_smplh, amass_smplx, motionx
from phuma.sources.reader import ReadCfg
from tests.fuzz import changes, damage, fuzzed, only_read_errors
from tests.sources.smpl_files import NPY, NPZ, READERS, change, name, read, try_reading, valid_file


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
        ({"poses": spoil(ZEROS["poses"], (3, 5), 1e300)}, "body rotations holds 1e"),
        ({"trans": spoil(ZEROS["trans"], (0, 0), -1e30)}, "translation holds -1e"),
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


@pytest.mark.parametrize("fps", [0.0, -5.0, float("nan"), 1e9])
def test_an_absurd_rate_from_the_user_is_told(fps: float) -> None:
    with pytest.raises(ConfigError, match="frame rate of"):
        ReadCfg(fps=fps)


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
