"""A BVH file is parsed into a hierarchy of joints with channels, and a table of numbers with one row per frame."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.sources.reader import check_length

BLOCK = 4096  # rows parsed at a time
MAX_JOINTS = 1000
MAX_HEADER_LINES = 20_000
MAX_LINE = 200_000  # characters; a real row has a few thousand
CHANNELS = {f"{a}{k}": (k, i) for i, a in enumerate("XYZ") for k in ("position", "rotation")}
_BRACES = re.compile(r"([{}])")  # some programs put them behind the name
_LOWER = {name.lower(): value for name, value in CHANNELS.items()}


@dataclass(frozen=True)
class BvhJoint:
    """A BVH joint is one joint of the hierarchy."""

    name: str
    parent: int
    """-1 for the root"""
    offset: tuple[float, float, float]
    """from the parent, in the parent's axes, file units"""
    channels: tuple[tuple[str, int], ...] = ()
    """("position" | "rotation", axis 0..2), in the order of the file"""
    first_channel: int = 0
    is_end: bool = False
    """An End Site: a point without a rotation"""


@dataclass(frozen=True)
class BvhFile:
    """A BVH file is a hierarchy and its rows."""

    joints: tuple[BvhJoint, ...]
    values: Array
    """(T, channels) as in the file: degrees and file units, float32"""
    frame_time: str
    """As written"""
    declared: int
    """Number of frames that the header announces"""

    @property
    def fps(self) -> float:
        """Return 1 / frame time, in Hz; a whole number where the printed digits are those of one (.0083333 is 120)."""
        rate = 1.0 / float(self.frame_time)
        whole = round(rate)
        _, _, decimals = self.frame_time.partition(".")
        rounding = 1.01 * 10.0 ** -len(decimals) / 2 + 1e-12
        plain = whole > 0 and "e" not in self.frame_time.lower()
        return float(whole) if plain and abs(float(self.frame_time) - 1 / whole) <= rounding else rate


def parse_bvh(path: Path) -> BvhFile:
    """Read a whole file; every fault of it is a ReadError that says where."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as f:
            lines = _numbered(path, f)
            joints, width = _hierarchy(path, lines)
            declared, frame_time = _motion_header(path, lines)
            values = _rows(path, lines, width, declared)
    except OSError as e:
        raise ReadError(path, f"cannot be read: {e.strerror or e}") from None
    return BvhFile(joints, values, frame_time, declared)


def _numbered(path: Path, f: TextIO) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; a line without end is refused before it fills the memory."""
    number = 0
    while line := f.readline(MAX_LINE):
        number += 1
        if len(line) >= MAX_LINE:
            raise ReadError(path, f"line {number} is longer than {MAX_LINE} characters: not a BVH file")
        for part in _BRACES.sub(r"\n\1\n", line).split("\n") if "{" in line or "}" in line else (line,):
            if part.strip():
                yield number, part


