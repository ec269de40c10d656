"""The manifest: a Parquet table with a row for every clip and robot, written and asked through DuckDB."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.errors import ConfigError, ReadError, StorageError, missing_extra

if TYPE_CHECKING:
    import duckdb

# Name: type, in order. docs/dataset.md says what each one is.
COLUMNS: Mapping[str, str] = {
    "clip": "VARCHAR", "robot": "VARCHAR", "kept": "BOOLEAN", "reasons": "VARCHAR[]",
    "recording": "VARCHAR", "source": "VARCHAR", "format": "VARCHAR", "person": "INTEGER", "mirrored": "BOOLEAN",
    "start": "DOUBLE", "end": "DOUBLE", "fps": "DOUBLE", "frames": "INTEGER",
    "split": "VARCHAR", "category": "VARCHAR", "category_group": "VARCHAR", "category_guess": "VARCHAR",
    "label": "VARCHAR", "licence": "VARCHAR", "redistributable": "BOOLEAN", "notes": "VARCHAR[]",
    "root_jerk": "DOUBLE", "contact_score": "DOUBLE", "pelvis_min": "DOUBLE", "pelvis_max": "DOUBLE",
    "pelvis_support": "DOUBLE", "spine_support": "DOUBLE",
    "helping_force": "DOUBLE", "sole_slide": "DOUBLE", "ground_drift": "DOUBLE", "ground_tilt": "DOUBLE",
    "shake": "DOUBLE", "duration": "DOUBLE",
    "root_jerk_limit": "DOUBLE", "contact_score_limit": "DOUBLE", "pelvis_min_limit": "DOUBLE",
    "pelvis_max_limit": "DOUBLE", "pelvis_support_limit": "DOUBLE", "spine_support_limit": "DOUBLE",
    "helping_force_limit": "DOUBLE", "sole_slide_limit": "DOUBLE", "ground_drift_limit": "DOUBLE",
    "ground_tilt_limit": "DOUBLE", "shake_limit": "DOUBLE", "duration_limit": "DOUBLE",
    "method": "VARCHAR", "flags": "VARCHAR[]", "scale": "DOUBLE", "steps": "INTEGER",
    "fidelity": "DOUBLE", "feasibility": "DOUBLE", "non_floating": "DOUBLE", "non_penetration": "DOUBLE",
    "non_skating": "DOUBLE",
    "fidelity_aligned": "DOUBLE", "fidelity_every": "DOUBLE", "fidelity_samples": "DOUBLE",
    "position_error_cm": "DOUBLE", "direction_error_deg": "DOUBLE", "non_penetration_all": "DOUBLE",
    "stance_roll_deg": "DOUBLE", "slip_cm_s_median": "DOUBLE", "slip_cm_s_p99": "DOUBLE", "height_mm_p99": "DOUBLE",
    "joint_jerk": "DOUBLE", "self_penetration": "DOUBLE", "torque_peak": "DOUBLE", "torque_over": "DOUBLE",
    "residual_contact": "DOUBLE", "residual_flight": "DOUBLE", "contact_samples": "INTEGER",
    "step_samples": "INTEGER",
    "human_non_floating": "DOUBLE", "human_non_penetration": "DOUBLE", "human_non_skating": "DOUBLE",
    "imported": "BOOLEAN", "file": "VARCHAR", "sha256": "VARCHAR", "human_file": "VARCHAR", "human_sha256": "VARCHAR",
    "source_sha256": "VARCHAR",
}  # fmt: skip


DYNAMIC = ("helping_force", "sole_slide", "ground_drift", "ground_tilt", "shake")
LATER = {f"{name}{part}" for name in DYNAMIC for part in ("", "_limit")}
"""Columns that the first datasets were built without; there they are empty"""


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory that fetches nothing from anywhere."""
    try:
        import duckdb
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a dataset") from None
    return duckdb.connect(config={"autoinstall_known_extensions": False, "threads": 1})


def write_manifest(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write all rows in their order, whole or not at all; returns how many. Holds few of them in memory."""
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
            source = f"read_json({_quoted(lines)}, format='newline_delimited', columns={{{columns}}})"
            database.execute(f"COPY (FROM {source}) TO {_quoted(part)} (FORMAT parquet, COMPRESSION zstd)")
        with open(part, "rb+") as written:
            os.fsync(written.fileno())
        part.replace(path)
    except (OSError, duckdb.IOException) as e:
        raise StorageError(f"{path}: cannot be written: {getattr(e, 'strerror', None) or e}") from None
    finally:
        lines.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return count


def open_manifest(path: Path) -> duckdb.DuckDBPyConnection:
    """A database with one table, `manifest`, that can read no file and write none."""
    import duckdb

    database = connect()
    try:
        database.execute(f"CREATE TABLE manifest AS FROM read_parquet({_quoted(path)})")
    except duckdb.Error as e:
        raise ReadError(path, f"is damaged: {str(e).splitlines()[0]}") from None
    found = {name for name, *_ in database.execute("DESCRIBE manifest").fetchall()}
    for name in LATER - found:
        database.execute(f"ALTER TABLE manifest ADD COLUMN {name} {COLUMNS[name]}")
    if missing := [name for name in COLUMNS if name not in found | LATER]:
        raise ReadError(path, f"has no column {', '.join(missing)}")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def ask(database: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()) -> tuple[list[str], list[tuple]]:
    """Names of the columns and rows of an answer; a fault of the question is told in DuckDB's words."""
    import duckdb

    try:
        answer = database.execute(sql, list(values))
        return [about[0] for about in answer.description or ()], answer.fetchall()
    except duckdb.Error as e:
        raise ConfigError(f"the question cannot be answered: {e}") from None


def clean_condition(where: str | None) -> str:
    """A condition for a WHERE that is one condition and nothing else."""
    if where is None or not where.strip():
        return "true"
    if ";" in where:
        raise ConfigError(f"a condition without `;` is expected, not {where!r}")
    return f"({where}\n)"  # a comment at its end ends with the line


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
