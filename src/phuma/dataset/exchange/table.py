"""Tables of numbers as text: a line per frame, columns separated by commas."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError

MAX_BYTES = 256 << 20


class Table(NamedTuple):
    """A table as a file has it."""

    header: tuple[str, ...]
    """The names of the columns; empty where the file has none"""
    rows: Array
    """(T, C) the numbers"""


def load_table(path: Path, width: int, expected: str) -> Table:
    """Return the table of an untrusted file that has to have `width` columns; `expected` says which these are."""
    values = array("d")
    header: tuple[str, ...] = ()
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        cells = line.split(",")
        if number == 1 and not is_number(cells[-1]):
            header = tuple(cell.strip() for cell in cells)
        if len(cells) != width:
            raise ReadError(path, f"line {number} has {len(cells)} columns; expected {width}: {expected}")
        if number == 1 and header:
            continue
        try:
            values.extend(map(float, cells))
        except ValueError:
            wrong = next(c for c in cells if not is_number(c))
            raise ReadError(path, f"line {number} holds {wrong.strip()[:40]!r}; expected numbers") from None
    return Table(header, np.frombuffer(values, dtype=float).reshape(-1, width))


def _text(path: Path) -> str:
    """Return the text of a file that is not too large."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ReadError(path, f"has {size:,} bytes; tables of at most {MAX_BYTES:,} are read")
        return path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    except UnicodeDecodeError:
        raise ReadError(path, "is not a table: it is not text in UTF-8") from None


def is_number(text: str) -> bool:
    """Return whether a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
