"""Pickles of plain data, written opcode by opcode.

The bytes depend on the data alone, not on the versions of Python and NumPy, and arrays are named as all versions of
NumPy know them: NumPy 2's own pickles cannot be read by NumPy 1.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Global(NamedTuple):
    """A function or class by its name."""

    module: str
    name: str


class Call(NamedTuple):
    """What a function returns for `args`, and then a state that is set on it."""

    function: Global
    args: tuple[Any, ...]
    state: tuple[Any, ...] | None = None


class Elsewhere(NamedTuple):
    """A thing that the reader finds by its id, outside of the pickle."""

    id: tuple[Any, ...]


def dumps(value: Any, protocol: int = 3) -> bytes:
    """Dictionaries, lists, tuples, texts, numbers, bytes (from protocol 3), arrays, and the three above."""
    return pickle.PROTO + bytes([protocol]) + _dump(value) + pickle.STOP


def array(values: NDArray[Any]) -> Call:
    """A NumPy array of numbers."""
    values = np.ascontiguousarray(values)
    values = values.astype(values.dtype.newbyteorder("<"))
    order = "|" if values.dtype.itemsize == 1 else "<"
    return _array(values.shape, _dtype(values.dtype.str[1:], order, 0), values.tobytes())


def object_array(value: Any) -> Call:
    """A NumPy array without dimensions around any object: what `numpy.save` makes of a dictionary."""
    return _array((), _dtype("O8", "|", 63), [value])


def _array(shape: tuple[int, ...], dtype: Call, data: bytes | list[Any]) -> Call:
    rebuild = Global("numpy.core.multiarray", "_reconstruct")
    return Call(rebuild, (Global("numpy", "ndarray"), (0,), b"b"), (1, shape, dtype, False, data))


def _dtype(code: str, order: str, flags: int) -> Call:
    return Call(Global("numpy", "dtype"), (code, False, True), (3, order, None, None, None, -1, -1, flags))


def _dump(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        value = array(value)
    if isinstance(value, Global):
        return pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode()
    if isinstance(value, Call):
        state = b"" if value.state is None else _dump(value.state) + pickle.BUILD
        return _dump(value.function) + _dump(value.args) + pickle.REDUCE + state
    if isinstance(value, Elsewhere):
        return _dump(value.id) + pickle.BINPERSID
    if isinstance(value, tuple):
        return pickle.MARK + b"".join(map(_dump, value)) + pickle.TUPLE
    if isinstance(value, list):
        return pickle.EMPTY_LIST + pickle.MARK + b"".join(map(_dump, value)) + pickle.APPENDS
    if isinstance(value, dict):
        items = b"".join(_dump(k) + _dump(v) for k, v in value.items())
        return pickle.EMPTY_DICT + pickle.MARK + items + pickle.SETITEMS
    return _atom(value)


def _atom(value: Any) -> bytes:
    if value is None:
        return pickle.NONE
    if isinstance(value, bool):
        return pickle.NEWTRUE if value else pickle.NEWFALSE
    if isinstance(value, int):
        return pickle.BININT + struct.pack("<i", value)
    if isinstance(value, float):
        return pickle.BINFLOAT + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return pickle.BINUNICODE + struct.pack("<I", len(text)) + text
    assert isinstance(value, bytes), type(value)
    return pickle.BINBYTES + struct.pack("<I", len(value)) + value
