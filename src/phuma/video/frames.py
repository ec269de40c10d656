"""The frames of a film, decoded one after another at a constant rate, so that its length takes no memory."""

from __future__ import annotations

import select
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from phuma.errors import ReadError
from phuma.video.film import Film, ffmpeg, input_options

LONGER_SIDE = 1280
"""Largest px of a frame: people are looked at in 256 px, and larger frames only cost time"""
PATIENCE = 120.0  # seconds on the clock for a frame; ffmpeg is ended then
MEMORY = 3 << 30  # bytes that ffmpeg may take, where the system can limit that


def frame_size(film: Film) -> tuple[int, int]:
    """Return the width and height at which a film is decoded: as it is shown, or scaled down."""
    width, height = film.size
    share = min(1.0, LONGER_SIDE / max(width, height))
    return max(2, round(width * share)), max(2, round(height * share))


def frames(film: Film, start: float | None = None, end: float | None = None) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures (H, W, 3), red green blue, at `film.fps`, turned as they are shown, of `start` to `end` seconds.

    A film that is damaged further on ends there. If it is before the first frame, that is an error.
    """
    width, height = frame_size(film)
    process = subprocess.Popen(
        _command(film, start, end, width, height),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    limit_memory(process)
    words = _Words(process)
    try:
        none = True
        while (frame := _next(film, process, width * height * 3)) is not None:
            none = False
            yield np.frombuffer(frame, np.uint8).reshape(height, width, 3)
        if none:
            why = words.last()
            raise ReadError(film.path, f"gives no picture{_of(start, end)}" + (f" ({why})" if why else ""))
    finally:
        process.kill()
        process.wait()
        words.end()
        assert process.stdout
        process.stdout.close()


def _command(film: Film, start: float | None, end: float | None, width: int, height: int) -> list[str]:
    fps = film.fps
    times = (["-ss", f"{start:.6f}"] if start else []) + (
        ["-t", f"{end - (start or 0):.6f}"] if end is not None else []
    )
    filters = f"fps={fps.numerator}/{fps.denominator},scale={width}:{height}:flags=area"
    return [
        ffmpeg(), "-v", "error", *input_options(film.container), "-threads", "2", *times, "-i", f"file:{film.path}",
        "-map", "0:V:0", "-an", "-sn", "-dn", "-filter_threads", "1", "-vf", filters, "-fps_mode", "passthrough",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1",
    ]  # fmt: skip


def _next(film: Film, process: subprocess.Popen[bytes], size: int) -> bytearray | None:
    """Return the bytes of the next frame, or None at the end."""
    assert process.stdout
    data = bytearray(size)
    view, got, until = memoryview(data), 0, time.monotonic() + PATIENCE
    while got < size:
        if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
            raise ReadError(film.path, f"cannot be decoded: no picture came for {PATIENCE:g} s")
        more = process.stdout.readinto(view[got:])  # type: ignore[attr-defined]
        if not more:
            return None
        got += more
    return data


class _Words:
    """What ffmpeg complains about, read so that it never waits; only the end is kept."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._kept = process, b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        assert self._process.stderr
        with suppress(ValueError, OSError):
            while part := self._process.stderr.read(4096):
                self._kept = (self._kept + part)[-2000:]

    def last(self) -> str:
        self._thread.join(5.0)
        lines = self._kept.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:200] if lines else ""

    def end(self) -> None:
        self._thread.join(5.0)
        assert self._process.stderr
        self._process.stderr.close()


def limit_memory(process: subprocess.Popen[bytes]) -> None:
    """Let ffmpeg's allocations fail beyond what any film needs, where the system can limit another process."""
    import resource

    if hasattr(resource, "prlimit"):
        with suppress(OSError, ValueError):
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _of(start: float | None, end: float | None) -> str:
    if start is None and end is None:
        return ""
    return f" from {start or 0:g} s" + (f" to {end:g} s" if end is not None else "")
