"""Readers of video models' files: what is wrong is told, nothing in a file runs, and nothing else goes wrong."""

from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from phuma.errors import ReadError
from phuma.io import safe_pickle_classes
from phuma.io.safe_pickle import as_array, load_pickle
from phuma.io.torch_file import load_torch
from phuma.sources import read_all
from tests.fuzz import changes, fuzzed, only_read_errors
from tests.sources import model_files as files
from tests.sources.model_attacks import LAYOUTS, MOTION, Evil, content_of, shaken, spoil, store

DATA = Path(__file__).parent / "data"
N = len(MOTION)


# joblib's layout


def sample() -> dict:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    content = {
        "pose": a, "again": a, "fortran": np.asfortranarray(a), "empty": np.zeros((0, 3)),
        "objects": np.array([None, "x"], dtype=object), "text": "abc", "scalar": np.float32(1.5),
    }  # fmt: skip
    outer: Any = files.wham_content()
    outer[np.int64(1)].update(content)
    return outer


@pytest.mark.parametrize("name", ["joblib.pkl", "joblib_unaligned.pkl", "joblib_zlib.pkl"])
def test_joblib_s_own_files_are_read(name: str) -> None:
    """Written by joblib 1.6.0, 1.1.1 (before arrays were aligned) and 1.6.0 with compress=3."""
    back, truth = load_pickle(DATA / name)[1], sample()[1]
    assert list(back) == list(truth)
    for key in ("pose", "again", "fortran", "empty"):
        np.testing.assert_array_equal(as_array("a", key, back[key]), truth[key])
        assert back[key].dtype == truth[key].dtype
    assert back["objects"].tolist() == [None, "x"]
    assert (back["text"], back["scalar"]) == ("abc", 1.5)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) != 2, reason="NumPy pickles its parts under the names of 2")
def test_files_of_these_tests_are_written_as_joblib_writes_them() -> None:
    assert files.joblib_bytes(sample()) == (DATA / "joblib.pkl").read_bytes()
    packed = (DATA / "joblib_zlib.pkl").read_bytes()
    assert zlib.decompress(files.joblib_bytes(sample(), compress=True)) == zlib.decompress(packed)


