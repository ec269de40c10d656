"""Format numbers, counts, times and paths for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path


def count(number: int, noun: str) -> str:
    """Return a count as in `1 clip` or `2 clips`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return names as in `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def time(hours: float) -> str:
    """Return a time as in `73.0 h`, `14.1 min` or `8 s`."""
    if hours >= 1:
        return f"{hours:,.1f} h"
    return f"{60 * hours:.1f} min" if 60 * hours >= 1 else f"{3600 * hours:.0f} s"


def percent(part: float, whole: float) -> str:
    """Return a share in percent without the sign; 100 and 0 only where they are exact."""
    share = 100 * part / whole if whole else 0.0
    text = f"{share:.1f}"
    if text == "100.0" and part != whole:
        return "> 99.9"
    if text == "0.0" and part:
        return "< 0.1"
    return text.removesuffix(".0") if share in (0.0, 100.0) else text


def score(value: float | None) -> str:
    """Return a percentage without the sign; 100.0 only where it is exact, and a dash for None."""
    if value is None:
        return "–"
    text = f"{value:.1f}"
    return text if text != "100.0" or value >= 100 else f"{min(value, 99.99):.2f}"


def percentage(value: float | None) -> str:
    """Return a score as in `99.2 %`; a dash for one that is unknown."""
    return score(value) if value is None else f"{score(value)} %"


def decimal(value: float) -> str:
    """Return a number with its three leading digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def beside(value: float, limit: float) -> str:
    """Return a number with three digits, but none finer than a thousandth of the limit that it is held against."""
    return decimal(round(value, max(0, 2 - math.floor(math.log10(abs(limit))))) if limit else value)


def typed(path: Path) -> str:
    """Return a path as one would type it here: what lies below the working directory relative to that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
