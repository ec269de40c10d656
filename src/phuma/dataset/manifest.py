"""The manifest: a Parquet table with a row for every clip and robot, written and asked through DuckDB."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.core.curation_metrics import CURATION, RENAMED
from phuma.core.robot_metrics import BESIDE, HUMAN, MAIN, ROBOT, SAMPLES
from phuma.dataset.plain_question import columns_of
from phuma.errors import ConfigError, ReadError, StorageError, missing_extra
from phuma.io.schema import LARGEST

if TYPE_CHECKING:
    import duckdb

_CURATION = [metric.name for metric in CURATION]
_OF_CLIP = {
    "clip": "VARCHAR", "robot": "VARCHAR", "kept": "BOOLEAN", "reasons": "VARCHAR[]",
    "recording": "VARCHAR", "source": "VARCHAR", "format": "VARCHAR", "person": "INTEGER", "mirrored": "BOOLEAN",
    "start": "DOUBLE", "end": "DOUBLE", "fps": "DOUBLE", "frames": "INTEGER",
    "split": "VARCHAR", "category": "VARCHAR", "category_group": "VARCHAR", "category_guess": "VARCHAR",
    "label": "VARCHAR", "licence": "VARCHAR", "redistributable": "BOOLEAN", "notes": "VARCHAR[]",
}  # fmt: skip
_OF_RETARGETING = {"method": "VARCHAR", "flags": "VARCHAR[]", "scale": "DOUBLE", "steps": "INTEGER"}
_SAMPLES = {name: "INTEGER" for name in SAMPLES if name not in _OF_CLIP}
_OF_CERTIFICATE = {
    "certified": "BOOLEAN", "certified_loosely": "BOOLEAN", "certified_error_mm": "DOUBLE",
    "certified_torque_share": "DOUBLE", "certified_robust_starts": "DOUBLE", "certified_robust_pushes": "DOUBLE",
    "certified_effort": "VARCHAR", "certified_way": "VARCHAR", "certified_reason": "VARCHAR",
    "certified_file": "VARCHAR", "certified_sha256": "VARCHAR",
}  # fmt: skip
_OF_FILES = {
    "imported": "BOOLEAN", "file": "VARCHAR", "sha256": "VARCHAR", "human_file": "VARCHAR", "human_sha256": "VARCHAR",
    "source_sha256": "VARCHAR",
}  # fmt: skip
METRICS = {metric.name: metric for metric in (*CURATION, *ROBOT)}
"""Metrics of curation and retargeting, by the column's name"""
LATER = (*METRICS, *(f"{name}_limit" for name in _CURATION), *_OF_CERTIFICATE)
"""Columns that are missing in a dataset built before they were declared; they are empty there"""
COLUMNS: Mapping[str, str] = {
    **_OF_CLIP,
    **dict.fromkeys(_CURATION, "DOUBLE"),
    **dict.fromkeys([f"{name}_limit" for name in _CURATION], "DOUBLE"),
    **_OF_RETARGETING,
    **dict.fromkeys([metric.name for metric in (*MAIN, *BESIDE)], "DOUBLE"),
    **_SAMPLES,
    **dict.fromkeys([metric.name for metric in HUMAN], "DOUBLE"),
    **_OF_CERTIFICATE,
    **_OF_FILES,
}
"""Name and type of every column, in order; docs/formats/dataset.md and docs/tables/metrics.md say what each one is"""

NEEDED = ("clip", "robot", "kept")
"""Columns that are never null"""
NEEDED_IF_KEPT = ("frames", "fps", "start", "end")
QUESTIONS = ("SELECT", "EXPLAIN", "MULTI")
"""Kinds of statements that `phuma query` answers; a PIVOT is a MULTI"""
BOUNDS: Mapping[str, tuple[float, float]] = {
    **{name: (-LARGEST, LARGEST) for name, kind in COLUMNS.items() if kind == "DOUBLE"},
    **{name: (0, 2**31 - 1) for name, kind in COLUMNS.items() if kind == "INTEGER"},
    "fps": (1, 1e6),
}
"""Least and greatest value of each column of numbers"""