def test_large_arrays_that_nobody_wants_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks and meshes; what is wanted and too large is an error that says so."""
    for module in ("safe_pickle", "torch_file", "safe_pickle_classes"):
        monkeypatch.setattr(f"phuma.io.{module}.MAX_ARRAY", 60 * 3 * 4 * N)
    content = files.wham_content(files.everything(MOTION))
    content[0]["verts"] = np.zeros((N, 100, 3), np.float32)
    for compress in (False, True):
        (tmp_path / "a.pkl").write_bytes(files.joblib_bytes(content, compress))
        assert isinstance(load_pickle(tmp_path / "a.pkl")[0]["verts"], safe_pickle_classes.Unread)
        assert len(read_all(tmp_path / "a.pkl")) == 1
    parameters = files.gvhmr_content(MOTION)
    torch.save({**parameters, "mesh": torch.zeros(N, 100, 3)}, tmp_path / "a.pt")
    assert isinstance(load_torch(tmp_path / "a.pt")["mesh"], safe_pickle_classes.Unread)
    assert len(read_all(tmp_path / "a.pt")) == 1
    monkeypatch.setattr("phuma.io.torch_file.MAX_ARRAY", 100)
    with pytest.raises(ReadError, match=r"global_orient has [\d,]+ bytes; at most .* are read: cut the recording"):
        read_all(tmp_path / "a.pt")


# What is wrong is told


def changed(content: dict, name: str, value: Any) -> dict:
    """The content with one value replaced; `name` leads through dictionaries, None takes one out."""
    *way, last = name.split(".")
    inner = content
    for step in way:
        inner = inner[int(step) if step.isdigit() else step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value(inner[last]) if callable(value) else value
    return content


def spoilt(array: Any) -> Any:
    array = array.clone() if isinstance(array, torch.Tensor) else array.copy()
    array[(3,) + (0,) * (array.ndim - 1)] = float("nan")
    return array


PICTURE = "_DEMO/film/000003"
WRONG = [
    ("gvhmr", "smpl_params_global.body_pose", torch.zeros(N, 60), rf"body_pose has shape .*expected \({N}, 63\)"),
    ("gvhmr", "smpl_params_global.transl", torch.zeros(N - 1, 3), rf"transl has shape \({N - 1}, 3\)"),
    ("gvhmr", "smpl_params_global.transl", None, "holds no smpl_params_global.transl; there is body_pose, betas"),
    ("gvhmr", "smpl_params_global.transl", "text", "transl is not an array of numbers"),
    ("gvhmr", "smpl_params_global.transl", spoilt, r"translation holds nan at index \(3, 0\)"),
    ("gvhmr", "smpl_params_global.global_orient", torch.full((N, 3), 90.0), "reaches 90.*degrees"),
    ("gvhmr", "smpl_params_global", [], "holds no smpl_params_global.global_orient; there is nothing"),
    ("gem", "body_params_global.body_pose", torch.zeros(N, 228), "228 columns: that is GEM-X's body, SOMA"),
    ("gem", "body_params_global.betas", torch.full((N, 10), float("inf")), "betas holds inf"),
    ("tram", "pred_rotmat", torch.zeros(N, 23, 3, 3), r"pred_rotmat has shape .*expected \(frames, 24, 3, 3\)"),
    ("tram", "pred_rotmat", torch.zeros(N, 24, 3, 3), "pred_rotmat of joint 0 in row 0 is no rotation"),
    ("tram", "pred_rotmat", spoilt, "pred_rotmat of joint 0 in row 3 is no rotation"),
    ("tram", "pred_trans", torch.zeros(N, 3), r"pred_trans has shape"),
    ("tram", "frame", torch.zeros(N, dtype=torch.int64), "frame does not go up from frame to frame"),
    ("tram", "frame", torch.zeros(N), "frame holds no numbers of frames"),
    ("tram", "frame", torch.arange(N - 1), f"frame has {N - 1} numbers for {N} rotations"),
    ("wham", "0.pose_world", np.zeros((N, 66)), rf"pose_world has shape \({N}, 66\); expected \({N}, 72\)"),
    ("wham", "0.pose_world", spoilt, "person 0: body rotations holds nan"),
    ("wham", "0.betas", np.zeros((2, 2, 2)), r"betas has shape \(2, 2, 2\)"),
    ("wham", "0.frame_ids", np.arange(N) - 1, "frame_ids holds no numbers of frames"),
    ("prompthmr", "people.1.smplx_world", None, "people.1 has no smplx_world"),
    ("prompthmr", "people.1.smplx_world.pose", np.zeros((N, 60)), "pose has 60 columns; expected 66 or more"),
    ("prompthmr", "people.1.smplx_world.trans", spoilt, "person 1: translation holds nan"),
    ("prompthmr", "people", {}, "holds nobody"),
    ("phalp", f"{PICTURE}.tid", [], "picture 3 has tid, tracked_time and smpl that are not lists of one length"),
    ("phalp", f"{PICTURE}.time", 0, "holds two pictures of the same time"),
    ("phalp", f"{PICTURE}.time", 0.5, "time is '0.5'; expected a whole number"),
    ("phalp", f"{PICTURE}.tid", ["a"], "tid is 'a'; expected a whole number"),
    ("phalp", f"{PICTURE}.smpl", [{"betas": 1}], "holds no smpl of picture 3.global_orient"),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "name", "value", "message"), WRONG)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, layout: str, name: str, value: Any, message: str) -> None:
    files.write_tram(tmp_path, MOTION)  # the camera
    content = content_of(layout)
    if name.startswith(PICTURE):
        content[f"{PICTURE}.jpg"] = changed(content[f"{PICTURE}.jpg"], name.removeprefix(PICTURE + "."), value)
    else:
        content = changed(content, name, value)
    with pytest.raises(ReadError, match=rf"bad\S*: .*{message}"):
        read_all(store(layout, tmp_path / "bad", content))


# Nothing runs


@pytest.mark.parametrize("layout", LAYOUTS)
def test_code_in_a_file_never_runs(tmp_path: Path, layout: str) -> None:
    files.write_tram(tmp_path, MOTION)
    marker = tmp_path / "marker"
    content = {**content_of(layout), "extra": Evil(marker)}
    with pytest.raises(
        ReadError, match=r"asks for (posix|nt|os)\.system; only plain data is read, nothing is executed"
    ):
        read_all(store(layout, tmp_path / "evil", content))
    assert not marker.exists()


def storage_bytes(value: Any) -> bytes:
    """What a tensor's storage looks like within a pickle, with something else in the storage's place."""
    stream = io.BytesIO()
    for part in (0x1950A86A20F9469CFC6C, 1001, {}):
        pickle.dump(part, stream, 2)
    pickle.dump(value, stream, 2)
    pickle.dump(["0"], stream, 2)
    return stream.getvalue() + struct.pack("<q", 1) + b"\0" * 4


def nested(inner: bytes) -> bytes:
    """A pickle that hands bytes to `torch.storage._load_from_bytes`."""
    return b"\x80\x02ctorch.storage\n_load_from_bytes\nB" + struct.pack("<I", len(inner)) + inner + b"\x85R."


REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n("
FLOATS = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"


def archive(pickled: bytes, compress: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compress) as file:
        file.writestr("a/data.pkl", b"\x80\x02" + pickled)
        for name, data in {"0": b"\0" * 16, **members}.items():
            file.writestr(f"a/data/{name}", data)
    return stream.getvalue()


HOSTILE_STORAGES = {
    "a call": lambda marker: storage_bytes(Evil(marker)),
    "a call within": lambda marker: storage_bytes([nested(storage_bytes(Evil(marker)))]),
    "no storage": lambda marker: storage_bytes({"a": 1}),
    "cut": lambda marker: storage_bytes({"a": 1})[:20],
    "a long head": lambda marker: storage_bytes("x" * 10_000),
    "pickles in pickles": lambda marker: nested(nested(nested(b"N.")))[2:],
}


@pytest.mark.parametrize("name", HOSTILE_STORAGES)
def test_bytes_that_torch_would_run_are_parsed(tmp_path: Path, name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "evil.pkl"
    path.write_bytes(nested(HOSTILE_STORAGES[name](marker)))
    with pytest.raises(ReadError, match=r"evil\.pkl: "):
        load_pickle(path)
    assert not marker.exists()


HOSTILE_ARCHIVES = {
    "beyond the storage": archive(REBUILD + FLOATS + b"K\x00K\x05\x85K\x01\x85\x89NtR."),
    "beyond by an offset": archive(REBUILD + FLOATS + b"K\x01K\x04\x85K\x01\x85\x89NtR."),
    "beyond by a stride": archive(REBUILD + FLOATS + b"K\x00K\x02\x85K\x04\x85\x89NtR."),
    "a stride back": archive(REBUILD + FLOATS + b"K\x03K\x02\x85J\xff\xff\xff\xff\x85\x89NtR."),
    "terabytes of one number": archive(REBUILD + FLOATS + b"K\x00\x8a\x06\0\0\0\0\0\x01\x85K\x00\x85\x89NtR."),
    "no storage": archive(REBUILD + b"NK\x00K\x02\x85K\x01\x85\x89NtR."),
    "another length": archive(FLOATS + b".", **{"0": b"\0" * 12}),
    "another file": archive(FLOATS.replace(b"\x01\x00\x00\x000", b"\x09\x00\x00\x00../../etc") + b"."),
    "no place": archive(FLOATS.replace(b"\x01\x00\x00\x000", b"\x01\x00\x00\x007") + b"."),
    "two ways": archive(FLOATS + b"0" + FLOATS.replace(b"K\x04", b"K\x02") + b"."),
    "compressed": archive(FLOATS + b".", zipfile.ZIP_DEFLATED, **{"0": b"\0" * 16}),
    "a word": archive(b"X\x01\x00\x00\x00aQ."),
    "a type called": archive(b"ctorch\nFloatStorage\n(K\x01tR."),
    "a size of anything": archive(b"ctorch\nSize\n(]tR."),
    "items for a tensor": archive(REBUILD + FLOATS + b"K\x00K\x04\x85K\x01\x85\x89NtRK\x00K\x01s."),
    "a state for a tensor": archive(REBUILD + FLOATS + b"K\x00K\x04\x85K\x01\x85\x89NtR}b."),
}


@pytest.mark.parametrize("name", HOSTILE_ARCHIVES)
def test_names_of_torch_cannot_be_misused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.pt"
    path.write_bytes(HOSTILE_ARCHIVES[name])
    with pytest.raises(ReadError, match=r"evil\.pt: "):
        load_torch(path)


def test_the_archives_above_are_refused_for_what_they_ask(tmp_path: Path) -> None:
    path = tmp_path / "good.pt"
    path.write_bytes(archive(REBUILD + FLOATS + b"K\x00K\x02K\x02\x86K\x02K\x01\x86\x89NtR."))
    assert load_torch(path).tolist() == [[0, 0], [0, 0]]


def test_a_bomb_of_zlib_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pkl"
    many = zlib.compressobj(9)
    zeros = b"\0" * (1 << 20)
    data = [many.compress(b"\x80\x04\x8e" + struct.pack("<Q", 1 << 31)), *(many.compress(zeros) for _ in range(80))]
    path.write_bytes(b"".join(data) + many.flush())
    with pytest.raises(ReadError, match="zip bomb"):
        load_pickle(path)


def test_what_unpacks_to_more_than_is_read_is_refused_by_its_size(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("phuma.io.safe_pickle.MAX_BYTES", 30_000)
    (tmp_path / "a.pkl").write_bytes(joblib := files.joblib_bytes(content_of("phalp"), compress=True))
    assert len(joblib) < 30_000
    with pytest.raises(ReadError, match=r"a\.pkl: .*unpacks to more than 30,000 bytes, the most that are read"):
        load_pickle(tmp_path / "a.pkl")


def test_what_is_announced_and_not_there_takes_no_memory(tmp_path: Path) -> None:
    for data in (files.joblib_bytes(sample()), zlib.decompress(files.joblib_bytes(sample(), True))):
        huge = data.replace(b"K\x02K\x03\x86", b"J\xff\xff\x00\x00K\x03\x86")
        for packed in (huge, zlib.compress(huge)):
            (tmp_path / "a.pkl").write_bytes(packed)
            with pytest.raises(ReadError):
                load_pickle(tmp_path / "a.pkl")


# Fuzz


@pytest.mark.parametrize("layout", LAYOUTS)
@fuzzed
@given(edits=changes, inside=st.booleans())
def test_damaged_files_give_motions_or_a_read_error(tmp_path_factory, layout: str, edits, inside: bool) -> None:
    folder = tmp_path_factory.getbasetemp() / "models"
    folder.mkdir(exist_ok=True)
    if not (folder / "camera.npy").exists():
        files.write_tram(folder, MOTION)
    whole = folder / f"{layout}.npy" if layout == "tram" else folder / layout
    if not whole.exists():
        store(layout, folder / layout, content_of(layout))
    path = folder / f"damaged_{layout}"
    path.write_bytes(spoil(whole.read_bytes(), layout, edits, inside))
    only_read_errors(ReadError, lambda: read_all(path))


@pytest.mark.parametrize("layout", LAYOUTS)
@fuzzed
@given(seed=st.integers(0, 10**9))
def test_files_of_odd_values_give_motions_or_a_read_error(tmp_path_factory, layout: str, seed: int) -> None:
    folder = tmp_path_factory.getbasetemp() / "odd"
    if not folder.exists():
        files.write_tram(folder, MOTION)  # the camera
    path = store(layout, folder / "a", shaken(content_of(layout), random.Random(seed)))
    only_read_errors(ReadError, lambda: read_all(path))
