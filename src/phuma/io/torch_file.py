"""Files of `torch.save` are read here without torch: an archive of one pickle, and a file for each storage.

Nothing in it is executed: see `safe_pickle.py`. Tensors come out as NumPy arrays.
"""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import replace
from typing import Any

from phuma.errors import ReadError
from phuma.io.bounded import Bounded
from phuma.io.safe_pickle import load_stream, reading
from phuma.io.safe_pickle_classes import MAX_ARRAY, MAX_BYTES, Refused
from phuma.io.safe_pickle_tensors import Storage, declared_storage

MAX_PICKLE = 64 << 20
"""Bytes of the pickle, which holds no arrays"""
MAX_MEMBERS = 100_000


def is_torch(path: str | os.PathLike[str]) -> bool:
    """Return whether an archive is one that `torch.save` writes."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _pickle_of(archive) is not None
    except Exception:  # Damaged archives raise nearly anything.
        return False


def load_torch(path: str | os.PathLike[str]) -> Any:
    """Return the data of a file of `torch.save`; arrays that are too large to be wanted come as `Unread`."""
    with reading(path), zipfile.ZipFile(path) as archive:
        info = _pickle_of(archive)
        if info is None:
            raise ReadError(path, "is an archive without a data.pkl; expected a file of torch.save")
        size = sum(i.file_size for i in archive.infolist())
        if size > MAX_BYTES:
            raise ReadError(path, f"has {size:,} bytes; torch files of at most {MAX_BYTES:,} are read")
        return _Archive(archive, info).load()


def _pickle_of(archive: zipfile.ZipFile) -> zipfile.ZipInfo | None:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        return None
    return next((i for i in infos if i.filename.count("/") == 1 and i.filename.endswith("/data.pkl")), None)


class _Archive:
    """An archive of `torch.save`: what its pickle names is read once, whoever shares it."""

    def __init__(self, archive: zipfile.ZipFile, pickle: zipfile.ZipInfo) -> None:
        self._archive, self._pickle = archive, pickle
        self._folder = pickle.filename.removesuffix("data.pkl")
        self._storages: dict[str, Storage] = {}

    def load(self) -> Any:
        """Return what the pickle holds."""
        if self._folder + "byteorder" in self._archive.namelist():
            order = self._archive.getinfo(self._folder + "byteorder")
            if order.file_size > 16 or self._member(order) != b"little":
                raise Refused("numbers whose last byte comes first")
        if self._pickle.file_size > MAX_PICKLE:
            raise Refused(f"a pickle of {self._pickle.file_size:,} bytes; at most {MAX_PICKLE:,} of it are read")
        data = self._member(self._pickle)
        return load_stream(Bounded(io.BytesIO(data), len(data)), self._storage_of)

    def _storage_of(self, pid: Any) -> Storage:
        declared = declared_storage(pid)
        if declared.key not in self._storages:
            self._storages[declared.key] = self._read(declared)
        stored = self._storages[declared.key]
        if replace(stored, data=None) != declared:
            raise Refused(f"storage {declared.key} in two ways")
        return stored

    def _read(self, declared: Storage) -> Storage:
        try:
            info = self._archive.getinfo(f"{self._folder}data/{declared.key}")
        except KeyError:
            raise Refused(f"storage {declared.key}, which is not there") from None
        size = declared.count * declared.dtype.itemsize
        if info.file_size != size:
            raise Refused(f"{size:,} bytes of storage {declared.key}, which has {info.file_size:,}")
        return declared if size > MAX_ARRAY else replace(declared, data=self._member(info))

    def _member(self, info: zipfile.ZipInfo) -> bytes:
        # torch never compresses; where nothing is, no small file can unpack to a large one.
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise Refused(f"{info.filename}, which is compressed")
        return self._archive.read(info)
