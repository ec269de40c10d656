"""Dictionaries of tensors as `torch.save` writes them, without torch.

The file is an uncompressed zip: `data.pkl` is a pickle of the dictionary in which a tensor's values are named by a
number, and `data/NUMBER` holds them, at a multiple of 64 bytes. Torch has read this layout since its version 1.6.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from phuma.dataset.formats.pickled import Call, Elsewhere, Global, dumps
from phuma.files.atomic import ZIP_EPOCH, write_atomic

STORAGES = {"float32": "FloatStorage", "bool": "BoolStorage"}
ALIGNMENT = 64
LOCAL_HEADER = 30  # bytes of a zip member's header, before its name
PADDING = 0x4246  # what torch calls the extra field that it pads with


def save_torch(path: str | os.PathLike[str], values: Mapping[str, NDArray[Any] | float]) -> None:
    """Arrays of float32 or bool as tensors, numbers as they are; the same to the byte for the same values."""
    tensors = [v for v in values.values() if isinstance(v, np.ndarray)]
    index = {id(v): n for n, v in enumerate(tensors)}
    content = {k: _tensor(v, index[id(v)]) if isinstance(v, np.ndarray) else v for k, v in values.items()}

    def write(f: BinaryIO) -> None:
        with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
            _add(f, archive, "data.pkl", dumps(content, protocol=2))  # torch warns of other protocols
            _add(f, archive, "byteorder", b"little")
            for n, tensor in enumerate(tensors):
                _add(f, archive, f"data/{n}", tensor.astype(tensor.dtype.newbyteorder("<")).tobytes())
            _add(f, archive, "version", b"3\n")

    write_atomic(path, write)


def _tensor(values: NDArray[Any], n: int) -> Call:
    strides = tuple(math.prod(values.shape[i + 1 :]) for i in range(values.ndim))
    storage = Elsewhere(("storage", Global("torch", STORAGES[values.dtype.name]), str(n), "cpu", values.size))
    no_hooks = Call(Global("collections", "OrderedDict"), ())
    return Call(Global("torch._utils", "_rebuild_tensor_v2"), (storage, 0, values.shape, strides, False, no_hooks))


def _add(f: BinaryIO, archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(f"motion/{name}", ZIP_EPOCH)
    info.create_system = 3  # else it is the system that writes
    info.external_attr = 0o644 << 16
    pad = -(f.tell() + LOCAL_HEADER + len(info.filename) + 4) % ALIGNMENT
    info.extra = struct.pack("<HH", PADDING, pad) + bytes(pad)
    archive.writestr(info, data)
