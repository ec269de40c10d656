from __future__ import annotations

import collections
import copyreg
import os
import pickle
import struct
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from phuma.errors import ReadError
from phuma.io.safe_pickle import as_array, load_pickle
from tests.fuzz import changes, damage, fuzzed, only_read_errors


class Call:
    """Pickles as a call of a function."""

    def __init__(self, function, *args) -> None:
        self.call = function, args

    def __reduce__(self):
        return self.call


class Ch:
    """What chumpy's array class looks like to a pickle."""

    def __init__(self, x) -> None:
        self.x = x
        self._dirty_vars = {"x"}


@pytest.fixture
def chumpy(monkeypatch: pytest.MonkeyPatch):
    module = types.ModuleType("chumpy.ch")
    module.Ch = Ch
    monkeypatch.setitem(sys.modules, "chumpy", types.ModuleType("chumpy"))
    monkeypatch.setitem(sys.modules, "chumpy.ch", module)
    monkeypatch.setattr(Ch, "__module__", "chumpy.ch")
    return Ch


def sample() -> dict:
    return {
        "floats": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
        "text": np.array(["abc", "de"]),
        "objects": np.array([{"a": 1}, None], dtype=object),
        "scalar": np.float32(1.5),
        "ordered": collections.OrderedDict(a=1, b=[2, (3, 4.5)]),
        "bytes": b"\x00\xff",
        "array": bytearray(b"xy"),
        "set": {1, "a"},
        "complex": 1 + 2j,
        "none": None,
        7: True,
    }


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_comes_out_as_it_went_in(tmp_path: Path, protocol: int) -> None:
    data = sample()
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(data, protocol))
    back = load_pickle(tmp_path / "a.pkl")
    assert list(back) == list(data)
    for key in ("floats", "fortran", "text"):
        np.testing.assert_array_equal(as_array("a", key, back[key]) if key != "text" else back[key], data[key])
        assert back[key].dtype.newbyteorder("=") == data[key].dtype.newbyteorder("=")
    assert back["objects"].tolist() == [{"a": 1}, None]
    for key in set(data) - {"floats", "fortran", "text", "objects"}:
        assert back[key] == data[key]


@pytest.mark.parametrize("module", ["numpy.core", "numpy._core"])
def test_both_names_of_numpys_core_are_known(tmp_path: Path, module: str) -> None:
    data = pickle.dumps(np.arange(3), 2).replace(b"cnumpy._core.", b"c" + module.encode() + b".")
    (tmp_path / "a.pkl").write_bytes(data.replace(b"cnumpy.core.", b"c" + module.encode() + b"."))
    assert load_pickle(tmp_path / "a.pkl").tolist() == [0, 1, 2]


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
@pytest.mark.parametrize("kind", ["csc", "csr"])
def test_chumpy_and_sparse_arrays_come_out_as_arrays(tmp_path: Path, chumpy, protocol: int, kind: str) -> None:
    dense = np.round(np.random.default_rng(1).normal(size=(5, 7)) * (np.random.default_rng(2).random((5, 7)) < 0.3), 3)
    data = {"ch": chumpy(np.arange(4.0)), "sparse": scipy.sparse.csc_matrix(dense).asformat(kind)}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(data, protocol))
    back = load_pickle(tmp_path / "a.pkl")
    np.testing.assert_array_equal(as_array("a", "ch", back["ch"]), np.arange(4.0))
    np.testing.assert_array_equal(as_array("a", "sparse", back["sparse"]), dense)


def test_strings_of_python_2_are_bytes_in_latin1(tmp_path: Path) -> None:
    raw = np.array([1.5, -2.0]).tobytes()
    data = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\n"
        b"U\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U"
        + bytes([len(raw)]) + raw + b"tb."
    )  # fmt: skip
    (tmp_path / "a.pkl").write_bytes(data)
    assert load_pickle(tmp_path / "a.pkl").tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (os.system, "system"), (eval, "eval"), (exec, "exec"),
        (subprocess.call, "call"), (getattr, "getattr"), (__import__, "__import__"),
        (np.load, "numpy.*load"), (np.lib.format.read_array, "read_array"), (open, "open"), (np.fromfile, "fromfile"),
    ],
)  # fmt: skip
def test_no_function_is_called_and_the_error_names_it(tmp_path: Path, function, name: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "evil.pkl"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps({"a": [Call(function, f"touch {marker}")]}, protocol))
        with pytest.raises(ReadError, match=rf"evil\.pkl: is a pickle that asks for .*({name})"):
            load_pickle(path)
        assert not marker.exists(), protocol


