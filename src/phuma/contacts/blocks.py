"""Split long recordings into blocks of frames, so that memory stays flat however long they are."""

from __future__ import annotations

BLOCK = 2048
"""The number of frames that are posed at a time"""


def blocks_of(frames: int) -> list[slice]:
    """Return frames 0 to `frames` - 1 in blocks, the last of which may be shorter."""
    return [slice(first, min(first + BLOCK, frames)) for first in range(0, frames, BLOCK)]
