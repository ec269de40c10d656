"""Arrays as the bytes of an `.npy` or `.npz`: the same values give the same bytes, at any time and on any system.

They are those that numpy and zipfile would write. Done here, small files take a fraction of the time: what many of them
hold alike, headers, names and other short arrays, is made and compressed once.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["npy_bytes", "npz_bytes"]

DEFLATE_LEVEL = 6
SHORT = 4096
"""Bytes up to which what an array is compressed to is remembered"""
LARGEST = 2**32 - 2
"""Bytes that the fields of a zip can tell"""
_VERSION, _UNIX, _DEFLATED = 20, 3, 8
_EPOCH = 1 << 5 | 1  # the first day of 1980, the earliest that a zip can hold: nothing may depend on the time of day
_MODE = 0o644 << 16


def npy_bytes(value: NDArray[Any] | str) -> bytes:
    """Return the content of an `.npy` of an array or a text, without pickle."""
    import numpy as np

    # In C order, as equal arrays of different layout would else be different files.
    array = np.asarray(value, order="C")
    if array.dtype.hasobject:
        raise ValueError(f"an array of {array.dtype} is only written with allow_pickle, which would be unsafe to read")
    return _header(array.dtype, array.shape) + array.tobytes()


@lru_cache(maxsize=256)
def _header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    from numpy.lib import format as npy_format

    stream = io.BytesIO()
    about = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy_format.write_array_header_1_0(stream, about)
    return stream.getvalue()


def npz_bytes(arrays: Mapping[str, NDArray[Any] | str], level: int = DEFLATE_LEVEL) -> bytes:
    """Return the content of an `.npz` of arrays and texts, in order of their names, compressed unless `level` is 0."""
    members: list[bytes] = []
    directory: list[bytes] = []
    at = 0
    for name in sorted(arrays):
        data, file = npy_bytes(arrays[name]), f"{name}.npy".encode("ascii")
        packed = _packed_once(data, level) if len(data) <= SHORT else _packed(data, level)
        if max(at, len(data), len(packed)) > LARGEST:
            raise ValueError(f"{name} has {len(data):,} bytes; a zip holds {LARGEST:,}")
        sizes = struct.pack("<LLLHH", zlib.crc32(data), len(packed), len(data), len(file), 0)
        about = struct.pack("<HHHHH", _VERSION, 0, _DEFLATED, 0, _EPOCH) + sizes
        members += [b"PK\3\4", about, file, packed]
        directory += [b"PK\1\2", bytes([_VERSION, _UNIX]), about, struct.pack("<HHHLL", 0, 0, 0, _MODE, at), file]
        at += 4 + len(about) + len(file) + len(packed)
    listed, count = b"".join(directory), len(arrays)
    end = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, len(listed), at, 0)
    return b"".join([*members, listed, end])


def _packed(data: bytes, level: int) -> bytes:
    deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflate.compress(data) + deflate.flush()


_packed_once = lru_cache(maxsize=64)(_packed)
