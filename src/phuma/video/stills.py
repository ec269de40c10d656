"""Small pictures of a film for a page: JPEG, few enough a second for the page to stay small."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from phuma.errors import ReadError
from phuma.video.film import Film, ffmpeg, input_options
from phuma.video.frames import limit_memory

LONGER_SIDE, FASTEST, MOST = 560, 15.0, 900
"""px of a picture, pictures a second, and pictures in all, at most: 20 MB"""
QUALITY = 6
"""From 2, the best, to 31"""
SECONDS = 1800
END = b"\xff\xd9"


@dataclass(frozen=True)
class Stills:
    """Pictures of a part of a film at a constant rate."""

    start: float
    """Seconds in the film of the first one"""
    fps: float
    jpegs: list[bytes]


def stills_of(film: Film, start: float, seconds: float) -> Stills:
    """Return pictures of a film from `start` on for so many seconds; fewer a second where it is long."""
    fps = min(FASTEST, float(film.fps), MOST / max(seconds, 1e-3))
    width, height = (max(2, round(n * min(1.0, LONGER_SIDE / max(film.size)) / 2) * 2) for n in film.size)
    command = [
        ffmpeg(), "-v", "error", *input_options(film.container), "-threads", "2", "-ss", f"{start:.6f}",
        "-t", f"{seconds:.6f}", "-i", f"file:{film.path}", "-map", "0:V:0", "-an", "-sn", "-dn",
        "-vf", f"fps={fps:.6f},scale={width}:{height}:flags=area", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p",
        "-q:v", str(QUALITY), "-f", "image2pipe", "pipe:1",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )  # fmt: skip
    limit_memory(process)
    with process:
        try:
            pictures, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise ReadError(film.path, f"cannot be decoded within {SECONDS} s") from None
        finally:
            process.kill()
    # Within a picture the bytes of its end never stand: 0xff is followed by 0 there.
    jpegs = [part + END for part in pictures.split(END)[:-1]]
    if not jpegs:
        raise ReadError(film.path, f"gives no picture from {start:g} s on")
    return Stills(start, fps, jpegs[:MOST])
