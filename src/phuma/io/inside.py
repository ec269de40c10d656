"""Names that come from files lead nowhere but below the folder that they belong to, for reading and for writing."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from phuma.errors import ReadError

__all__ = ["inside", "links_in"]


def inside(folder: Path, name: str) -> Path:
    """Return the path of a name below a folder, or raise a ReadError: an untrusted file may name anything.

    Refused are names that are absolute, hold `..`, stand for the folder itself or for no file at all, and links on the
    way that lead out of the folder. The folder itself may be a link.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts or "\0" in name:
        raise ReadError(folder, f"names a file outside of itself: {name!r}")
    path = folder / name
    if not _meets_a_link(folder, parts):
        return path
    try:
        if _nowhere(path):
            raise OSError("links that lead to each other")
        leaves = not path.resolve().is_relative_to(folder.resolve())
    except OSError as e:  # or a name that is too long
        raise ReadError(folder, f"names a file that cannot be: {name[:80]!r} ({e})") from None
    if leaves:
        raise ReadError(folder, f"names a file outside of itself: {name!r} is, or lies in, a link that leads elsewhere")
    return path


def _meets_a_link(folder: Path, parts: Sequence[str]) -> bool:
    """Return whether something below the folder is a link on the way to a name of these parts, or might be one: where
    nothing is, the name cannot lead out."""
    at = os.fspath(folder)
    for part in parts:
        at = os.path.join(at, part)
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return True
        except FileNotFoundError:
            return False
        except OSError:
            return True
    return False


def _nowhere(path: Path) -> bool:
    """Return whether links on the way lead to each other, about which `resolve` says something else in each Python."""
    try:
        os.stat(path)
    except OSError as e:
        return e.errno == errno.ELOOP
    return False


def links_in(folder: Path) -> Iterator[Path]:
    """Yield every symbolic link below a folder; none is followed."""
    for parent, folders, files in os.walk(folder):
        paths = (Path(parent, name) for name in sorted([*folders, *files]))
        yield from (path for path in paths if path.is_symlink())
