"""Untrusted pickles are read here: data comes out, code never runs.

A pickle is a program that may call anything it can name. Here it can name only the classes and functions of
`safe_pickle_classes.py`.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import warnings
from collections.abc import Iterable
from typing import IO, Any, ClassVar

from phuma.errors import ReadError
from phuma.io.safe_pickle_classes import (
    KNOWN,
    MAX_BYTES,
    Chumpy,
    Csc,
    Csr,
    Dtype,
    PickledArray,
    Refused,
    Stub,
    as_array,
    simple_keys,
)

__all__ = ["as_array", "load_pickle"]

_OLD_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # Python 2's names


_PythonUnpickler: Any = pickle._Unpickler  # its methods are not in the type stubs


class _Unpickler(_PythonUnpickler):
    """This is Python's own unpickler in Python, as the one in C takes memory for any memo index that a file names.

    It is a private class of the standard library: tests/io/test_safe_pickle.py pins what is relied on.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(_PythonUnpickler.dispatch)

    def __init__(self, file: _Bounded) -> None:
        super().__init__(file, encoding="latin1")
        self._made = 0

    def find_class(self, module: str, name: str) -> Any:
        known = KNOWN.get((_OLD_MODULES.get(module, module), name))
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

    def load_build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        # Else a file could change the safe pickle classes themselves.
        if not isinstance(target, (Dtype, PickledArray, Stub)):
            raise Refused(f"a state for an object of type {type(target).__name__}")
        target.__setstate__(state)
        self._charge(target.nbytes if isinstance(target, PickledArray) else 0)

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
        self._made += size
        if self._made > MAX_BYTES:
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


class _Bounded:
    """A bounded file refuses to read beyond its end, before memory is taken for what is not there."""

    def __init__(self, f: IO[bytes], size: int) -> None:
        self._f, self._left = f, size

    def read(self, n: int) -> bytes:
        if n > self._left:
            raise EOFError(f"{n:,} bytes wanted, {self._left:,} left")
        self._left -= n
        return self._f.read(n)

    def readline(self) -> bytes:
        line = self._f.readline()
        self._left -= len(line)
        return line


def load_pickle(path: str | os.PathLike[str], start: int = 0) -> Any:
    """Return the data of a pickle, which may begin `start` bytes into its file.

    Arrays of libraries that are not needed come as safe pickle classes: see `as_array`.
    """
    try:
        with open(path, "rb") as f, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers out of range
            size = os.fstat(f.fileno()).st_size
            if size > MAX_BYTES:
                raise ReadError(path, f"has {size:,} bytes; pickles of at most {MAX_BYTES:,} are read")
            f.seek(start)
            return _Unpickler(_Bounded(f, size - start)).load()
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
