"""Reduced SMPL-X bodies are kept in the user's cache by the hash of their model file, and are part of no output."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from phuma.body.space import ShapeSpace
from phuma.core.skeleton import N_JOINTS, N_SOLE
from phuma.errors import PhumaError, ReadError
from phuma.io.atomic import save_npz, write_atomic
from phuma.io.cache import cache_dir
from phuma.io.npz import load_npz

VERSION = 1  # of the reduction: entries of another one are made again
ARRAYS = ("joints", "joint_dirs", "soles", "sole_dirs", "sole_weights", "pose_dirs")


def cached_smplx(name: str) -> ShapeSpace | None:
    """Return the body `smplx:<12 hex digits>` if its model file was read on this machine before."""
    if not re.fullmatch(r"smplx:[0-9a-f]{12}", name):
        return None
    path = _entry(name)
    try:
        arrays = load_npz(path, ARRAYS)
    except ReadError:
        return None
    s = arrays["joint_dirs"].shape[-1] if arrays["joint_dirs"].ndim else 0
    shapes = {
        "joints": (N_JOINTS, 3), "joint_dirs": (N_JOINTS, 3, s), "soles": (N_SOLE, 3), "sole_dirs": (N_SOLE, 3, s),
        "sole_weights": (N_SOLE, N_JOINTS), "pose_dirs": (N_SOLE, 3, N_JOINTS - 1, 3, 3),
    }  # fmt: skip
    if any(arrays[k].shape != shape or arrays[k].dtype != np.float64 for k, shape in shapes.items()):
        return None
    return ShapeSpace(name=name, params=tuple(f"beta{i}" for i in range(s)), **arrays)


def remember(space: ShapeSpace) -> None:
    """Keep a reduced body for the next time; a cache that cannot be written is no error."""
    with suppress(OSError, PhumaError):
        _entry(space.name).parent.mkdir(parents=True, exist_ok=True)
        save_npz(_entry(space.name), {key: getattr(space, key) for key in ARRAYS})


def file_hash(path: Path) -> str:
    """Return the sha256 of a file in hex, remembered by path, size and time of change, as model files are large."""
    try:
        stat = path.stat()
        identity = os.fsencode(path.resolve()) + f"|{stat.st_size}|{stat.st_mtime_ns}".encode()
        note = cache_dir() / "smplx" / f"{hashlib.sha256(identity).hexdigest()[:32]}.sha256"
        known = _read_note(note)
        return known or _hash_and_note(path, note)
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None


def _entry(name: str) -> Path:
    return cache_dir() / "smplx" / f"{name.removeprefix('smplx:')}.v{VERSION}.npz"


def _read_note(note: Path) -> str | None:
    try:
        text = note.read_text("ascii")
    except (OSError, ValueError):
        return None
    return text if re.fullmatch(r"[0-9a-f]{64}", text) else None


def _hash_and_note(path: Path, note: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            digest.update(chunk)

    def write(f: BinaryIO) -> None:
        f.write(digest.hexdigest().encode("ascii"))

    with suppress(OSError, PhumaError):
        note.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(note, write)
    return digest.hexdigest()
