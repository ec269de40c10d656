"""The table of a study: values with intervals, and which rows can be told apart. A pure function of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from phuma.evaluation.resampled import Interval, Sample, compare, estimate, estimate_share
from phuma.studies.frame.runner import Results, RowResult, group_of
from phuma.studies.frame.study import SEEN, Amount, Column, Cost, Mean, Success

NONE = "–"


@dataclass(frozen=True)
class Cell:
    """A value of a table; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    digits: int = 1

    def __str__(self) -> str:
        if self.value is None:
            return NONE
        text = f"{self.value:.{self.digits}f}"
        if self.low is None or self.high is None:
            return text
        return f"{text} [{self.low:.{self.digits}f}, {self.high:.{self.digits}f}]"


@dataclass(frozen=True)
class Comparison:
    """What a column says of two rows."""

    column: str
    one: str
    other: str
    difference: Interval


@dataclass(frozen=True)
class Table:
    """A study's results in plain values."""

    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    comparisons: tuple[Comparison, ...]

    def markdown(self) -> str:
        """Return the table as Markdown, with the columns' heads before their labels."""
        heads = [f"{column.head}: {column.label}" for column in self.columns]
        lines = [f"| | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
        for label, cells in zip(self.labels, self.cells):
            lines.append(f"| {label} | {' | '.join(map(str, cells))} |")
        return "\n".join(lines)


def table_of(results: Results) -> Table:
    """Return the table; columns that nothing is known of, as of policies that were not trained, are left out."""
    cells = [[cell_of(results, row, column) for column in results.study.columns] for row in results.rows]
    known = [n for n in range(len(results.study.columns)) if any(row[n].value is not None for row in cells)]
    columns = tuple(results.study.columns[n] for n in known)
    return Table(
        columns,
        tuple(result.row.label for result in results.rows),
        tuple(tuple(row[n] for n in known) for row in cells),
        tuple(c for column in results.study.deciding if column in columns for c in comparisons(results, column)),
    )


def cell_of(results: Results, row: RowResult, column: Column) -> Cell:
    """Return a cell."""
    if isinstance(column, Amount):
        return Cell(sum(column.of(line) for line in row.motions), digits=column.digits)
    if isinstance(column, Cost):
        own = [column.of(line) for line in row.trainings.values()]
        return Cell(sum(own) / len(own) if own else None, digits=column.digits)
    seeds = sorted(row.trainings) if isinstance(column, Success) else [0]
    sample = sample_of(results, row, column, seeds)
    if sample is None or np.isnan(sample.value):
        return Cell(None)
    share = isinstance(column, Success) or column.share
    return Cell(*(estimate_share if share else estimate)(sample), column.digits)


def sample_of(results: Results, row: RowResult, column: Mean | Success, seeds: Sequence[int]) -> Sample | None:
    """Return the values of a row by seed and recording; the recordings are the same for all rows."""
    values = [values_of(results, row, column, seed) for seed in seeds]
    names = {name: n for n, name in enumerate(recordings_of(results, column))}
    if not values or not names:
        return None
    total, count = np.zeros((2, len(seeds), len(names)))
    for s, own in enumerate(values):
        for recording, value in own:
            total[s, names[recording]] += value
            count[s, names[recording]] += 1
    return Sample(total, count)


def values_of(results: Results, row: RowResult, column: Mean | Success, seed: int) -> list[tuple[str, float]]:
    """Return the recordings and values of a row's motions, or of the motions that its policy is judged on."""
    if isinstance(column, Mean):
        if column.experts and not all("certified" in line for line in row.motions):
            return []
        pairs = [(line["piece"].recording, column.of(line)) for line in row.motions]
        return [(recording, value) for recording, value in pairs if value is not None]
    shares: Mapping[str, Mapping[str, float]] = row.trainings[seed]["sets"].get(column.test, {})
    pieces = judged_on(results, row, column.test)
    return [
        (pieces[name].recording, 100 * own[column.share])
        for name, own in shares.items()
        if column.share in own and column.group in (None, group_of(pieces[name]))
    ]


def judged_on(results: Results, row: RowResult, test: str) -> dict[str, Any]:
    """Return the clips of a set by the names of their motions; worlds have those of the first set."""
    if test == SEEN:
        return {line["name"]: line["piece"] for line in row.motions}
    own = results.tests.get(test) or next(iter(results.tests.values()))
    return {piece.name: piece for piece in own}


def recordings_of(results: Results, column: Mean | Success) -> list[str]:
    """Return the recordings that a column is of, in all rows."""
    if isinstance(column, Mean) or column.test == SEEN:
        return sorted({piece.recording for row in results.rows for piece in row.pieces})
    return sorted({piece.recording for piece in judged_on(results, results.rows[0], column.test).values()})


def comparisons(results: Results, column: Column) -> list[Comparison]:
    """Return what a column says of every two rows, on the seeds that both have."""
    if not isinstance(column, (Mean, Success)):
        return []
    out, name = [], f"{column.head}: {column.label}"
    for one, other in combinations(results.rows, 2):
        seeds = sorted(set(one.trainings) & set(other.trainings)) if isinstance(column, Success) else [0]
        pair = [sample_of(results, row, column, seeds) for row in (one, other)]
        if pair[0] is None or pair[1] is None or np.isnan(pair[0].value) or np.isnan(pair[1].value):
            continue
        out.append(Comparison(name, one.row.label, other.row.label, compare(pair[0], pair[1])))
    return out


class Verdict(NamedTuple):
    """What a column says of a row beside all others."""

    column: str
    row: str
    text: str

    def __str__(self) -> str:
        return f"{self.column}: {self.row}: {self.text}"


def verdicts(table: Table) -> list[Verdict]:
    """Return for each deciding column and row whom it is better than, worse than and not told apart from."""
    better = {f"{c.head}: {c.label}": getattr(c, "better", "high") for c in table.columns}
    out = []
    for column in dict.fromkeys(c.column for c in table.comparisons):
        for label in table.labels:
            found: dict[str, list[str]] = {"better than": [], "worse than": [], "cannot be told apart from": []}
            for c in table.comparisons:
                if c.column == column and label in (c.one, c.other):
                    gap = c.difference.value if c.one == label else -c.difference.value
                    ahead = gap > 0 if better[column] == "high" else gap < 0
                    word = "better than" if ahead else "worse than"
                    other = c.other if c.one == label else c.one
                    found[word if c.difference.tells else "cannot be told apart from"].append(other)
            others = sum(map(len, found.values()))
            parts = [
                f"{word} {'any other' if len(names) == others > 1 else ', '.join(names)}"
                for word, names in found.items()
                if names
            ]
            if parts:
                out.append(Verdict(column, label, "; ".join(parts)))
    return out


def resolution(table: Table) -> dict[str, float]:
    """Return for each deciding column half the width of the interval of a difference, the median over pairs whose
    values differ: smaller differences than that are mostly not seen."""
    widths: dict[str, list[float]] = {}
    for c in table.comparisons:
        gap = c.difference
        if gap.low is not None and gap.high is not None and gap.high > gap.low:
            widths.setdefault(c.column, []).append((gap.high - gap.low) / 2)
    return {name: float(np.median(own)) for name, own in widths.items()}
