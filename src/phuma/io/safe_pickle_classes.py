"""Safe pickle classes stand for what a pickle of plain data names.

They rebuild arrays, texts and dictionaries, and nothing else. Each is harmless whatever a file calls it with. NumPy's
own rebuilders are not, as they trust flags of the file and so could be led to take its bytes for pointers.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from phuma.errors import ReadError
from phuma.io.npz import holds_characters

MAX_BYTES = 4 << 30  # of a pickle, and of the arrays in it together
MAX_ARRAY = 128 << 20  # of one array of a torch or joblib file, which may hold masks and meshes that nobody wants
_NO_ARRAY: NDArray[Any] = np.zeros(())


class Refused(Exception):
    """The pickle asks for something that plain data does not need."""


class _Marker:
    """A marker stands where a pickle names a class only to hand it on: `numpy.ndarray`, `object`."""


class Dtype:
    """This class stands for a numpy.dtype of numbers, text or objects."""

    def __init__(self, code: Any = None, *_: Any) -> None:
        code = code.decode("latin1") if isinstance(code, bytes) else code
        if not (isinstance(code, str) and re.fullmatch(r"[biufcSUO][0-9]{0,9}", code)):
            raise Refused("an array type that is neither numbers nor text")
        self.code, self.order = code, "="

    def __setstate__(self, state: Any) -> None:
        order, *structure = state[1:5]
        order = order.decode("latin1") if isinstance(order, bytes) else order
        if order not in ("<", ">", "|", "=") or any(part is not None for part in structure):
            raise Refused("an array type with fields")
        self.order = order

    def dtype(self) -> np.dtype:
        """Return the NumPy type."""
        return np.dtype("O") if self.code[0] == "O" else np.dtype(self.order + self.code)


class PickledArray(np.ndarray):
    """This array fills itself from a pickle after checking what it is told."""

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, data = state
        dtype = plain(kind)
        count = _count(shape)
        if dtype.hasobject:
            if not (isinstance(data, list) and len(data) == count):
                raise Refused(f"an array of {count} objects without as many values")
        else:
            data = _raw(data, count * dtype.itemsize)
        checked: Any = (1, shape, dtype, bool(fortran), data)
        super().__setstate__(checked)
        _text(self)


class Stub:
    """A stub stands for an object of a library that is not needed to get at its data.

    What the file calls its attributes stays in a dictionary: NumPy trusts attributes of some names with addresses.
    """

    state: Mapping[Any, Any] = MappingProxyType({})

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise Refused(f"a {type(self).__name__} object without attributes")
        self.state = state


class Chumpy(Stub):
    """This class stands for a chumpy array; `x` holds the values."""


class Csc(Stub):
    """This class stands for a scipy.sparse matrix by columns."""


class Csr(Stub):
    """This class stands for a scipy.sparse matrix by rows."""


class JoblibArray(Stub):
    """This class stands for joblib's NumpyArrayWrapper: the array's bytes follow in the file, outside the pickle."""

    def header(self) -> tuple[tuple[int, ...], np.dtype, bool, bool]:
        """Return the array's shape and type, whether Fortran's order holds, and whether padding comes before it."""
        state = self.state
        shape, padding = state.get("shape"), state.get("numpy_array_alignment_bytes")
        _count(shape)
        return cast("tuple[int, ...]", shape), plain(state.get("dtype")), state.get("order") == "F", padding is not None


class Unread(NamedTuple):
    """This stands for an array that is so large that it was passed over."""

    shape: tuple[int, ...]
    dtype: np.dtype


def plain(kind: Any) -> np.dtype:
    """Return the NumPy type of numbers, text or objects that a pickle names."""
    if not isinstance(kind, Dtype):
        raise Refused("an array without a type")
    return kind.dtype()


def _count(shape: Any) -> int:
    if not (isinstance(shape, tuple) and len(shape) <= 32 and all(is_length(n) for n in shape)):
        raise Refused("an array of an impossible shape")
    return math.prod(shape)


def is_length(n: Any) -> bool:
    """Return whether this can be the length of an array."""
    return type(n) is int and 0 <= n <= MAX_BYTES


def array_of(data: bytes, shape: tuple[int, ...], dtype: np.dtype, fortran: bool) -> NDArray[Any]:
    """Return an array over its bytes, which have to be as many as its shape says; read-only."""
    raw = _raw(data, _count(shape) * dtype.itemsize)
    if not dtype.itemsize:
        raise Refused("an array of empty texts")
    return _text(np.frombuffer(raw, dtype)).reshape(shape, order="F" if fortran else "C")


def _raw(data: Any, size: int) -> bytes:
    if isinstance(data, str):  # Python 2's strings of bytes arrive as latin-1 text.
        data = data.encode("latin1")
    if not isinstance(data, (bytes, bytearray, memoryview)) or len(data) != size:
        raise Refused(f"an array of {size:,} bytes without as many bytes of data")
    return bytes(data)


def _text(array: NDArray[Any]) -> NDArray[Any]:
    if not holds_characters(array):
        raise Refused("text that is no text")
    return array


def _reconstruct(*_: Any) -> PickledArray:
    """`numpy._core.multiarray._reconstruct`: an empty array; shape and values follow."""
    return np.ndarray.__new__(PickledArray, (0,))


def _frombuffer(data: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    """`numpy._core.numeric._frombuffer`, of pickle protocol 5."""
    dtype = plain(kind)
    if dtype.hasobject:
        raise Refused("an array of objects from a buffer")
    _count(shape)
    return array_of(data, shape, dtype, order == "F")


def _scalar(kind: Any, data: Any = None) -> Any:
    """`numpy._core.multiarray.scalar`."""
    dtype = plain(kind)
    if dtype.hasobject or not dtype.itemsize:
        raise Refused("a scalar of objects")
    return _text(np.frombuffer(_raw(data, dtype.itemsize), dtype))[0]


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """`_codecs.encode`, with which Python 3 writes bytes into old protocols."""
    if not isinstance(text, str) or str(encoding).replace("-", "").replace("_", "") != "latin1":
        raise Refused("_codecs.encode of something else than latin1 text")
    return text.encode("latin1")


def _reconstructor(cls: Any, *_: Any) -> Any:
    """`copyreg._reconstructor`: an object of old protocols, its attributes to follow."""
    if not (isinstance(cls, type) and issubclass(cls, Stub)):
        raise Refused("copyreg._reconstructor of an unknown class")
    return cls()


def _bytearray(data: Any = b"", encoding: Any = "latin1") -> bytearray:
    return bytearray(data if isinstance(data, bytes) else _encode(data, encoding))


def _dict(items: Any = ()) -> dict[Any, Any]:
    pairs = list(items.items()) if isinstance(items, dict) else [tuple(pair) for pair in items]
    return dict(zip(simple_keys(k for k, _ in pairs), (v for _, v in pairs)))


def _defaultdict(*_: Any) -> dict[Any, Any]:
    """`collections.defaultdict`: its items follow; what makes missing ones is not asked."""
    return {}


def _set(items: Any = ()) -> set[Any]:
    return set(simple_keys(items))


def simple_keys(items: Iterable[Any]) -> list[Any]:
    """Return the keys if all are of simple types: hashing tuples of tuples of the same tuple takes forever."""
    keys = list(items)
    for key in keys:
        if not isinstance(key, (str, bytes, int, float, np.integer, type(None))):
            raise Refused(f"a key of type {type(key).__name__}")
    return keys


_NUMPY: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Marker,
    ("numpy", "memmap"): _Marker,
    ("numpy", "dtype"): Dtype,
}
for _core in ("numpy.core", "numpy._core"):
    _NUMPY[_core + ".multiarray", "_reconstruct"] = _reconstruct
    _NUMPY[_core + ".multiarray", "scalar"] = _scalar
    _NUMPY[_core + ".numeric", "_frombuffer"] = _frombuffer

KNOWN: dict[tuple[str, str], Callable[..., Any]] = {
    **_NUMPY,
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): JoblibArray,
    ("collections", "OrderedDict"): _dict,
    ("collections", "defaultdict"): _defaultdict,
    ("_codecs", "encode"): _encode,
    ("copyreg", "_reconstructor"): _reconstructor,
    ("builtins", "object"): _Marker,
    ("builtins", "dict"): _dict,
    ("builtins", "set"): _set,
    ("builtins", "frozenset"): _set,
    ("builtins", "bytearray"): _bytearray,
    ("builtins", "complex"): complex,
}


def as_array(path: str | os.PathLike[str], name: str, value: Any) -> NDArray[Any]:
    """Return a value out of `load_pickle` as a plain array; arrays, chumpy's arrays and sparse matrices can be."""
    if isinstance(value, Unread):
        size = math.prod(value.shape) * value.dtype.itemsize
        raise ReadError(
            path, f"{name} has {size:,} bytes; at most {MAX_ARRAY:,} of an array are read: cut the recording"
        )
    if isinstance(value, Chumpy):
        value = value.state.get("x")
    if isinstance(value, (Csc, Csr)):
        value = _dense(path, name, value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        raise ReadError(path, f"{name} is not an array of numbers")
    return np.asarray(value)


def _dense(path: str | os.PathLike[str], name: str, matrix: Stub) -> NDArray[Any]:
    state = matrix.state
    shape: Any = state.get("_shape", state.get("shape"))
    data, inner, starts = parts = [state.get(k, _NO_ARRAY) for k in ("data", "indices", "indptr")]
    by_column = isinstance(matrix, Csc)
    sized = (
        all(
            isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype.kind in k for a, k in zip(parts, ("biuf", "iu", "iu"))
        )
        and isinstance(shape, tuple)
        and len(shape) == 2
        and all(is_length(n) for n in shape)
        and math.prod(shape) <= MAX_BYTES // 64
        and len(starts) == shape[by_column] + 1
        and len(data) == len(inner)
    )
    if not (sized and _points_inside(starts, len(data), inner, shape[1 - by_column])):
        raise ReadError(path, f"{name} is a damaged sparse matrix")
    outer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    out = np.zeros(shape)
    np.add.at(out, (inner, outer) if by_column else (outer, inner), data)
    return out


def _points_inside(starts: NDArray[Any], count: int, inner: NDArray[Any], size: int) -> bool:
    ordered = int(starts[0]) == 0 and int(starts[-1]) == count and bool((starts[1:] >= starts[:-1]).all())
    return ordered and (not count or (int(inner.min()) >= 0 and int(inner.max()) < size))
