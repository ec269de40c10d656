"""Untrusted NumPy files are read here: first what they declare, then their arrays, once that is proven true.

Object arrays are never unpickled, and no memory is taken for bytes that are not there. Whatever is wrong with a file,
it comes out as a ReadError.
"""

from __future__ import annotations

import io
import math
import os
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import DTypeLike, NDArray

from phuma.errors import ReadError

__all__ = [
    "ArrayHeader", "holds_characters", "load_columns", "load_npy", "load_npz", "npy_header", "npy_pickle_start",
    "npz_headers",
]  # fmt: skip

MAX_BYTES = 4 << 30  # of the arrays of one file together
MAX_MEMBERS = 10_000
BLOCK_BYTES = 4 << 20  # of a table of which some columns are read
MAX_DIMENSIONS = 32
MAX_HEADER = 10_000  # characters; numpy parses a header as a Python literal
PLAIN_KINDS = "biufcSU"

# Constant arrays shrink a thousandfold, so a high ratio proves nothing where little memory is at stake.
BOMB_BYTES = 64 << 20
BOMB_RATIO = 200


class ArrayHeader(NamedTuple):
    """A header is what a file says of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype


class _Layout(NamedTuple):
    header: ArrayHeader
    fortran: bool
    start: int
    """Bytes before the data"""


def npy_header(path: str | os.PathLike[str]) -> ArrayHeader:
    """Return the shape and type that an `.npy` declares."""
    with _reading(path, "is not a readable .npy file"), open(path, "rb") as f:
        return _layout(path, "the array", f).header


def npy_pickle_start(path: str | os.PathLike[str]) -> int:
    """Return how many bytes come before the pickle of an `.npy` that holds one Python object: see `load_pickle`."""
    with _reading(path, "is not a readable .npy file"), open(path, "rb") as f:
        (shape, dtype), _, start = _layout(path, "the array", f)
        if not dtype.hasobject or shape != ():
            raise ReadError(path, f"is an array of {dtype}, shape {shape}; expected one pickled object")
        return start


def npz_headers(path: str | os.PathLike[str]) -> dict[str, ArrayHeader]:
    """Return the shapes and types that an `.npz` declares, by name. A zip without arrays gives none."""
    with _reading(path, "is not a readable archive, as .npz and torch files are"), zipfile.ZipFile(path) as archive:
        return {name: _member_layout(path, archive, name, info).header for name, info in _members(path, archive)}


def load_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Return the array of an `.npy`, read-only."""
    with _reading(path, "is not a readable .npy file"), open(path, "rb") as f:
        layout = _layout(path, "the array", f)
        return _data(path, "the array", f, layout, os.fstat(f.fileno()).st_size - layout.start)


