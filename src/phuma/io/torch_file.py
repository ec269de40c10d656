"""Files of `torch.save` are read here without torch: an archive of one pickle, and a file for each storage.

Nothing in it is executed: see `safe_pickle.py`. Tensors come out as NumPy arrays, read when they are wanted.
"""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import replace
from functools import partial
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
    """Return the data of a file of `torch.save`; tensors come as `Unread`, which `as_array` reads."""
    with reading(path), zipfile.ZipFile(path) as archive:
        info = _pickle_of(archive)
        if info is None:
            raise ReadError(path, "is an archive without a data.pkl; expected a file of torch.save")
        size = sum(i.file_size for i in archive.infolist())
        if size > MAX_BYTES:
            raise ReadError(path, f"has {size:,} bytes; torch files of at most {MAX_BYTES:,} are read")
        return _Archive(path, archive, info).load()


def _pickle_of(archive: zipfile.ZipFile) -> zipfile.ZipInfo | None:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        return None
    return next((i for i in infos if i.filename.count("/") == 1 and i.filename.endswith("/data.pkl")), None)


class _Archive:
    """An archive of `torch.save`: the pickle is read, and later those of its storages that are wanted."""

    def __init__(self, path: str | os.PathLike[str], archive: zipfile.ZipFile, pickle: zipfile.ZipInfo) -> None:
        self._path, self._archive, self._pickle = path, archive, pickle
        self._folder = pickle.filename.removesuffix("data.pkl")
        self._storages: dict[str, Storage] = {}

    def load(self) -> Any:
        """Return what the pickle holds."""
        if self._folder + "byteorder" in self._archive.namelist():
            order = self._archive.getinfo(self._folder + "byteorder")
            if order.file_size > 16 or _member(self._archive, order) != b"little":
                raise Refused("numbers whose last byte comes first")
        if self._pickle.file_size > MAX_PICKLE:
            raise Refused(f"a pickle of {self._pickle.file_size:,} bytes; at most {MAX_PICKLE:,} of it are read")
        data = _member(self._archive, self._pickle)
        return load_stream(Bounded(io.BytesIO(data), len(data)), self._storage_of)

    def _storage_of(self, pid: Any) -> Storage:
        declared = declared_storage(pid)
        if declared.key not in self._storages:
            self._storages[declared.key] = self._found(declared)
        stored = self._storages[declared.key]
        if replace(stored, read=None) != declared:
            raise Refused(f"storage {declared.key} in two ways")
        return stored

    def _found(self, declared: Storage) -> Storage:
        try:
            info = self._archive.getinfo(f"{self._folder}data/{declared.key}")
        except KeyError:
            raise Refused(f"storage {declared.key}, which is not there") from None
        size = declared.count * declared.dtype.itemsize
        if info.file_size != size:
            raise Refused(f"{size:,} bytes of storage {declared.key}, which has {info.file_size:,}")
        _check_stored(info)
        return declared if size > MAX_ARRAY else replace(declared, read=partial(_read_later, self._path, info))


def _read_later(path: str | os.PathLike[str], info: zipfile.ZipInfo) -> bytes:
    with reading(path), zipfile.ZipFile(path) as archive:
        return _member(archive, info)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    _check_stored(info)
    return archive.read(info)


def _check_stored(info: zipfile.ZipInfo) -> None:
    # torch never compresses; where nothing is, no small file can unpack to a large one.
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
        raise Refused(f"{info.filename}, which is compressed")
