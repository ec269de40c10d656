"""Files are written whole or not at all, and the same data gives the same bytes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from phuma.errors import StorageError
from phuma.io.npz_writer import DEFLATE_LEVEL, npy_bytes, npz_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["save_npy", "save_npz", "without_waiting", "write_atomic"]

_wait_for_disk: ContextVar[bool] = ContextVar("wait_for_disk", default=True)


@contextmanager
def without_waiting() -> Iterator[None]:
    """Do not wait until the files that are written here are on the disk, which takes longer than to make small ones.

    They are still whole for every process. After a power failure they may not be, so this is for files whose content is
    compared with a hash before it is relied on; `os.sync` brings them all to the disk.
    """
    token = _wait_for_disk.set(False)
    try:
        yield
    finally:
        _wait_for_disk.reset(token)


def write_atomic(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file that takes its name only once it is complete and on the disk; see `without_waiting`.

    `write` gets a file in the folder of `path`. On any failure, an interruption too, what was at `path` stays as it was
    and nothing else is left behind.
    """
    path = Path(path)
    # Not tempfile: its files are closed to everybody else, and would stay so.
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as f:
            write(f)
            f.flush()
            if _wait_for_disk.get():
                os.fsync(f.fileno())
        os.replace(part, path)
    except BaseException as e:
        with suppress(OSError):  # where nothing can be written, nothing can be taken away either
            part.unlink()
        if isinstance(e, OSError):
            raise StorageError(f"{path}: cannot be written: {e.strerror or e}") from e
        raise


def save_npy(path: str | os.PathLike[str], array: NDArray[Any]) -> None:
    """Write one array as an `.npy`, without pickle."""
    write_atomic(path, lambda f: f.write(npy_bytes(array)))


def save_npz(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any] | str], level: int = DEFLATE_LEVEL
) -> None:
    """Write arrays and texts as an `.npz`, without pickle, compressed unless `level` is 0; the same values give the
    same bytes."""
    write_atomic(path, lambda f: f.write(npz_bytes(arrays, level)))