def connect() -> duckdb.DuckDBPyConnection:
    """Return an empty database in memory that fetches nothing from anywhere."""
    try:
        import duckdb
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a dataset") from None
    # Files in the folder for temporary ones would be open to every query.
    return duckdb.connect(config={"autoinstall_known_extensions": False, "threads": 1, "temp_directory": ""})


def write_manifest(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write all rows in their order, whole or not at all; return how many. Few of them are in memory at a time."""
    import duckdb

    lines, part = (path.with_name(f".{uuid.uuid4().hex}.part") for _ in range(2))
    count = 0
    try:
        with open(lines, "w", encoding="utf-8") as f:
            for row in rows:
                unknown = set(row) - set(COLUMNS)
                assert not unknown, f"no column for {unknown}"
                f.write(json.dumps({name: row.get(name) for name in COLUMNS}) + "\n")
                count += 1
        with connect() as database:
            columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
            options = f"format='newline_delimited', columns={{{columns}}}, hive_partitioning=false"
            source = f"read_json({quoted(_one_file(lines))}, {options})"
            database.execute(f"COPY (FROM {source}) TO {quoted(str(part))} (FORMAT parquet, COMPRESSION zstd)")
        with open(part, "rb+") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except duckdb.OutOfMemoryException as e:
        raise MemoryError(str(e).splitlines()[0]) from None
    except (OSError, duckdb.IOException) as e:
        raise StorageError(f"{path}: cannot be written: {getattr(e, 'strerror', None) or e}") from None
    finally:
        lines.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return count


def open_manifest(path: Path, question: str | None = None) -> duckdb.DuckDBPyConnection:
    """Return a database with one table, `manifest`, that can read no file and write none.

    Columns have their types and values are within their bounds; columns that are not known may be there, too. Metrics
    have the names that they have now, whatever they were called when the manifest was written, and are null where they
    were measured on nothing. Where the only question that will be asked is given, columns that it is not about may be
    left out.
    """
    import duckdb

    database = connect()
    wanted = None if question is None else columns_of(database, question, COLUMNS)
    if wanted is not None:
        wanted |= {metric.weight for metric in ROBOT if metric.name in wanted} | {"clip", "robot", "kept"}
    source = f"read_parquet({quoted(_one_file(path))}, hive_partitioning=false)"
    try:
        found = {name for name, *_ in database.execute(f"DESCRIBE FROM {source}").fetchall()}
        database.execute(f"CREATE TABLE manifest AS SELECT {_to_read(found, wanted)} FROM {source}")
    except duckdb.Error as e:
        raise ReadError(path, f"is damaged: {str(e).splitlines()[0]}") from None
    _bring_up_to_date(path, database, found, wanted)
    if fault := _wrong_value(database):
        raise ReadError(path, fault)
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def _bring_up_to_date(
    path: Path, database: duckdb.DuckDBPyConnection, there: set[str], wanted: set[str] | None
) -> None:
    """Give metrics the names of today, add those that did not exist yet, and check the types of all columns.

    `there` are the columns of the file, of which those that are wanted were read.
    """
    if missing := [name for name in COLUMNS if name not in there and name not in LATER]:
        raise ReadError(path, f"has no column {', '.join(missing)}")
    found = {name: kind for name, kind, *_ in database.execute("DESCRIBE manifest").fetchall()}
    for old, new in RENAMED.items():
        if old in found and new not in found:
            database.execute(f"ALTER TABLE manifest RENAME COLUMN {old} TO {new}")
            found[new] = found[old]
    for name in [name for name in LATER if name not in found and (wanted is None or name in wanted)]:
        database.execute(f"ALTER TABLE manifest ADD COLUMN {name} {COLUMNS[name]}")
    for name, kind in COLUMNS.items():
        if found.get(name, kind) != kind:
            raise ReadError(path, f"column {name} is of type {found[name]}, expected {kind}")
    for count in _SAMPLES:
        own = [metric.name for metric in ROBOT if metric.weight == count and (wanted is None or metric.name in wanted)]
        if own:
            database.execute(f"UPDATE manifest SET {', '.join(f'{n} = NULL' for n in own)} WHERE {count} = 0")


def _wrong_value(database: duckdb.DuckDBPyConnection) -> str | None:
    """Return which value of the columns that were read is null, out of bounds or no number, with its row."""
    there = {name for name, *_ in database.execute("DESCRIBE manifest").fetchall()}
    lists = [name for name, kind in COLUMNS.items() if kind == "VARCHAR[]"]
    tests = [
        *((name, f"{name} IS NULL", "a value") for name in NEEDED),
        *((name, f'kept AND "{name}" IS NULL', "a value, as the clip is kept") for name in NEEDED_IF_KEPT),
        *((name, f"list_count({name}) != len({name})", "texts") for name in lists),
        *(
            (name, f'NOT ("{name}" BETWEEN {low} AND {high})', f"{low:g} to {high:g}")
            for name, (low, high) in BOUNDS.items()
        ),
    ]
    tests = [(name, test, expected) for name, test, expected in tests if name in there]
    holds = ", ".join(f"bool_or({test})" for _, test, _ in tests)  # a fifth of the time that counting takes
    found = database.execute(f"SELECT {holds} FROM manifest").fetchall()[0]
    for (name, test, expected), wrong in zip(tests, found):
        if wrong:
            sql = f'SELECT "{name}", clip, robot FROM manifest WHERE {test} LIMIT 1'
            value, clip, robot = database.execute(sql).fetchall()[0]
            found_value = "null" if value is None else repr(value)
            return f"{name} is {found_value} in the row of {clip!r} on {robot!r}; expected {expected}"
    return None


def _to_read(found: set[str], wanted: set[str] | None) -> str:
    """Return the columns of a file to read, under the names that they have there; all where none is wanted by name."""
    if wanted is None:
        return "*"
    there = [name for name in sorted(found) if RENAMED.get(name, name) in wanted]
    return ", ".join(f'"{name}"' for name in there)


def ask(database: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()) -> tuple[list[str], list[tuple]]:
    """Return the names of the columns and the rows of an answer; a fault of the question is reported in DuckDB's
    words."""
    import duckdb

    try:
        answer = database.execute(sql, list(values))
        return [about[0] for about in answer.description or ()], answer.fetchall()
    except duckdb.Error as e:
        raise ConfigError(f"the question cannot be answered: {_in_short(e)}") from None


def _in_short(e: Exception) -> str:
    """Return DuckDB's words without the place in a text that may not be the one that was typed."""
    return str(e).split("\n\nLINE ")[0]


def one_question(database: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Return a text that is one SELECT, or what DuckDB takes for one: FROM, PIVOT, DESCRIBE, SUMMARIZE and the like."""
    import duckdb

    try:
        kinds = [statement.type.name for statement in database.extract_statements(sql)]
    except duckdb.Error as e:
        raise ConfigError(f"the question cannot be answered: {_in_short(e)}") from None
    if len(kinds) == 1 and kinds[0] in QUESTIONS:
        return sql
    given = "nothing" if not kinds else f"{len(kinds)} statements" if len(kinds) > 1 else kinds[0]
    raise ConfigError(
        f"the question cannot be answered: expected one SELECT, not {given}; for example: "
        "SELECT category, count(*) FROM manifest GROUP BY ALL"
    )


def clean_condition(where: str | None) -> str:
    """Return a condition for a WHERE that is one condition and nothing else."""
    if where is None or not where.strip():
        return "true"
    if ";" in where:
        raise ConfigError(f"a condition without `;` is expected, not {where!r}")
    return f"({where}\n)"  # a comment at its end ends with the line


def _one_file(path: Path) -> str:
    """Return a pattern of DuckDB that this file matches and no other, whatever characters its folders' names have."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def quoted(text: str) -> str:
    """Return a text of SQL."""
    return "'" + text.replace("'", "''") + "'"