def hostile() -> dict[str, bytes]:
    """Programs in pickle's opcodes that misuse what is allowed."""
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tS'b'\ntR"
    dtype = b"cnumpy\ndtype\n(S'%s'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI%d\ntb"
    return {
        "object bytes taken for pointers": array + b"(I1\n(I1\nt" + dtype % (b"O8", 0) + b"I00\nS'AAAAAAAA'\ntb.",
        "terabytes": array + b"(I1\n(I1000000000000\nt" + dtype % (b"f8", 0) + b"I00\nS''\ntb.",
        "terabytes of objects": array + b"(I1\n(I1000000000\nt" + dtype % (b"O8", 63) + b"I00\n(ltb.",
        "shape at once": b"cnumpy\nndarray\n((I1000000000000\ntS'f8'\ntR.",
        "fields": b"cnumpy\ndtype\n(S'V8'\nI0\nI1\ntR.",
        "state for a function": b"c_codecs\nencode\n(dS'__defaults__'\nN\x86b.",
        "state for a class": b"cchumpy.ch\nCh\n}b.",
        "memo index": b"\x80\x02Nr\xff\xff\xff\x7f" + b"\x8c\x00" * 3,
        "long bytes": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b".",
        "long bytearray": b"\x80\x05\x96" + struct.pack("<Q", 1 << 36) + b".",
        "long frame": b"\x80\x04\x95" + struct.pack("<Q", 1 << 62) + b".",
        "codec": b"c_codecs\nencode\n(Vabc\nVzlib_codec\ntR.",
        "tuple of tuples as key": b"}K\x01" + b"2\x86" * 60 + b"Ns.",
        "tuple of tuples in a set": b"\x80\x04\x8f(K\x01" + b"2\x86" * 60 + b"\x90.",
        "tuple of tuples in a frozenset": b"\x80\x04(K\x01" + b"2\x86" * 60 + b"\x91.",
        "tuple of tuples in a dict": b"(K\x01" + b"2\x86" * 60 + b"Nd.",
        "persistent": b"Psomething\n.",
        "extension": b"\x80\x02\x82\x01.",
        "bytearray by number": b"c__builtin__\nbytearray\n(I1000000000\ntR.",
        "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0bdtype.newobj\x93.",
        "text that is no text": array + b"(I1\n(I1\nt" + dtype % (b"U1", 8) + b"I00\nS'\\x72\\x00\\x11\\x00'\ntb.",
        "items for an array": array + b"K\x00K\x01s.",
        "many items for an array": array + b"(K\x00K\x01u.",
        "a value behind an array": array + b"K\x01a.",
        "many values behind an array": array + b"(K\x01e.",
    }


OPCODES = """
    additems append appends binbytes binbytes8 binfloat binget binint binint1 binint2 binpersid binput binstring
    binunicode binunicode8 build bytearray8 dict dup empty_dictionary empty_list empty_set empty_tuple ext1 ext2 ext4
    false float frame frozenset get global inst int list long long1 long4 long_binget long_binput mark memoize newobj
    newobj_ex next_buffer none obj persid pop pop_mark proto put readonly_buffer reduce setitem setitems short_binbytes
    short_binstring short_binunicode stack_global stop string true tuple tuple1 tuple2 tuple3 unicode
"""
"""The opcodes that `pickle._Unpickler`, a private class, has in Python 3.8 to 3.13"""

CHANGED = (
    f"Python {sys.version.split()[0]} changed pickle._Unpickler, on which phuma.io.safe_pickle stands. Compare its "
    "Lib/pickle.py with that of Python 3.13. What names an object has to go through find_class; what calls it (REDUCE, "
    "NEWOBJ, OBJ, INST) must be able to call safe pickle classes alone; what changes an object (BUILD, SETITEMS, "
    "APPENDS, ADDITEMS ...) or takes memory by a number in the file has to be a method that _Unpickler overrides. Then "
    "bring OPCODES up to date."
)

NAMING = {
    "global": b"cos\nsystem\n.",
    "stack_global": b"\x8c\x02os\x8c\x06system\x93.",
    "inst": b"(ios\nsystem\n.",
    "ext1": b"\x82\xf0.",
    "ext2": b"\x83\xf0\x00.",
    "ext4": b"\x84\xf0\x00\x00\x00.",
}


def test_the_private_unpickler_of_this_python_is_one_that_was_checked() -> None:
    found = {method.__name__.removeprefix("load_") for method in pickle._Unpickler.dispatch.values()}
    assert found == set(OPCODES.split()), CHANGED
    assert pickle.HIGHEST_PROTOCOL == 5, CHANGED


