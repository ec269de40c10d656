"""Format values for a terminal: aligned, and without control characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phuma.core.words import harmless


def cell(value: Any) -> str:
    """Return the text of a value."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value))
    return harmless(str(value))


def number(value: float | None, places: int = 2) -> str:
    """Return a value of a metric; a dash for one that is unknown."""
    return "-" if value is None else f"{value:.{places}f}"


def aligned(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with numbers aligned to the right, all else to the left."""
    right = [all(isinstance(row[i], (int, float)) or row[i] is None for row in rows) for i in range(len(columns))]
    lines = [[harmless(name) for name in columns], *([cell(v) for v in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join(
        "  ".join(t.rjust(w) if r else t.ljust(w) for t, w, r in zip(line, widths, right)).rstrip() for line in lines
    )
