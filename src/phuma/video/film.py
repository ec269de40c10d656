"""A film is a file of moving pictures from anywhere: what it holds is told by its first bytes and by ffmpeg.

Nothing but one file is ever opened for it: formats that name other files or addresses (playlists, scripts) are not
among those that are recognised, the format is then forced upon ffmpeg, and ffmpeg may use no protocol but files.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from phuma.errors import MissingExtraError, ReadError
from phuma.video.boxes import missing_share

CONTAINERS = {
    "mov": rb".{4}(ftyp|moov|mdat|wide|free|skip|pnot)",
    "matroska": rb"\x1aE\xdf\xa3",
    "avi": rb"RIFF.{4}AVI ",
    "mpegts": rb"(.{4})?\x47.{187}(.{4})?\x47",
    "mpeg": rb"\0\0\x01\xba",
    "asf": rb"0&\xb2u\x8ef\xcf\x11",
    "flv": rb"FLV\x01",
    "ogg": rb"OggS",
}
"""ffmpeg's name of each container that is read, and how it begins"""
OTHERS = {
    "a still picture": rb"\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\0{4}|RIFF.{4}WEBP|.{4}ftyp(heic|heix|mif1|avif)",
    "a sound recording": rb"ID3|\xff[\xfb\xf3\xf2\xf1\xf9]|RIFF.{4}WAVE|fLaC|.{4}ftypM4A",
    "a playlist, which names other files": rb"\s*(#EXTM3U|ffconcat|file |\[playlist\]|<\?xml.{0,200}<MPD)",
}
"""What else is given as a film, and how it begins"""
SIDES = (64, 8192)  # px, of the shorter and the longer side
FASTEST = 60  # frames/s that are looked at; faster films are thinned
SLOWEST = 5
PROBE_SECONDS = 60
NTSC = {f"{n / 1.001:.2f}": Fraction(n * 1000, 1001) for n in (24, 30, 48, 60, 120, 240)}
"""Rates that ffmpeg tells to two digits alone, as 29.97"""


@dataclass(frozen=True)
class Film:
    """A film that can be decoded."""

    path: Path
    container: str
    codec: str
    size: tuple[int, int]
    """Width and height in px as it is shown: turned, and with square pixels"""
    rate: Fraction
    """Frames/s; the mean where they come at different intervals"""
    seconds: float | None
    """How long it says it is, if it does"""
    variable: bool
    """Whether its frames come at different intervals"""
    slower: float = 1.0
    """How many times slower it plays than it was filmed, where the camera wrote that down"""
    missing: float = 0.0
    """Share of the file, from 0 to 1, that is not there at its end"""

    @property
    def fps(self) -> Fraction:
        """Return the constant rate at which it is decoded: its own, or the largest part of it up to 60 frames/s."""
        return self.rate / math.ceil(self.rate / FASTEST)

    @property
    def notes(self) -> list[str]:
        """Return what a person should know about how it is read."""
        notes = []
        if self.missing:
            percent = max(1, round(100 * self.missing))
            notes.append(f"it is cut off: the last {percent} % of the file are missing; copy it again for the rest")
        if self.variable:
            notes.append(f"its frames come at different intervals; they are taken {float(self.fps):.4g} times a second")
        if self.fps != self.rate:
            every = round(self.rate / self.fps)
            notes.append(
                f"it has {float(self.rate):.4g} frames/s; one in {every} is looked at, {float(self.fps):.4g} a second"
            )
        if self.slower > 1:
            notes.append(
                f"it is slow motion: it plays {self.slower:.3g} times slower than it was filmed, and so will the "
                f"motion; as fast as it was by: ffmpeg -itsscale {1 / self.slower:.3g} -i {self.path.name} -c copy "
                "REAL.mp4"
            )
        return notes


