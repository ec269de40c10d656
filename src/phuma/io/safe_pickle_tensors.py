"""Safe pickle classes stand for torch's tensors, which come out as NumPy arrays; torch itself is not needed.

A tensor is a view of a storage: an offset, a size and strides, all counted in elements. Where a storage's bytes lie is
the container's matter: in a file of the archive that `torch.save` writes, or behind a pickle within a pickle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phuma.io.safe_pickle_classes import MAX_BYTES, Refused, Unread, is_length

_NUMBERS = {
    "Float": "f4", "Double": "f8", "Half": "f2", "BFloat16": "V2", "Long": "i8", "Int": "i4", "Short": "i2",
    "Char": "i1", "Byte": "u1", "Bool": "?", "ComplexFloat": "c8", "ComplexDouble": "c16",
}  # fmt: skip


class StorageType(NamedTuple):
    """This stands for a class of torch's storages: what its elements are."""

    dtype: np.dtype


@dataclass(frozen=True)
class Storage:
    """A storage is the elements that one or more tensors share."""

    key: str
    dtype: np.dtype
    count: int
    data: bytes | None
    """None where there are too many to be read"""


def declared_storage(pid: Any) -> Storage:
    """Return what a persistent id says of a storage, without its data: a word, type, key, place and length."""
    if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage" and isinstance(pid[1], StorageType)):
        raise Refused("a persistent id that is no storage of torch's")
    key, count = pid[2], pid[4]
    if not (isinstance(key, str) and len(key) <= 40 and is_length(count)):
        raise Refused("a storage without a key or a length")
    return Storage(key, pid[1].dtype, count, None)


def _rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> NDArray[Any] | Unread:
    """`torch._utils._rebuild_tensor_v2`: a view of a storage, read-only."""
    lengths = isinstance(size, tuple) and isinstance(stride, tuple) and len(size) == len(stride) <= 32
    if not (isinstance(storage, Storage) and lengths and all(is_length(n) for n in (offset, *size, *stride))):
        raise Refused("a tensor of an impossible shape")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride))
    if math.prod(size) * storage.dtype.itemsize > MAX_BYTES or (math.prod(size) and last >= storage.count):
        raise Refused("a tensor that is larger than its storage")
    if storage.data is None:
        return Unread(size, storage.dtype)
    if not math.prod(size):
        return np.zeros(size, storage.dtype)
    elements = np.frombuffer(storage.data, storage.dtype)[offset:]
    steps = [s * storage.dtype.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(elements, size, steps, writeable=False)


def _size(lengths: Any = ()) -> tuple[Any, ...]:
    """`torch.Size`."""
    if not (isinstance(lengths, tuple) and all(is_length(n) for n in lengths)):
        raise Refused("torch.Size of something else than lengths")
    return lengths


TORCH: dict[tuple[str, str], Any] = {
    **{("torch", f"{name}Storage"): StorageType(np.dtype(code)) for name, code in _NUMBERS.items()},
    ("torch.storage", "UntypedStorage"): StorageType(np.dtype("u1")),
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch", "Size"): _size,
}
"""The names of torch that a pickle may use, beside `torch.storage._load_from_bytes`, which `safe_pickle.py` parses"""
