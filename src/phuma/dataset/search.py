"""Search for clips in a dataset: by words, by what they are and by any metric, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from phuma.core.metric import Metric
from phuma.core.names import did_you_mean
from phuma.dataset.category import TYPES
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import METRICS, ask
from phuma.dataset.split import SPLITS
from phuma.errors import ConfigError

PAGE_ROWS = 50
MOST_WORDS = 20
VERDICTS = {"kept": "kept", "rejected": "NOT kept"}


@dataclass(frozen=True)
class Search:
    """Conditions on rows, which hold together. The order is by `sort`, rows without a value last, then by clip and
    robot."""

    text: str = ""
    """Words of which each has to be in the recording's name, the clip's, its label, category or source, whatever the
    case"""
    category: str | None = None
    split: str | None = None
    verdict: str | None = None
    """Verdict: kept or rejected"""
    source: str | None = None
    robot: str | None = None
    metric: str | None = None
    low: float | None = None
    """Least value of `metric`"""
    high: float | None = None
    """Greatest value of `metric`"""
    sort: str | None = None
    """Metric to sort by"""
    descending: bool = False
    page: int = 0

    def __post_init__(self) -> None:
        _one_of("verdict", self.verdict, VERDICTS)
        _one_of("metric", self.metric, METRICS)
        _one_of("metric", self.sort, METRICS)
        for name in ("low", "high"):
            value = getattr(self, name)
            if value is not None and not isfinite(value):
                raise ConfigError(f"{name} is {value}; expected a number")
            if value is not None and not self.metric:
                raise ConfigError(f"{name} is {value:g}, but of which metric? There are: {', '.join(METRICS)}")
        if self.page < 0:
            raise ConfigError(f"page {self.page}; the first is 0")
        if len(self.words) > MOST_WORDS:
            raise ConfigError(f"{len(self.words)} words to search for; at most {MOST_WORDS}")
        if any("\ud800" <= c <= "\udfff" for c in self.text):
            raise ConfigError(f"the text {self.text!r} is no Unicode")

    @property
    def words(self) -> list[str]:
        """Return the words of the text, each once."""
        return list(dict.fromkeys(self.text.split()))


@dataclass(frozen=True)
class Page:
    """One page of the rows that were found."""

    total: int
    """Number of rows on all pages"""
    page: int
    pages: int
    rows: list[dict[str, Any]]
    """Rows of this page: at most 50, none on a page after the last; `value` is the metric sorted by, else the one
    filtered by"""


@dataclass(frozen=True)
class Facets:
    """The values that can be chosen in a search."""

    clips: int
    kept: int
    """Number of kept clips"""
    robots: tuple[str, ...]
    categories: tuple[str, ...]
    splits: tuple[str, ...]
    sources: tuple[str, ...]
    metrics: tuple[Metric, ...]
    """Metrics that any row has a value of"""


def search(dataset: Dataset, wanted: Search) -> Page:
    """Return a page of the manifest's rows. Safe from several threads at once: each asks by a cursor of its own."""
    with _cursor(dataset) as database:
        condition, values = _condition(database, wanted)
        total = ask(database, f"SELECT count(*) FROM searched WHERE {condition}", values)[1][0][0]
        pages = -(-total // PAGE_ROWS)
        rows: list[dict[str, Any]] = []
        if wanted.page < pages:
            first = wanted.page * PAGE_ROWS
            names, found = ask(database, _rows_sql(wanted, condition), [*values, PAGE_ROWS, first])
            rows = [dict(zip(names, row)) for row in found]
    return Page(total, wanted.page, pages, rows)


def facets(dataset: Dataset) -> Facets:
    """Return what `search` can be asked for in this dataset; like `search` it is safe from several threads at once."""
    with _cursor(dataset) as database:
        counts = ", ".join(f"count({name})" for name in METRICS)
        counted = "count(DISTINCT clip), count(DISTINCT clip) FILTER (kept)"
        clips, kept, *valued = ask(database, f"SELECT {counted}, {counts} FROM searched")[1][0]
        return Facets(
            clips=clips,
            kept=kept,
            robots=_in_order(_present(database, "robot"), dataset.description.robots),
            categories=_in_order(_present(database, "category"), TYPES),
            splits=_in_order(_present(database, "split"), SPLITS),
            sources=_present(database, "source"),
            metrics=tuple(metric for metric, count in zip(METRICS.values(), valued) if count),
        )


def _cursor(dataset: Dataset) -> Any:
    """Return a connection of the caller's own to the dataset's database, in which the first call makes `searched`."""
    dataset.derived("searched", _TABLE)
    return dataset.database.cursor()


_FIELDS = """clip, robot, recording, start, "end", category, split, kept, coalesce(reasons, []) AS reasons, label,
    coalesce(mirrored, false) AS mirrored"""
# Each row's place in the order by clip and robot, and what words are looked for in, made once: that is what makes a
# search quick. Places are found from the keys alone, since to sort whole rows takes longer than all the rest. Words
# hold no white space, so none matches across two columns.
_TABLE = f"""SELECT {_FIELDS}, source, place,
    {", ".join(METRICS)},
    lower(concat_ws(chr(10), recording, clip, label, category, source)) AS words
    FROM manifest POSITIONAL JOIN (
        SELECT place FROM (SELECT rowid AS row, row_number() OVER (ORDER BY clip, robot) AS place FROM manifest)
        ORDER BY row
    )"""


def _condition(database: Any, wanted: Search) -> tuple[str, list[Any]]:
    """Return SQL, and the values for its question marks: what comes from outside is never part of the SQL."""
    tests: list[tuple[str, list[Any]]] = [("true", [])]
    tests += [("contains(words, lower(?))", [word]) for word in wanted.words]
    for column in ("category", "split", "source", "robot"):
        if value := getattr(wanted, column):
            _one_of(column, value, _present(database, column))
            tests.append((f"{column} = ?", [value]))
    if wanted.verdict:
        tests.append((VERDICTS[wanted.verdict], []))
    for value, sign in ((wanted.low, ">="), (wanted.high, "<=")):
        if wanted.metric and value is not None:
            tests.append((f"{wanted.metric} {sign} ?", [value]))
    return " AND ".join(test for test, _ in tests), [value for _, given in tests for value in given]


def _rows_sql(wanted: Search, condition: str) -> str:
    order = [f"{wanted.sort} {'DESC' if wanted.descending else 'ASC'} NULLS LAST"] if wanted.sort else []
    return f"""SELECT clip, robot, recording, start, "end", category, split, kept, reasons, label, mirrored,
        {wanted.sort or wanted.metric or "NULL"} AS value
        FROM searched WHERE {condition} ORDER BY {", ".join([*order, "place"])} LIMIT ? OFFSET ?"""


def _present(database: Any, column: str) -> tuple[str, ...]:
    sql = f"SELECT DISTINCT {column} FROM searched WHERE {column} IS NOT NULL ORDER BY ALL"
    return tuple(str(row[0]) for row in ask(database, sql)[1])


def _in_order(present: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return those that are known in their own order, then the others."""
    return (*(name for name in known if name in present), *(name for name in present if name not in known))


def _one_of(what: str, value: str | None, valid: Any) -> None:
    if value and value not in valid:
        near = did_you_mean(value, valid)
        raise ConfigError(f"unknown {what} {value!r}{near}; there are: {', '.join(valid) or 'none'}")
