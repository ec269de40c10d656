"""Compile functions with numba on their first call, with a cache on disk so that only the first run compiles."""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from phuma.io.cache import cache_dir

PACKAGE = Path(__file__).parents[1]
KERNELS = (
    "robots/kinematics.py",
    "robots/capsules.py",
    "retargeting/block.py",
    "retargeting/term_data.py",
    "retargeting/costs.py",
    "retargeting/collision.py",
    "retargeting/loops.py",
    "retargeting/objective.py",
    "retargeting/normal.py",
    "robots/masses.py",
    "retargeting/support.py",
    "retargeting/wrench_distance.py",
    "retargeting/wrench.py",
)
"""The files that compiled code is made of: functions that call each other across files, the structures that they are
given, and the list of the terms that they add."""


def compiled(function: Callable[..., Any]) -> Any:
    """Return `function` compiled by numba, cached beside the package or, where that is read-only, in the user's cache.

    numba notices when the file of a function changes, but not when that of a function that it calls does. So the cache
    is a folder that is named after the content of all of these files.
    """
    folder = cache_folder()
    if folder is None:
        return numba.njit(fastmath=True)(function)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        return numba.njit(cache=True, fastmath=True)(function)
    finally:
        settings.CACHE_DIR = before


def compiled_into_callers(function: Callable[..., Any]) -> Any:
    """Return `function` compiled by numba and cached with the functions that call it, not by itself.

    This is for functions without a source file, which numba cannot cache.
    """
    return numba.njit(fastmath=True)(function)


@cache
def cache_folder() -> Path | None:
    """Return the folder for compiled code, or None where none is writable, and then every run compiles anew."""
    digest = hashlib.sha256(b"".join((PACKAGE / name).read_bytes() for name in KERNELS)).hexdigest()[:16]
    name = f"compiled-{digest}"
    beside = PACKAGE / "__pycache__"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for parent in (Path(chosen) if chosen else beside, cache_dir()):
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            if parent == beside:
                _forget(beside, name)
            return folder
    warnings.warn(
        "compiled code cannot be stored, so every run compiles it anew (half a minute); "
        "set NUMBA_CACHE_DIR to a folder that can be written to",
        stacklevel=2,
    )
    return None


def _forget(parent: Path, name: str) -> None:
    """Remove what was compiled from earlier versions of these files."""
    for old in parent.glob("compiled-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
