"""Bars of a histogram: where they lie, and how many clips are in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import ask

BARS = 30


@dataclass(frozen=True)
class Bins:
    """Bars of equal width; the first and the last also hold what lies beyond."""

    first: float
    width: float
    count: int

    @property
    def edges(self) -> tuple[float, ...]:
        """Return (count + 1,) the edges of the bars, ascending."""
        return tuple(float(f"{self.first + i * self.width:.12g}") for i in range(self.count + 1))


def bins_around(limit: float, low: float, high: float) -> Bins:
    """Return bars with an edge at the limit and, so far down, one at zero; `low` and `high` hold nearly all values.

    Neither a few wild values nor a limit that nothing comes near leave the rest in a corner.
    """
    scale = abs(limit) or max(abs(low), abs(high)) or 1.0
    high = min(max(high, limit + 0.2 * scale), limit + 3 * scale)
    low = max(min(low, limit - 0.2 * scale), limit - 3 * scale)
    if 0 <= low < 0.25 * high:
        low = 0.0
    wanted = (high - low) / BARS
    width = scale / max(1, round(scale / wanted))
    below, above = math.ceil((limit - low) / width - 1e-6), math.ceil((high - limit) / width - 1e-6)
    return Bins(limit - below * width, width, below + above)


def percent_bins(low: float) -> Bins:
    """Return bars up to 100 % that begin below nearly all values, which come down to `low`."""
    first = min(90.0, max(0.0, 10 * math.floor(low / 10)))
    return Bins(first, (100 - first) / 25, 25)


def counted(
    dataset: Dataset, bins: Bins, column: str, rows: str, kind: str, values: Sequence[Any] = ()
) -> dict[str, tuple[int, ...]]:
    """Return the clips of `rows` in each bar, by the SQL expression `kind`; `values` are for the question marks of
    `rows`."""
    index = f"greatest(0, least({bins.count - 1}, floor(({column} - {bins.first!r}) / {bins.width!r} + 1e-9)))"
    sql = f"""SELECT {kind} AS what, {index}::INTEGER AS bar, count(*) FROM {rows}
        WHERE {column} IS NOT NULL GROUP BY what, bar"""
    out: dict[str, list[int]] = {}
    for what, bar, clips in ask(dataset.database, sql, values)[1]:
        out.setdefault(what, [0] * bins.count)[bar] = clips
    return {what: tuple(counts) for what, counts in out.items()}
