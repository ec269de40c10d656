"""Columns of numbers in parquet, by duckdb: one number, or a list of them, per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.errors import ReadError
from phuma.io.atomic import write_atomic

MOST_NUMBERS = 1 << 28
"""Numbers of a column that is read"""


def identifier(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns (T,), or (T, K) as lists of K numbers, whole or not at all."""
    plain: dict[str, NDArray[Any]] = {}
    terms = []
    for k, (name, values) in enumerate(columns.items()):
        parts = [f"c{k}_{i}" for i in range(values.shape[1])] if values.ndim == 2 else [f"c{k}"]
        plain |= dict(zip(parts, np.ascontiguousarray(np.atleast_2d(values.T))))
        terms.append(
            f"{'list_value(' + ', '.join(parts) + ')' if values.ndim == 2 else parts[0]} AS {identifier(name)}"
        )
    copy_query(path, f"SELECT {', '.join(terms)} FROM columns", columns=plain)


def copy_query(path: Path, query: str, metadata: Mapping[str, str] | None = None, **tables: Any) -> None:
    """Write the rows of a query over some tables, which are dictionaries of columns, in their order."""
    import duckdb

    said = "".join(f", KV_METADATA {{{key}: '{value}'}}" for key, value in (metadata or {}).items())
    part = path.with_name(f".{path.name}.duckdb")
    with duckdb.connect(config={"threads": 1}) as database:
        for name, table in tables.items():
            database.register(name, dict(table))
        try:
            database.execute(f"COPY ({query}) TO '{quoted_path(part)}' (FORMAT parquet, COMPRESSION zstd{said})")
            write_atomic(path, lambda f: f.write(part.read_bytes()))
        finally:
            part.unlink(missing_ok=True)


def quoted_path(path: Path) -> str:
    return str(path).replace("'", "''")


def read_columns(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return columns (T,) or (T, K) of an untrusted file; every fault of it is a ReadError."""
    import duckdb

    try:
        with duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False}) as database:
            source = f"read_parquet(['{quoted_path(path)}'])"
            kinds = {
                str(row[0]): str(row[1]) for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            }
            if missing := [name for name in names if name not in kinds]:
                raise ReadError(path, f"has no column {missing[0]}; it has {', '.join(kinds)[:300]}")
            return {name: _column(path, database, source, name, kinds[name]) for name in names}
    except duckdb.Error as e:
        raise ReadError(path, f"is not readable parquet ({str(e).splitlines()[0][:200]})") from None


def _column(path: Path, database: Any, source: str, name: str, kind: str) -> NDArray[Any]:
    """Return a column of numbers, or of lists of numbers that are all of one length."""
    column = identifier(name)
    if not kind.endswith("]"):
        values = database.execute(f"SELECT {column} AS v FROM {source}").fetchnumpy()["v"]
        return _numbers(path, name, values)
    shortest, longest, rows = database.execute(
        f"SELECT min(len({column})), max(len({column})), count(*) FROM {source}"
    ).fetchone()
    if shortest is None or shortest != longest or rows * longest > MOST_NUMBERS:
        raise ReadError(path, f"{name} holds lists of {shortest} to {longest} numbers; expected one length")
    flat = database.execute(f"SELECT unnest({column}) AS v FROM {source}").fetchnumpy()["v"]
    return _numbers(path, name, flat).reshape(rows, longest)


def _numbers(path: Path, name: str, values: NDArray[Any]) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise ReadError(path, f"{name} has rows without a value")
    if values.dtype.kind not in "iuf":
        raise ReadError(path, f"{name} is of type {values.dtype}; expected numbers")
    return np.asarray(values)
