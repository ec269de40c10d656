"""Marker files are read: `.trc`, as OpenCap and OpenSim write them, y-up, with units and rate in the header.

Line 1 begins with PathFileType, lines 2 and 3 name and give the header's values, line 4 names the markers, line 5 their
coordinates; then a row per frame: number, time, and x, y, z of each marker, empty where it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources.points import Points, check_extent, motion_of
from phuma.sources.reader import MAX_FRAMES, ReadCfg, check_length

FORMAT = "trc"
METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
MAX_MARKERS = 2000
MAX_LINE = 1 << 20
"""Characters of a line"""


def recognises(probe: Probe) -> bool:
    """Return whether the file is a marker file."""
    return probe.kind == "text" and probe.text.lstrip().startswith("PathFileType")


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    return [motion_of(probe.path, FORMAT, parse(probe.path), cfg)]


def parse(path: Path) -> Points:
    """Return the markers."""
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = _lines(path, f)
        _, keys, values, labels = (next(lines, "").rstrip("\n").split("\t") for _ in range(4))
        header = dict(zip(map(str.strip, keys), map(str.strip, values)))
        names = [name.strip() for name in labels[2:] if name.strip()]
        told = header.get("NumMarkers", "")[:20]
        if not 1 <= len(names) <= MAX_MARKERS or told != str(len(names)):
            raise ReadError(path, f"names {len(names)} markers and has {told!r} by its header; expected as many")
        unit = header.get("Units", "")
        if unit not in METRES:
            raise ReadError(path, f"has units {unit[:20]!r}; expected {', '.join(METRES)}")
        positions = METRES[unit] * _rows(path, lines, len(names))
    positions = np.stack([positions[..., 0], -positions[..., 2], positions[..., 1]], axis=-1)
    check_extent(path, positions, unit)
    return Points(names, positions, _rate(path, header), "y")


def _lines(path: Path, f: TextIO) -> Iterator[str]:
    while line := f.readline(MAX_LINE):
        if len(line) == MAX_LINE:
            raise ReadError(path, f"has a line of more than {MAX_LINE:,} characters; the file is damaged")
        yield line


def _rows(path: Path, lines: Iterator[str], count: int) -> Array:
    """Return (T, N, 3) in the file's units and axes; NaN where a marker is not known."""
    rows: list[Array] = []
    for line in lines:
        cells = line.rstrip("\r\n").split("\t")
        if not cells[0].strip().isdigit():
            continue  # coordinates' names, an empty line
        cells = cells[2 : 2 + 3 * count]
        try:
            row = np.array([float(cell) if cell.strip() else np.nan for cell in cells])
        except ValueError as e:
            raise ReadError(path, f"has a row {len(rows) + 1} that is not of numbers ({e})") from None
        row = np.concatenate([row, np.full(3 * count - len(row), np.nan)]).reshape(count, 3)
        row[~(np.abs(row) < 1e8).all(axis=1)] = np.nan
        rows.append(row)
        if len(rows) > MAX_FRAMES:
            check_length(path, len(rows))
    if len(rows) < 2:
        raise ReadError(path, f"has {len(rows)} frames; a motion needs at least 2")
    return np.stack(rows)


def _rate(path: Path, header: dict[str, str]) -> float:
    try:
        return float(header["DataRate"])
    except (KeyError, ValueError):
        raise ReadError(path, "has no DataRate; expected the frames per second in the header") from None
