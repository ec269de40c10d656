"""Compile functions with numba on their first call, with a cache on disk so that only the first run compiles.

A process that has compiled a function runs other machine code than one that has loaded it: what the function calls was
compiled by itself there and into its caller here, and fast arithmetic rounds the last bits differently. So nobody runs
what they have compiled. A process of its own fills the cache, and every run loads from it, the first one too: work that
was begun in the first run and went on in the next comes out the same to the last bit.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from phuma.io.cache import cache_dir
from phuma.io.lock import in_turn

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
    "sim/kinematics.py",
    "learning/env/turning.py",
    "retargeting/support.py",
    "retargeting/wrench_distance.py",
    "retargeting/wrench.py",
)
"""The files that compiled code is made of: functions that call each other across files, the structures that they are
given, and the list of the terms that they add."""
FILLS_CACHE = "PHUMA_FILLS_CACHE"
"""Set in a process that compiles for another one"""


def compiled(function: Callable[..., Any]) -> Any:
    """Return `function` compiled by numba, cached beside the package or, where that is read-only, in the user's cache.

    numba notices when the file of a function changes, but not when that of a function that it calls does. So the cache
    is a folder that is named after the content of all of these files.
    """
    folder = cache_folder()
    if folder is None:
        return numba.njit(nogil=True, fastmath=True)(function)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        dispatcher = numba.njit(cache=True, nogil=True, fastmath=True)(function)
    finally:
        settings.CACHE_DIR = before
    if FILLS_CACHE not in os.environ:
        _load_what_another_process_compiles(dispatcher)
    return dispatcher


def _load_what_another_process_compiles(dispatcher: Any) -> None:
    """Let `dispatcher` look into its cache a second time, after a process of its own has filled it."""
    load = dispatcher._cache.load_overload

    def load_or_fill(types: Any, context: Any) -> Any:
        found = load(types, context)
        if found is None:
            function = dispatcher.py_func
            wanted = pickle.dumps((function.__module__, function.__name__, types))
            here = f"from {__name__} import fill_cache; fill_cache()"
            environment = os.environ | {FILLS_CACHE: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            subprocess.run([sys.executable, "-c", here], input=wanted, env=environment, capture_output=True)
            found = load(types, context)
        return found

    dispatcher._cache.load_overload = load_or_fill


def fill_cache() -> None:
    """Compile the function that standard input names into the cache; the process that asked loads it from there.

    numba's types have no other form than a pickle. This one is from the process that started this one, through a pipe
    that nobody else can write to: no file of anybody is read by it.
    """
    module, name, types = pickle.load(sys.stdin.buffer)
    function = getattr(importlib.import_module(module), name)
    folder = cache_folder()
    assert folder is not None, "a process without a cache compiles for itself"
    with in_turn(folder):  # of several that ask for the same, the first compiles and the others find it done
        compiled(getattr(function, "py_func", function)).compile(types)


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
