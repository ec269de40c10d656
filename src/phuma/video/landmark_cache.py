"""Landmarks that were estimated once are kept in the user's cache, by the film's hash and all that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from phuma.errors import PhumaError, ReadError
from phuma.io.atomic import save_npz
from phuma.io.cache import cache_dir
from phuma.io.npz import load_npz
from phuma.video import pictures as measured
from phuma.video.landmarks import Landmarks
from phuma.video.pictures import Pictures

VERSION = 2
"""Of the estimate: to be raised whenever decoding, tracking or what is measured changes, so that it is made again"""
MOST_BYTES = 500_000_000
"""Of all entries together; those that were not used for longest go"""
ARRAYS = ("image", "world", "visibility", "presence")


def key(sha256: str, model: str, weights: str, person: int | None, start: float, end: float | None) -> str:
    """Return the name of an entry: a hash of the film's and of every setting that matters."""
    settings = json.dumps([VERSION, sha256, model, weights, person, start, end])
    return hashlib.sha256(settings.encode()).hexdigest()[:32]


def load(name: str) -> tuple[Landmarks, Pictures] | None:
    """Return what was stored under a name, or None; a damaged entry is none."""
    path = _folder() / f"{name}.npz"
    try:
        entry = load_npz(path, ("fps", "size", *ARRAYS, *measured.NAMES))
        landmarks = Landmarks(
            float(entry["fps"]), (int(entry["size"][0]), int(entry["size"][1])), *(entry[a] for a in ARRAYS)
        )
        table = {n: entry[n] for n in measured.NAMES}
    except (ReadError, PhumaError, TypeError, ValueError, IndexError):
        return None
    if any(column.shape != (len(landmarks),) for column in table.values()):
        return None
    with suppress(OSError):
        os.utime(path)  # its time of change says when it was used last
    return landmarks, Pictures(**table)


def store(name: str, landmarks: Landmarks, pictures: Pictures) -> None:
    """Keep landmarks for the next time, and make room; a cache that cannot be written is no error."""
    arrays = {a: np.asarray(getattr(landmarks, a), np.float32) for a in ARRAYS}
    arrays |= {n: np.asarray(getattr(pictures, n), np.float32) for n in measured.NAMES}
    arrays |= {"fps": np.float64(landmarks.fps), "size": np.array(landmarks.size)}
    with suppress(OSError, PhumaError):
        _folder().mkdir(parents=True, exist_ok=True)
        save_npz(_folder() / f"{name}.npz", arrays)
        _make_room(_folder() / f"{name}.npz")


def _make_room(newest: Path) -> None:
    entries = sorted(((p.stat().st_mtime, p.stat().st_size, p) for p in _folder().glob("*.npz")), reverse=True)
    total = 0
    for _, size, path in entries:
        total += size
        if total > MOST_BYTES and path != newest:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return cache_dir() / "landmarks"
