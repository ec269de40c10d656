from __future__ import annotations

import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma.errors import ReadError
from phuma.io.npz import load_npy, load_npz, npy_header, npz_headers
from tests.fuzz import changes, damage, fuzzed, only_read_errors


class Evil:
    """Leaves a mark where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npy_with_header(header: str, data: bytes = b"") -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2", "U5", "S3", "?"])
def test_npy_and_npz_give_what_was_saved(tmp_path: Path, dtype: str) -> None:
    for shape, order in product([(), (0, 3), (4,), (2, 3, 4)], "CF"):
        array = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype), order=order)
        np.save(tmp_path / "a.npy", array)
        np.savez_compressed(tmp_path / "a.npz", one=array, other=np.zeros(2))
        assert npy_header(tmp_path / "a.npy") == (shape, array.dtype), order
        assert npz_headers(tmp_path / "a.npz")["one"] == (shape, array.dtype), order
        for loaded in (load_npy(tmp_path / "a.npy"), load_npz(tmp_path / "a.npz", ["one"])["one"]):
            assert loaded.dtype == array.dtype, (shape, order)
            np.testing.assert_array_equal(loaded, array, err_msg=f"{shape} {order}")


def test_object_arrays_are_listed_but_never_unpickled(tmp_path: Path) -> None:
    path, marker = tmp_path / "a.npz", tmp_path / "marker"
    evil = np.empty(1, dtype=object)
    evil[0] = Evil(marker)
    np.savez(path, evil=evil, good=np.arange(3))
    assert npz_headers(path)["evil"].dtype == object
    assert load_npz(path, ["good"])["good"].tolist() == [0, 1, 2]
    with pytest.raises(ReadError, match=r"a\.npz: array evil holds Python objects"):
        load_npz(path, ["evil"])
    np.save(tmp_path / "a.npy", evil)
    with pytest.raises(ReadError, match="holds Python objects"):
        load_npy(tmp_path / "a.npy")
    assert not marker.exists()


def test_a_pickle_named_npy_is_refused(tmp_path: Path) -> None:
    path, marker = tmp_path / "a.npy", tmp_path / "marker"
    path.write_bytes(pickle.dumps(Evil(marker)))
    for read in (load_npy, npy_header, npz_headers):
        with pytest.raises(ReadError, match=r"a\.npy"):
            read(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 500 + "), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0.5,), }",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (99999999,), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (99999999,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': 'nonsense', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'shape': (1,), }",
        "__import__('os').system('true')",
        "",
    ],
)
def test_headers_that_lie_are_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "lie.npy"
    path.write_bytes(npy_with_header(header, bytes(40)))
    with pytest.raises(ReadError, match=r"lie\.npy"):
        load_npy(path)
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as z:
        z.writestr("a.npy", npy_with_header(header, bytes(40)))
    with pytest.raises(ReadError, match=r"lie\.npz"):
        load_npz(tmp_path / "lie.npz", ["a"])


@pytest.mark.parametrize("count", [7, 10**8, 4 * 10**9])
def test_no_memory_is_taken_for_what_is_not_there(tmp_path: Path, count: int) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    (tmp_path / "lie.npy").write_bytes(npy_with_header(header, bytes(40)))
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as z:
        z.writestr("a.npy", npy_with_header(header, bytes(40)))
    tracemalloc.start()
    for read in (lambda: load_npy(tmp_path / "lie.npy"), lambda: load_npz(tmp_path / "lie.npz", ["a"])):
        with pytest.raises(ReadError, match=f"declares {8 * count:,} bytes, .* but 40 are there"):
            read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_old_headers_of_python_2_are_read_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "old.npy"
    path.write_bytes(npy_with_header("{'descr': '<i2', 'fortran_order': False, 'shape': (2L,), }", b"\1\0\2\0"))
    assert load_npy(path).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["<U2", ">U2"])
def test_text_with_impossible_characters_is_refused(tmp_path: Path, dtype: str) -> None:
    """NumPy makes strings of any number, which then break Python itself."""
    good = np.array(["ab", "\U0010ffff"], dtype=dtype)
    np.savez(tmp_path / "a.npz", a=good)
    assert load_npz(tmp_path / "a.npz", ["a"])["a"].tolist() == good.tolist()
    bad = good.copy()
    bad.view(np.dtype("u4").newbyteorder(dtype[0]))[1] = 0x110072
    np.savez(tmp_path / "a.npz", a=bad)
    with pytest.raises(ReadError, match="array a holds text that is no text"):
        load_npz(tmp_path / "a.npz", ["a"])


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, a=np.zeros(100 << 20, dtype=np.uint8))
    assert path.stat().st_size < 200_000
    with pytest.raises(ReadError, match=r"bomb\.npz: array a .* zip bomb"):
        load_npz(path, ["a"])


def test_arrays_that_are_large_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phuma.io.npz.MAX_BYTES", 3000)
    np.savez(tmp_path / "a.npz", a=np.zeros(200), b=np.zeros(200))
    assert load_npz(tmp_path / "a.npz", ["a"])["a"].shape == (200,)
    with pytest.raises(ReadError, match="would unpack to"):
        load_npz(tmp_path / "a.npz", ["a", "b"])


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_without_a_limit_is_refused(tmp_path: Path, kind: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", kind) as z:
        z.writestr("a.npy", npy_bytes(np.zeros(3)))
    with pytest.raises(ReadError, match="compressed in a way"):
        npz_headers(tmp_path / "a.npz")


def test_zip_without_arrays_has_none_and_other_files_are_none(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as z:
        z.writestr("readme.txt", "hello")
    assert npz_headers(tmp_path / "a.zip") == {}
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY", b"hello", bytes(100)):
        (tmp_path / "x").write_bytes(content)
        for read in (load_npy, npy_header, npz_headers):
            with pytest.raises(ReadError):
                read(tmp_path / "x")
    for read in (load_npy, npy_header, npz_headers):
        with pytest.raises(ReadError, match="does not exist"):
            read(tmp_path / "missing")
        with pytest.raises(ReadError):
            read(tmp_path)


def test_a_missing_name_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", trans=np.zeros(3))
    with pytest.raises(ReadError, match="holds no array poses; it has trans"):
        load_npz(tmp_path / "a.npz", ["poses"])


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(20.0))
    np.savez_compressed(tmp_path / "a.npz", a=np.arange(20.0))
    for name, read in (("a.npy", load_npy), ("a.npz", lambda p: load_npz(p, ["a"]))):
        whole = (tmp_path / name).read_bytes()
        read(tmp_path / name)
        for n in range(len(whole)):
            (tmp_path / "cut").write_bytes(whole[:n])
            with pytest.raises(ReadError, match="cut"):
                read(tmp_path / "cut")


def test_one_flipped_bit_of_the_data_of_an_npz_is_noticed(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.arange(20.0))
    whole = bytearray((tmp_path / "a.npz").read_bytes())
    whole[whole.index(np.arange(20.0).tobytes()) + 50] ^= 1
    (tmp_path / "a.npz").write_bytes(whole)
    with pytest.raises(ReadError, match="CRC"):
        load_npz(tmp_path / "a.npz", ["a"])


@fuzzed
@given(changes)
def test_damaged_npy_gives_an_array_or_a_read_error(tmp_path: Path, edits) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(damage(npy_bytes(np.arange(12.0).reshape(4, 3)), edits))
    only_read_errors(ReadError, lambda: npy_header(path))
    only_read_errors(ReadError, lambda: load_npy(path))


@fuzzed
@given(changes, st.booleans())
def test_damaged_npz_gives_arrays_or_a_read_error(tmp_path: Path, edits, inside: bool) -> None:
    path, member = tmp_path / "a.npz", npy_bytes(np.arange(12.0).reshape(4, 3))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a.npy", damage(member, edits) if inside else member)
    path.write_bytes(stream.getvalue() if inside else damage(stream.getvalue(), edits))
    only_read_errors(ReadError, lambda: load_npz(path, npz_headers(path)))


@fuzzed
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"PK\x03\x04"]))
def test_random_bytes_give_a_read_error(tmp_path: Path, noise: bytes, magic: bytes) -> None:
    path = tmp_path / "noise"
    path.write_bytes(magic + noise)
    for read in (load_npy, npy_header, npz_headers):
        only_read_errors(ReadError, lambda read=read: read(path))
