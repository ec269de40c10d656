"""Functions compiled to machine code on their first call and kept, so that only the first run ever compiles."""

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

from phuma.files.cache import cache_dir

PACKAGE = Path(__file__).parent
KERNELS = ("robots/kinematics.py", "retargeting/costs.py", "retargeting/collision.py", "retargeting/normal.py")
"""Files with compiled functions, which call each other across files"""


def compiled(function: Callable[..., Any]) -> Any:
    """`function` as machine code, kept beside the package or, where that is read-only, in the user's cache folder.

    numba notices when the file of a function changes, not when that of a function it calls does. So what is kept lies
    in a folder that is named after the content of all of them.
    """
    folder = kept_in()
    if folder is None:
        return numba.njit(fastmath=True)(function)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        return numba.njit(cache=True, fastmath=True)(function)
    finally:
        settings.CACHE_DIR = before


@cache
def kept_in() -> Path | None:
    """The folder for compiled code; None where none can be written to, and then every run compiles anew."""
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
        "compiled code cannot be kept, so every run compiles it anew (half a minute); "
        "set NUMBA_CACHE_DIR to a folder that can be written to",
        stacklevel=2,
    )
    return None


def _forget(parent: Path, name: str) -> None:
    """Remove what was compiled from earlier versions of these files."""
    for old in parent.glob("compiled-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
