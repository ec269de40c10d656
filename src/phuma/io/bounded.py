"""Bounded sources of bytes give what is there and no more, before memory is taken for what is only announced."""

from __future__ import annotations

import io
import zlib
from typing import IO, Any

from phuma.io.npz import BOMB_BYTES, BOMB_RATIO

PIECE = 1 << 20
"""Bytes that are read or unpacked at a time"""


class Bounded:
    """A bounded file refuses to read beyond its end."""

    def __init__(self, f: IO[bytes], size: int) -> None:
        self._f, self._left = f, size

    def read(self, n: int) -> bytes:
        """Return the next n bytes, or raise an EOFError."""
        self._take(n)
        if n <= PIECE:
            data = self._f.read(n)
        else:  # The end may come before the bound: a stream that unpacks knows its own length only there.
            parts = [self._f.read(min(PIECE, n))]
            while parts[-1] and (rest := n - sum(map(len, parts))) > 0:
                parts.append(self._f.read(min(max(PIECE, sum(map(len, parts))), rest)))
            data = b"".join(parts)
        if len(data) != n:
            raise EOFError(f"{n:,} bytes wanted, {len(data):,} left")
        return data

    def skip(self, n: int) -> None:
        """Pass over the next n bytes, a piece at a time, or raise an EOFError."""
        while n > 0:
            n -= len(self.read(min(n, PIECE)))

    def readline(self) -> bytes:
        """Return the rest of the line."""
        line = self._f.readline()
        self._left -= len(line)
        return line

    def _take(self, n: int) -> None:
        if n > self._left:
            raise EOFError(f"{n:,} bytes wanted, {self._left:,} left")
        self._left -= n


class Inflated(io.RawIOBase):
    """A file that was compressed by zlib as a whole, unpacked as it is read, as far as `most` bytes; no zip bomb."""

    def __init__(self, f: IO[bytes], most: int) -> None:
        super().__init__()
        self._f, self._unpacker, self._most = f, zlib.decompressobj(), most
        self._packed = self._unpacked = 0

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as one piece of the file does."""
        data = b""
        while not data and not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail
            if not packed:
                packed = self._f.read(64 << 10)
                self._packed += len(packed)
            if not packed:
                break
            data = self._unpacker.decompress(packed, len(buffer))
        self._unpacked += len(data)
        if self._unpacked > self._most:
            raise ValueError(f"it unpacks to more than {self._most:,} bytes, the most that are read: cut the film")
        if self._unpacked > BOMB_BYTES and self._unpacked > BOMB_RATIO * self._packed:
            raise ValueError(f"{self._packed:,} bytes unpack to more than {self._unpacked:,}; that is a zip bomb")
        buffer[: len(data)] = data
        return len(data)


def is_deflated(head: bytes) -> bool:
    """Return whether these are the first bytes of something that zlib compressed."""
    return len(head) > 2 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0 and not head[1] & 0x20


def unpacked(head: bytes) -> bytes:
    """Return the first bytes of a file, unpacked if zlib compressed them; as they are if that does not work."""
    if not is_deflated(head):
        return head
    try:
        return zlib.decompressobj().decompress(head, len(head))
    except zlib.error:
        return head