@pytest.mark.parametrize("opcode", NAMING)
def test_whatever_names_an_object_is_asked_for_by_find_class(tmp_path: Path, opcode: str) -> None:
    """Extension codes are names too, which a program has registered."""
    path = tmp_path / "evil.pkl"
    path.write_bytes(NAMING[opcode])
    copyreg.add_extension("os", "system", 0xF0)
    try:
        with pytest.raises(ReadError) as error:
            load_pickle(path)
    finally:
        copyreg.remove_extension("os", "system", 0xF0)
    assert "asks for os.system" in str(error.value), CHANGED


@pytest.mark.parametrize("name", hostile())
def test_allowed_names_cannot_be_misused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.pkl"
    path.write_bytes(hostile()[name])
    message = {
        "long": "wanted, .* left",
        "state": "asks for a state for an object of type",
        "text": "text that is no text",
        "items": "items for an object",
        "many": "items for an object",
        "a": "items for an object",
    }.get(name.split()[0], "")
    with pytest.raises(ReadError, match=rf"evil\.pkl.*{message}"):
        load_pickle(path)


def test_a_file_gives_its_objects_no_attributes(tmp_path: Path) -> None:
    """NumPy follows the address in `__array_interface__` of anything that has it."""
    path = tmp_path / "evil.pkl"
    path.write_bytes(b"(cchumpy.ch\nCh\no(dS'__array_interface__'\n(dS'data'\n(I64\nI0\ntssb.")
    evil = load_pickle(path)
    assert not hasattr(evil, "__array_interface__")
    with pytest.raises(ReadError, match="x is not an array"):
        as_array(path, "x", evil)


def test_copies_of_a_long_text_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phuma.io.safe_pickle.MAX_BYTES", 1 << 20)
    path = tmp_path / "a.pkl"
    text = b"X" + struct.pack("<I", 1 << 16) + b"x" * (1 << 16)
    path.write_bytes(b"\x80\x02" + text + b"q\x000" + b"c_codecs\nencode\nh\x00\x85R" * 40 + b".")
    with pytest.raises(ReadError, match="more than"):
        load_pickle(path)
    monkeypatch.setattr("phuma.io.safe_pickle.MAX_BYTES", 100)
    with pytest.raises(ReadError, match="pickles of at most 100"):
        load_pickle(path)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 99])}, {"indices": np.array([-1, 0])}, {"indptr": np.array([0, 5, 2])}, {"data": None},
        {"_shape": (2, 10**9)}, {"_shape": (2,)}, {"indptr": np.array([0.0, 1, 2])}, {"indices": np.array([0])},
    ],
)  # fmt: skip
def test_damaged_sparse_matrices_are_refused(tmp_path: Path, change: dict) -> None:
    matrix = scipy.sparse.csc_matrix(np.eye(2))
    matrix.__dict__.update(change)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(matrix, 2))
    with pytest.raises(ReadError, match=r"a\.pkl: J_regressor is a damaged sparse matrix"):
        as_array(tmp_path / "a.pkl", "J_regressor", load_pickle(tmp_path / "a.pkl"))


def test_what_is_no_pickle_is_refused(tmp_path: Path) -> None:
    whole = pickle.dumps(sample(), 2)
    for n in range(len(whole)):
        (tmp_path / "cut.pkl").write_bytes(whole[:n])
        with pytest.raises(ReadError, match=r"cut\.pkl"):
            load_pickle(tmp_path / "cut.pkl")
    for path in (tmp_path / "missing.pkl", tmp_path):
        with pytest.raises(ReadError):
            load_pickle(path)


@fuzzed
@given(changes, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_damaged_pickles_give_data_or_a_read_error(tmp_path: Path, edits, protocol: int) -> None:
    path = tmp_path / "a.pkl"
    data = {**sample(), "sparse": scipy.sparse.csc_matrix(np.eye(3))}
    path.write_bytes(damage(pickle.dumps(data, protocol), edits))

    def read() -> None:
        back = load_pickle(path)
        for key in ("sparse", "floats"):
            as_array(path, key, back.get(key) if isinstance(back, dict) else back)

    only_read_errors(ReadError, read)


@fuzzed
@given(
    st.lists(
        st.sampled_from([*(bytes([o]) for o in pickle._Unpickler.dispatch), b"cnumpy\ndtype\n", b"I1\n", b"S'f8'\n"])
    )
)
def test_random_opcodes_give_data_or_a_read_error(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(b"".join(parts) + b".")
    only_read_errors(ReadError, lambda: load_pickle(path))
