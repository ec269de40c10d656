"""Paths that nobody recorded, as points on the floor."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError

RADIUS = 1.5
"""m, of the circle and of the eight's halves"""
LEAST = 0.1
"""m, the shortest path"""
SHARPEST = 150.0
"""deg, by which a path may turn at a point: further it leads back on itself, and no heading is along it"""


def named_path(text: str) -> Array:
    """Return (P, 2) m points of a path: `circle`, `figure-eight`, a CSV file, or points as "1,0 2,1 3,0"."""
    angle = np.linspace(0, 2 * np.pi, 241)
    if text == "circle":
        return RADIUS * np.stack([np.sin(angle), 1 - np.cos(angle)], axis=1)
    if text == "figure-eight":
        first = RADIUS * np.stack([np.sin(angle), 1 - np.cos(angle)], axis=1)
        return np.concatenate([first, first[1:] * [1, -1]])
    if Path(text).suffix.lower() == ".csv" or Path(text).is_file():
        return _read(Path(text))
    words = text.split()
    if not words or not all(re.fullmatch(r"[^,\s]+,[^,\s]+", word) for word in words):
        raise ConfigError(f'--path {text!r}; expected circle, figure-eight, a .csv of x,y in m, or points as "1,0 2,1"')
    try:
        return checked_path(np.array([[float(n) for n in word.split(",")] for word in words]), "--path")
    except ValueError:
        raise ConfigError(f"--path {text!r} has a point that is no pair of numbers, as 1,0 is") from None


def checked_path(points: Array, name: str) -> Array:
    """Return points (P, 2) that make a path, or raise an error that names what does not."""
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise ConfigError(f"{name}: point {bad[0] + 1} is {points[bad[0]].tolist()}; coordinates have to be finite")
    if len(points) < 2:
        raise ConfigError(f"{name} has one point; a path needs at least two")
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    if length < LEAST:
        raise ConfigError(f"{name} is {length:.2g} m long; at least {LEAST:g} m are needed")
    turns = turns_of(points)
    if len(turns) and np.abs(turns).max() > np.radians(SHARPEST):
        k = int(np.abs(turns).argmax())
        x, y = distinct(points)[k + 1]
        raise ConfigError(
            f"{name} turns back on itself at {x:g},{y:g}, by {np.degrees(abs(turns[k])):.0f} deg; a robot walks turns "
            f"of at most {SHARPEST:g} deg at a point: lead the path round by one point more"
        )
    return points


def distinct(points: Array) -> Array:
    """Return the points (P, 2) of a path without those that are where the one before them is."""
    apart = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    return points[apart]


def turns_of(points: Array) -> Array:
    """Return (P - 2,) rad, by which a path turns at its inner points, to the left above zero."""
    way = np.diff(distinct(points), axis=0)
    heading = np.arctan2(way[:, 1], way[:, 0])
    return (np.diff(heading) + np.pi) % (2 * np.pi) - np.pi


def _read(path: Path) -> Array:
    if not path.is_file():
        raise ReadError(path, "does not exist; expected a table of x,y in m")
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as e:
        raise ReadError(path, f"cannot be read as text: {e}") from None
    numbered = [(k, line) for k, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if numbered and re.match("[A-Za-z]", numbered[0][1]) and not _is_number(numbered[0][1].split(",")[0]):
        del numbered[0]  # the columns' names
    points = []
    for k, line in numbered:
        cells = line.split(",")
        if len(cells) < 2 or not all(map(_is_number, cells[:2])):
            raise ReadError(path, f"is no table of x,y in m with a row per point: line {k} is {line[:40]!r}")
        points.append([float(cells[0]), float(cells[1])])
    if not points:
        raise ReadError(path, "has no point; expected a row x,y in m per point")
    try:
        return checked_path(np.array(points), str(path))
    except ConfigError as e:
        raise ReadError(path, str(e).removeprefix(f"{path}: ").removeprefix(f"{path} ")) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def way_along(points: Array) -> Array:
    """Return (P,) m: how far each point of a path is along it."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
