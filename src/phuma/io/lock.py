"""Locks say who writes a folder, and end with their process."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from phuma.errors import ConfigError, StorageError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`, or raise an error while another process holds it.

    The system frees the lock when this process ends.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as e:
        raise StorageError(f"{path}: cannot be written: {e.strerror}") from None
    try:
        try:
            _take(handle)
        except BlockingIOError:
            raise ConfigError(
                f"{path.parent} is being written by another process; wait for it, or choose another --out"
            ) from None
        except OSError as e:
            raise StorageError(f"{path}: cannot be locked: {e.strerror}; choose an --out on another disk") from None
        yield
    finally:
        os.close(handle)


def _take(handle: int, tries: int = 5) -> None:
    """Take the lock for ourselves; a process that only asks `is_locked` holds it for an instant."""
    for left in reversed(range(tries)):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not left:
                raise
        time.sleep(0.05)


def is_locked(path: Path) -> bool:
    """Return whether some process holds the lock."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(handle)


def at_work(folder: Path) -> AbstractContextManager[None]:
    """Say that this process writes what belongs to `folder`: beside others, but not beside whoever comes after them."""
    return _locked(folder, fcntl.LOCK_SH)


def in_turn(folder: Path) -> AbstractContextManager[None]:
    """Work in `folder` one process after another."""
    return _locked(folder, fcntl.LOCK_EX)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network disks lock no folders
            fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def wait_for_workers(folder: Path, seconds: float = 60.0) -> None:
    """Wait until no process is at work in `folder`: workers outlive a killed parent by a moment."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    until = time.monotonic() + seconds
    try:
        while True:
            try:
                return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ConfigError(
                        f"{folder.parent} is still being written by workers of a build that has ended; end them first"
                    ) from None
            except OSError:
                return None
            time.sleep(0.05)
    finally:
        os.close(handle)