def load_npz(path: str | os.PathLike[str], names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return the named arrays of an `.npz`, read-only. Others in the file are not touched."""
    wanted = list(names)
    with _reading(path, "is not a readable .npz file"), zipfile.ZipFile(path) as archive:
        members = dict(_members(path, archive))
        missing = [n for n in wanted if n not in members]
        if missing:
            raise ReadError(path, f"holds no array {', '.join(missing)}; it has {', '.join(members) or 'none'}")
        total = sum(members[n].file_size for n in wanted)
        if total > MAX_BYTES:
            raise ReadError(path, f"would unpack to {total:,} bytes; at most {MAX_BYTES:,} are read")
        return {n: _load_member(path, archive, n, members[n]) for n in wanted}


def load_columns(
    path: str | os.PathLike[str], columns: NDArray[np.integer], name: str = "", dtype: DTypeLike | None = None
) -> NDArray[Any]:
    """Return (T, len(columns)) some columns of a table, read-only: of an `.npy`, or of the array `name` of an `.npz`.

    Rows are read a block at a time, so that a wide table takes no more memory than what is wanted of it. Numbers come
    as `dtype`, by default as they are stored.
    """
    if not name:
        with _reading(path, "is not a readable .npy file"), open(path, "rb") as f:
            layout = _layout(path, "the array", f)
            there = os.fstat(f.fileno()).st_size - layout.start
            return _columns(path, "the array", f, layout, there, columns, dtype)
    with _reading(path, "is not a readable .npz file"), zipfile.ZipFile(path) as archive:
        info = dict(_members(path, archive))[name]
        layout = _member_layout(path, archive, name, info)
        _check_bomb(path, name, info)
        with archive.open(info) as f:
            f.read(layout.start)
            return _columns(path, f"array {name}", f, layout, info.file_size - layout.start, columns, dtype)


@contextmanager
def _reading(path: str | os.PathLike[str], problem: str) -> Iterator[None]:
    """Turn whatever the libraries below raise on damaged bytes into a ReadError.

    They raise nearly anything (struct.error, zlib.error, OverflowError, SyntaxError, NotImplementedError ...), hence
    the wide net; and they warn of old headers, which is of no use to a user.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ReadError:
        raise
    except MemoryError:
        raise ReadError(path, "does not fit into memory") from None
    except FileNotFoundError:
        raise ReadError(path, "does not exist") from None
    except Exception as e:
        raise ReadError(path, f"{problem} ({type(e).__name__}: {e})") from None


def _members(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise ReadError(path, f"is a zip of {len(infos):,} files; at most {MAX_MEMBERS:,} are read")
    for info in infos:
        if info.filename.endswith(".npy"):
            yield info.filename.removesuffix(".npy"), info


def _member_layout(path: str | os.PathLike[str], archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> _Layout:
    # NumPy writes no other kinds, and Python's readers of those unpack without a limit.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ReadError(path, f"array {name} is compressed in a way (type {info.compress_type}) that NumPy never uses")
    with archive.open(info) as f:
        return _layout(path, f"array {name}", f)


def _load_member(
    path: str | os.PathLike[str], archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo
) -> NDArray[Any]:
    layout = _member_layout(path, archive, name, info)
    _check_bomb(path, name, info)
    with archive.open(info) as f:
        f.read(layout.start)
        return _data(path, f"array {name}", f, layout, info.file_size - layout.start)


def _check_bomb(path: str | os.PathLike[str], name: str, info: zipfile.ZipInfo) -> None:
    if info.file_size > BOMB_BYTES and info.file_size > BOMB_RATIO * info.compress_size:
        raise ReadError(
            path,
            f"array {name} claims to unpack {info.compress_size:,} bytes to {info.file_size:,}; that is a zip bomb",
        )


def _layout(path: str | os.PathLike[str], what: str, f: IO[bytes]) -> _Layout:
    version = npy_format.read_magic(f)[0]
    # Version 3 differs from 2 only in the encoding of field names, which are not used here.
    told = f.read(2 if version == 1 else 4)
    length = int.from_bytes(told, "little")
    if length > 4 * MAX_HEADER:  # a character has at most four
        raise ReadError(path, f"{what} has a header of {length:,} bytes; at most {4 * MAX_HEADER:,} are read")
    shape, fortran, dtype = _header(version, told + f.read(length))
    if len(shape) > MAX_DIMENSIONS or any(not 0 <= n <= MAX_BYTES for n in shape):
        raise ReadError(path, f"{what} declares the impossible shape {shape}")
    return _Layout(ArrayHeader(tuple(int(n) for n in shape), dtype), fortran, f.tell())


@lru_cache(maxsize=64)
def _header(version: int, text: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return what a header says, with its length in front; the files of a collection have few different ones."""
    parse = npy_format.read_array_header_1_0 if version == 1 else npy_format.read_array_header_2_0
    return parse(io.BytesIO(text), max_header_size=MAX_HEADER)


def _columns(
    path: str | os.PathLike[str],
    what: str,
    f: IO[bytes],
    layout: _Layout,
    there: int,
    columns: NDArray[np.integer],
    dtype: DTypeLike | None,
) -> NDArray[Any]:
    shape, stored = layout.header
    wanted = stored if dtype is None or stored.kind not in "biuf" else np.dtype(dtype)
    if layout.fortran or len(shape) != 2:
        out = _data(path, what, f, layout, there)[:, columns].astype(wanted, copy=False)
    else:
        _declared(path, what, layout, there)
        out = np.empty((shape[0], len(columns)), wanted)
        rows_at_a_time = max(1, BLOCK_BYTES // max(1, shape[1] * stored.itemsize))
        for first in range(0, shape[0], rows_at_a_time):
            rows = min(rows_at_a_time, shape[0] - first)
            data = _exactly(path, what, f, rows * shape[1] * stored.itemsize)
            out[first : first + rows] = np.frombuffer(data, stored).reshape(rows, -1)[:, columns]
    out.flags.writeable = False
    return out


def _data(path: str | os.PathLike[str], what: str, f: IO[bytes], layout: _Layout, there: int) -> NDArray[Any]:
    (shape, dtype), fortran = layout.header, layout.fortran
    data = _exactly(path, what, f, _declared(path, what, layout, there))  # A zip's member compares its checksum here.
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    if not holds_characters(array):
        raise ReadError(path, f"{what} holds text that is no text; the file is damaged")
    return array


def _declared(path: str | os.PathLike[str], what: str, layout: _Layout, there: int) -> int:
    """Return how many bytes an array has, once it is known that they are there, and plain."""
    shape, dtype = layout.header
    if dtype.hasobject:
        raise ReadError(
            path, f"{what} holds Python objects, which could run code when loaded; save it as numbers or text"
        )
    if dtype.kind not in PLAIN_KINDS or not dtype.itemsize:
        raise ReadError(path, f"{what} is of type {dtype}; expected plain numbers or text")
    declared = math.prod(shape) * dtype.itemsize
    if declared != there:
        raise ReadError(path, f"{what} declares {declared:,} bytes, shape {shape} of {dtype}, but {there:,} are there")
    if declared > MAX_BYTES:
        raise ReadError(path, f"{what} has {declared:,} bytes; at most {MAX_BYTES:,} are read")
    return declared


def _exactly(path: str | os.PathLike[str], what: str, f: IO[bytes], size: int) -> bytes:
    data = f.read(size)
    if len(data) != size:
        raise ReadError(path, f"{what} declares {size:,} bytes, but only {len(data):,} are there")
    return data


def holds_characters(array: NDArray[Any]) -> bool:
    """Return whether an array of text has only code points that exist, as Python breaks on others.

    It is true for arrays of anything else.
    """
    if array.dtype.kind != "U" or not array.size:
        return True
    codes = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return bool((codes <= sys.maxunicode).all())