def open_film(path: str | os.PathLike[str]) -> Film:
    """Return what a film holds, or raise an error that says why it cannot be read."""
    path = Path(path)
    container = _container(path)
    try:
        told = subprocess.run(
            [ffmpeg(), *input_options(container), "-i", f"file:{path}"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS,
        ).stderr.decode("utf-8", "replace")  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ReadError(path, f"is no film that can be opened within {PROBE_SECONDS} s") from None
    film = described(path, container, told)
    return replace(film, missing=missing_share(path)) if container == "mov" else film


def is_film(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a film, or of something that only ffmpeg can tell from
    one."""
    others, films = (any(re.match(b, head, re.DOTALL) for b in k.values()) for k in (OTHERS, CONTAINERS))
    return films and not others


def ffmpeg() -> str:
    """Return the program that decodes films."""
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError:
        raise MissingExtraError("imageio-ffmpeg", "video", "a film") from None
    try:
        return imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as e:
        raise ReadError("ffmpeg", f"is not there ({e}); install it, and set IMAGEIO_FFMPEG_EXE to its path") from None


def input_options(container: str) -> list[str]:
    """Return ffmpeg's options before the file: this container alone, from a file alone."""
    only = ["-protocol_whitelist", "file", "-format_whitelist", container]
    return ["-hide_banner", "-nostdin", *only, "-f", container]


def _container(path: Path) -> str:
    """Return ffmpeg's name of the container, by the file's first bytes."""
    try:
        if path.exists() and not path.is_file():
            raise ReadError(path, "is a folder or a device, not a film")
        with open(path, "rb") as f:
            head = f.read(1024)
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    if not head:
        raise ReadError(path, "is empty")
    for what, begins in OTHERS.items():
        if re.match(begins, head, re.DOTALL):
            raise ReadError(path, f"is {what}, not a film")
    for name, begins in CONTAINERS.items():
        if re.match(begins, head, re.DOTALL):
            return name
    raise ReadError(path, "is no film of a known kind (MP4, MOV, MKV, WebM, AVI, MPEG, WMV, FLV, Ogg)")


def described(path: Path, container: str, told: str) -> Film:
    """Return the film that ffmpeg's own description tells of."""
    streams = re.findall(r"^  Stream #\S+ (.*)$", told, re.MULTILINE)
    pictures = [re.sub(r"^[^:]*Video: ", "Video: ", s) for s in streams if "Video: " in s and "(attached pic)" not in s]
    if not pictures:
        if any("Audio: " in s for s in streams):
            raise ReadError(path, "holds sound and no pictures")
        raise ReadError(path, _unreadable(told))
    stream = pictures[0]
    codec = re.match(r"Video: (\w+)", stream)
    size, rate = _size(stream, told), _number(r"([\d.]+k?) fps", stream) or _number(r"([\d.]+k?) tbr", stream)
    if codec is None or size is None or not rate:
        raise ReadError(path, "says neither how large its pictures are nor how many there are a second; it is damaged")
    if not (min(size) >= SIDES[0] and max(size) <= SIDES[1]):
        raise ReadError(path, f"has pictures of {size[0]} x {size[1]} pixels; expected {SIDES[0]} to {SIDES[1]} a side")
    if rate < SLOWEST:
        raise ReadError(
            path, f"has pictures at {float(rate):.3g} Hz, as a slide show; motion needs at least {SLOWEST} Hz"
        )
    if rate > 1000:
        raise ReadError(path, f"has {float(rate):.4g} pictures a second; at most 1000 are plausible")
    usual = _number(r"([\d.]+k?) tbr", stream) or rate
    camera = _number(r"^\s+com\.android\.capture\.fps\s*: ([\d.]+)", told)
    slower = float(camera / rate) if camera and 1.5 * rate < camera < 5000 else 1.0
    variable = abs(usual / rate - 1) > 0.01
    return Film(path, container, codec.group(1), size, rate, _duration(told), variable, slower)


def _unreadable(told: str) -> str:
    if "moov atom not found" in told:
        return "is cut off: the index at its end is missing (moov atom not found); copy or record it again"
    last = (told.strip().splitlines() or ["no word from ffmpeg"])[-1].strip()
    return f"cannot be read as a film ({re.sub(r'^file:.*?: ', '', last)[:200]})"


def _size(stream: str, told: str) -> tuple[int, int] | None:
    found = re.search(r", (\d{1,6})x(\d{1,6})(?: \[SAR (\d+):(\d+)|[, ]|$)", stream)
    if not found:
        return None
    width, height = int(found[1]), int(found[2])
    if found[3] and int(found[3]) and int(found[4]):
        width = round(width * int(found[3]) / int(found[4]))
    turn = re.search(r"^\s+display ?matrix: rotation of (-?[\d.]+) degrees", told, re.MULTILINE | re.IGNORECASE)
    quarter = turn is not None and round(float(turn[1]) / 90) % 2
    return (height, width) if quarter else (width, height)


def _number(pattern: str, text: str) -> Fraction | None:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        return None
    word = found[1]
    if word in NTSC:
        return NTSC[word]
    try:
        return Fraction(word.removesuffix("k")) * (1000 if word.endswith("k") else 1)
    except ValueError:
        return None


def _duration(told: str) -> float | None:
    found = re.search(r"^  Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)", told, re.MULTILINE)
    return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]) if found else None
