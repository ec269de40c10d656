"""Untrusted pickles are read here: data comes out, code never runs.

A pickle is a program that may call anything it can name. Here it can name only the classes and functions of
`safe_pickle_classes.py` and `safe_pickle_tensors.py`. A pickle of joblib's is interrupted by the bytes of its arrays.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import struct
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from phuma.errors import ReadError
from phuma.io.bounded import Bounded, Inflated, is_deflated
from phuma.io.safe_pickle_classes import (
    KNOWN,
    MAX_ARRAY,
    MAX_BYTES,
    Chumpy,
    Csc,
    Csr,
    Dtype,
    JoblibArray,
    PickledArray,
    Refused,
    Stub,
    Unread,
    array_of,
    as_array,
    simple_keys,
)
from phuma.io.safe_pickle_tensors import TORCH, Storage, declared_storage

__all__ = ["as_array", "load_pickle"]

MAX_DEPTH = 2  # pickles within a pickle
MAX_STORAGES = 20_000  # of torch's within one pickle
STORAGE_HEAD = 4096  # bytes of the pickles before a storage's elements
TORCH_MARKS = (0x1950A86A20F9469CFC6C, 1001)
StorageOf = Callable[[Any], Storage]
"""Finds the storage that a persistent id names"""

ALLOWED = {**KNOWN, **TORCH}
_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # Python 2's names


_PythonUnpickler: Any = pickle._Unpickler  # its methods are not in the type stubs


class _Unpickler(_PythonUnpickler):
    """This is Python's own unpickler in Python, as the one in C takes memory for any memo index that a file names.

    It is a private class of the standard library: tests/io/test_safe_pickle.py pins what is relied on.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(_PythonUnpickler.dispatch)

    def __init__(self, source: Bounded, storage_of: StorageOf | None = None, outer: _Unpickler | None = None) -> None:
        super().__init__(source, encoding="latin1")
        self._source, self._storage_of = source, storage_of
        self._depth: int = outer._depth + 1 if outer else 0
        self._made: Counter[str] = outer._made if outer else Counter()

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch.storage", "_load_from_bytes"):
            return self._storage_in
        known = ALLOWED.get((_OLD_MODULES.get(module, module), name))
        if known is not None:
            return known
        if module.split(".")[0] == "chumpy":
            return Chumpy
        if module.startswith("scipy.sparse") and name in ("csc_matrix", "csc_array", "csr_matrix", "csr_array"):
            return Csc if name.startswith("csc") else Csr
        raise Refused(f"{module}.{name}"[:200])

    def load_reduce(self) -> None:
        super().load_reduce()
        self._charge(sys.getsizeof(self.stack[-1]))

    def persistent_load(self, pid: Any) -> Storage:
        if self._storage_of is None:
            raise Refused("a persistent id")
        storage = self._storage_of(pid)
        self._charge(len(storage.data or b""))
        return storage

    def load_build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        # Else a file could change the safe pickle classes themselves.
        if not isinstance(target, (Dtype, PickledArray, Stub)):
            raise Refused(f"a state for an object of type {type(target).__name__}")
        target.__setstate__(state)
        if isinstance(target, JoblibArray):
            self.stack[-1] = self._array_behind(target)
        self._charge(target.nbytes if isinstance(target, PickledArray) else 0)

    def _array_behind(self, wrapper: JoblibArray) -> Any:
        """Return the array whose bytes follow in the file; one of objects is a pickle of its own."""
        shape, dtype, fortran, padded = wrapper.header()
        if dtype.hasobject:
            return self._within(self._source).load()
        if padded:
            self._source.skip(self._source.read(1)[0])
        size = math.prod(shape) * dtype.itemsize
        if size > MAX_ARRAY:
            self._source.skip(size)
            return Unread(shape, dtype)
        self._charge(size)
        return array_of(self._source.read(size), shape, dtype, fortran)

    def _storage_in(self, data: Any) -> Storage:
        """`torch.storage._load_from_bytes`: five pickles, of which the fourth names a storage; its elements follow."""
        self._made["storages"] += 1
        if not isinstance(data, bytes) or self._made["storages"] > MAX_STORAGES:
            raise Refused("a storage of torch's without its bytes, or too many of them")
        self._charge(len(data))
        stream = io.BytesIO(data)
        pickles = Bounded(stream, min(len(data), STORAGE_HEAD))
        magic, version, _, storage, keys = (self._within(pickles, declared_storage).load() for _ in range(5))
        if (magic, version) != TORCH_MARKS or not isinstance(storage, Storage) or keys != [storage.key]:
            raise Refused("bytes that are no storage of torch's")
        elements = Bounded(stream, len(data) - stream.tell())
        if int.from_bytes(elements.read(8), "little") != storage.count:
            raise Refused("a storage of torch's of another length than it says")
        return replace(storage, data=elements.read(storage.count * storage.dtype.itemsize))

    def _within(self, source: Bounded, storage_of: StorageOf | None = None) -> _Unpickler:
        if self._depth == MAX_DEPTH:
            raise Refused("pickles within pickles within pickles")
        return _Unpickler(source, storage_of, self)

    def load_bytearray8(self) -> None:
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(size)))  # read before memory is taken

    def load_setitem(self) -> None:
        self._check(self.stack[-3], dict, self.stack[-2:-1])
        super().load_setitem()

    def load_setitems(self) -> None:
        self._check(self.metastack[-1][-1], dict, self.stack[::2])
        super().load_setitems()

    def load_dict(self) -> None:
        self._check({}, dict, self.stack[::2])
        super().load_dict()

    def load_additems(self) -> None:
        self._check(self.metastack[-1][-1], set, self.stack)
        super().load_additems()

    def load_frozenset(self) -> None:
        self._check(set(), set, self.stack)
        super().load_frozenset()

    def load_append(self) -> None:
        self._check(self.stack[-2], list)
        super().load_append()

    def load_appends(self) -> None:
        self._check(self.metastack[-1][-1], list)
        super().load_appends()

    def _check(self, target: Any, kind: type, keys: Iterable[Any] = ()) -> None:
        if type(target) is not kind:
            raise Refused(f"items for an object of type {type(target).__name__}")
        simple_keys(keys)

    def _charge(self, size: int) -> None:
        # A few bytes that ask for a copy of a long text a thousand times would else fill the memory.
        self._made["bytes"] += size
        if self._made["bytes"] > MAX_BYTES:
            raise Refused(f"more than {MAX_BYTES:,} bytes")


