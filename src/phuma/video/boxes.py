"""Whether an MP4 or MOV file is there to its end: it is a row of boxes, each of which begins with its length."""

from __future__ import annotations

import struct
from pathlib import Path

MOST = 100_000
"""Boxes that are looked at; those of an hour that is written in fragments of a second are 7,200"""


def missing_share(path: Path) -> float:
    """Return the share of a file, from 0 to 1, that its last box promises and that is not there."""
    there, at = path.stat().st_size, 0
    with open(path, "rb") as f:
        for _ in range(MOST):
            f.seek(at)
            length = _length(f.read(16), there - at)
            if length is None:
                return 0.0
            at += length
            if at >= there:
                return 1.0 - there / at
    return 0.0


def _length(head: bytes, rest: int) -> int | None:
    """Return how long a box is that begins so, `rest` bytes before the end of the file; None if it is no box."""
    if len(head) < 8:
        return None
    length, kind = struct.unpack(">I4s", head[:8])
    least = 8
    if length == 1 and len(head) == 16:
        (length,), least = struct.unpack(">Q", head[8:]), 16
    elif length == 0:
        return rest
    return int(length) if kind.isalnum() and length >= least else None