def _hierarchy(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[tuple[BvhJoint, ...], int]:
    """Joints in file order and the number of channels of a row; stops behind the line MOTION."""
    joints: list[BvhJoint] = []
    stack: list[int] = []
    current = -1
    width = 0
    for count, (number, line) in enumerate(lines):
        words = line.split()
        key = words[0].upper()
        if count > MAX_HEADER_LINES or len(joints) > MAX_JOINTS:
            raise ReadError(path, f"line {number}: the hierarchy has more than {MAX_JOINTS} joints")
        if count == 0:
            if key != "HIERARCHY":
                raise ReadError(
                    path, f"line {number}: a BVH file begins with HIERARCHY, this one with {words[0][:40]!r}"
                )
        elif key == "MOTION":
            if stack or not joints:
                raise ReadError(path, f"line {number}: MOTION before the hierarchy is complete")
            return tuple(joints), width
        elif key in ("ROOT", "JOINT", "END"):
            if (key == "ROOT") != (not stack) or (key == "ROOT" and joints):
                raise ReadError(
                    path, f"line {number}: {words[0]} is out of place; a file has one ROOT, joints inside it"
                )
            name = " ".join(words[1:]) or f"joint{len(joints)}"
            joints.append(BvhJoint(name, stack[-1] if stack else -1, (0.0, 0.0, 0.0), is_end=key == "END"))
            current = len(joints) - 1
        elif key == "{":
            if current < 0:
                raise ReadError(path, f"line {number}: an opening brace without a joint")
            stack.append(current)
        elif key == "}":
            if not stack:
                raise ReadError(path, f"line {number}: a closing brace too many")
            stack.pop()
        elif key in ("OFFSET", "CHANNELS") and stack:
            j = joints[stack[-1]]
            if key == "OFFSET":
                joints[stack[-1]] = BvhJoint(
                    j.name, j.parent, _offset(path, number, words), j.channels, j.first_channel, j.is_end
                )
            else:
                channels = _channels(path, number, words)
                joints[stack[-1]] = BvhJoint(j.name, j.parent, j.offset, channels, width, j.is_end)
                width += len(channels)
        else:
            raise ReadError(path, f"line {number}: did not expect {line.strip()[:60]!r} in the hierarchy")
    raise ReadError(path, "ends inside the hierarchy: the file is empty or cut short")


def _offset(path: Path, number: int, words: list[str]) -> tuple[float, float, float]:
    try:
        x, y, z = (float(w) for w in words[1:])
    except ValueError:
        raise ReadError(path, f"line {number}: OFFSET needs three numbers, got {' '.join(words[1:])[:60]!r}") from None
    if not np.isfinite([x, y, z]).all() or max(abs(x), abs(y), abs(z)) > 1e6:
        raise ReadError(path, f"line {number}: OFFSET {x:g} {y:g} {z:g} is not a plausible length")
    return x, y, z


def _channels(path: Path, number: int, words: list[str]) -> tuple[tuple[str, int], ...]:
    names = words[2:]
    if len(words) < 2 or not words[1].isdigit() or int(words[1]) != len(names) or len(names) > 6:
        raise ReadError(path, f"line {number}: CHANNELS needs a count up to 6 and as many names")
    unknown = [n for n in names if n.lower() not in _LOWER]
    if unknown:
        raise ReadError(path, f"line {number}: unknown channel {unknown[0]!r}; there are {', '.join(CHANNELS)}")
    return tuple(_LOWER[n.lower()] for n in names)


def _motion_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[int, str]:
    head = [line for _, line in islice(lines, 2)]
    frames = re.fullmatch(r"\s*Frames\s*:\s*(\d{1,9})\s*", head[0], re.IGNORECASE) if head else None
    time = re.fullmatch(r"\s*Frame\s+Time\s*:\s*(\S+)\s*", head[1], re.IGNORECASE) if len(head) > 1 else None
    if not frames or not time:
        raise ReadError(path, "after MOTION there must be `Frames: N` and `Frame Time: SECONDS`")
    try:
        seconds = float(time[1])
    except ValueError:
        seconds = float("nan")
    if not 5e-4 <= seconds <= 1.0:
        raise ReadError(path, f"Frame Time is {time[1][:40]}; expected seconds per frame, between 0.0005 and 1")
    return int(frames[1]), time[1]


def _rows(path: Path, lines: Iterator[tuple[int, str]], width: int, declared: int) -> Array:
    """(T, width) float32. Memory is taken for rows that are there, not for those the header announces."""
    blocks = []
    while block := list(islice(lines, BLOCK)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = np.loadtxt([line for _, line in block], dtype=np.float32, ndmin=2, comments=None)
        except (ValueError, Warning) as e:
            where = _bad_row(block, width)
            raise ReadError(path, where or f"lines {block[0][0]} to {block[-1][0]}: {e}") from None
        if table.shape[1] != width:
            raise ReadError(path, f"line {block[0][0]}: {table.shape[1]} numbers, the hierarchy has {width} channels")
        blocks.append(table)
        check_length(path, sum(map(len, blocks)))
    found = sum(map(len, blocks))
    if found < declared or not found:
        raise ReadError(path, f"is cut short: {declared} frames announced, {found} found")
    values = np.concatenate(blocks)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ReadError(path, f"frame {row}, channel {column} is {values[row, column]}: every value must be finite")
    if np.abs(values).max() > 1e7:
        row, column = np.argwhere(np.abs(values) > 1e7)[0]
        raise ReadError(path, f"frame {row}, channel {column} is {values[row, column]:g}: not a plausible value")
    return values


def _bad_row(block: list[tuple[int, str]], width: int) -> str | None:
    """What is wrong with the first bad line of a block that did not parse."""
    for number, line in block:
        words = line.split()
        if len(words) != width:
            return f"line {number}: {len(words)} numbers, the hierarchy has {width} channels (cut short?)"
        for word in words:
            try:
                float(word)
            except ValueError:
                return f"line {number}: {word[:40]!r} is not a number"
    return None