for _opcode, _method in {
    pickle.REDUCE: _Unpickler.load_reduce,
    pickle.BUILD: _Unpickler.load_build,
    pickle.BYTEARRAY8: _Unpickler.load_bytearray8,
    pickle.SETITEM: _Unpickler.load_setitem,
    pickle.SETITEMS: _Unpickler.load_setitems,
    pickle.DICT: _Unpickler.load_dict,
    pickle.ADDITEMS: _Unpickler.load_additems,
    pickle.FROZENSET: _Unpickler.load_frozenset,
    pickle.APPEND: _Unpickler.load_append,
    pickle.APPENDS: _Unpickler.load_appends,
}.items():
    _Unpickler.dispatch[_opcode[0]] = _method


def load_pickle(path: str | os.PathLike[str], start: int = 0) -> Any:
    """Return the data of a pickle, which may begin `start` bytes into its file, or be joblib's, compressed or not.

    Arrays of libraries that are not needed come as safe pickle classes: see `as_array`.
    """
    with reading(path), open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        if size > MAX_BYTES:
            raise ReadError(path, f"has {size:,} bytes; pickles of at most {MAX_BYTES:,} are read")
        deflated = not start and is_deflated(f.read(3))
        f.seek(start)
        if deflated:
            return load_stream(Bounded(io.BufferedReader(Inflated(f, MAX_BYTES)), 2 * MAX_BYTES))
        return load_stream(Bounded(f, size - start))


def load_stream(source: Bounded, storage_of: StorageOf | None = None) -> Any:
    """Return the data of the pickle that begins here; `storage_of` finds what its persistent ids name."""
    return _Unpickler(source, storage_of).load()


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever an unpickler raises on untrusted bytes into a ReadError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers out of range
            yield
    except ReadError:
        raise
    except Refused as e:
        raise ReadError(path, f"is a pickle that asks for {e}; only plain data is read, nothing is executed") from None
    except MemoryError:
        raise ReadError(path, "does not fit into memory") from None
    except FileNotFoundError:
        raise ReadError(path, "does not exist") from None
    except Exception as e:  # Damaged bytes make an unpickler raise nearly anything.
        raise ReadError(path, f"is not a readable pickle ({type(e).__name__}: {e})") from None
