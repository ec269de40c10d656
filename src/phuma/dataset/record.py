"""Record what is known of one finished recording: its clips as rows of the manifest, or why there are none."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phuma.core.curation_metrics import RENAMED, with_current_names
from phuma.core.robot_metrics import with_unknowns
from phuma.dataset.manifest import BOUNDS, COLUMNS, NEEDED, NEEDED_IF_KEPT
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.json_file import read_json
from phuma.io.schema import BOOLEAN, TEXT, ListOf, Object, OrNull, Schema, Value, between

Row = dict[str, Any]
HASHED = {"file": "sha256", "human_file": "human_sha256", "certified_file": "certified_sha256"}
"""Columns that name a file, each with that of the file's hash"""


@dataclass(frozen=True)
class Job:
    """A recording to be done."""

    path: Path
    name: str
    """Name of the recording everywhere: the source folder's name and the path below it"""
    source: str
    """Name of the source folder"""
    relative: str
    """Path below the source folder"""
    id: str
    """Name of the recording as a file name"""
    label: str | None = None
    """Text that somebody wrote about the recording"""
    settings: str = ""
    """Settings that the result depends on beside the file and the dataset's configuration"""


@dataclass(frozen=True)
class Record:
    """The record of a finished recording."""

    id: str
    name: str
    source: str
    label: str | None
    sha256: str
    """Hash of the file that was read"""
    rows: tuple[Row, ...] = ()
    failed: str | None = None
    """Reason why the recording could not be used; None where `rows` are its clips"""
    settings: str = ""
    """Settings of its job"""

    def is_of(self, job: Job, sha256: str) -> bool:
        """Return whether doing the job again would give this record again."""
        return (self.name, self.label, self.settings, self.sha256) == (job.name, job.label, job.settings, sha256)

    def files_are_whole(self, root: Path) -> bool:
        """Return whether all files that the rows name are there, as they were written."""
        files = ((row.get(name), row.get(sha256)) for row in self.rows for name, sha256 in HASHED.items())
        return all(file_sha256(root / name) == sha256 for name, sha256 in dict.fromkeys(files) if name)


def _value(name: str, kind: str) -> Schema:
    """Return the schema of a column in a record's row."""
    if name in BOUNDS:
        return between(*BOUNDS[name], types=(int,) if kind == "INTEGER" else (int, float))
    if name in FOLDERS:
        return Value(f"a file below {FOLDERS[name]}", (str,), lambda text: text.startswith(FOLDERS[name]))
    kinds: dict[str, Schema] = {"VARCHAR": TEXT, "BOOLEAN": BOOLEAN, "VARCHAR[]": ListOf(TEXT)}
    return kinds[kind]


FOLDERS = {"file": "clips/", "human_file": "recordings/", "certified_file": "certified/"}
VALUES = {name: _value(name, kind) for name, kind in COLUMNS.items()}
ROW = Object(
    {name: VALUES[name] for name in NEEDED},
    {
        **{name: OrNull(value) for name, value in VALUES.items()},
        **{old: OrNull(VALUES[new]) for old, new in RENAMED.items()},
    },
)
SCHEMA = Object(
    {"id": TEXT, "name": TEXT, "source": TEXT, "label": OrNull(TEXT), "sha256": TEXT, "rows": ListOf(ROW)},
    {"failed": OrNull(TEXT), "settings": TEXT},
)
"""What a record has to be; all keys but the last two are in every one that was ever written"""


def save_record(path: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    text = json.dumps(vars(record), sort_keys=True, ensure_ascii=False, allow_nan=False)
    if fault := _fault(json.loads(text), path):
        raise ValueError(f"a record that could not be read again: {fault}")
    write_atomic(path, lambda f: f.write(text.encode("utf-8", "surrogatepass")))


def load_record(path: Path) -> Record:
    """Read a record that is what the schema says, under its own name; metrics have the names that they have today,
    and None where they were measured on nothing."""
    try:
        data = read_json(path)
        if fault := _fault(data, path):
            raise ReadError(path, fault)
    except ReadError as e:
        raise ReadError(path, f"is damaged: {e.problem}; remove it, and the recording is done again") from None
    return Record(**{**data, "rows": tuple(with_unknowns(with_current_names(row)) for row in data["rows"])})


def _fault(data: Any, path: Path) -> str | None:
    """Return what is wrong with the content of a record in the file at `path`."""
    if fault := SCHEMA.fault(data, ""):
        return fault
    if data["id"] != path.stem:
        return f"id is {data['id']!r}; expected the file's own name, {path.stem!r}"
    rows = [(i, row) for i, row in enumerate(data["rows"]) if row["kept"]]
    missing = ((i, name) for i, row in rows for name in NEEDED_IF_KEPT if row.get(name) is None)
    return next((f"rows[{i}] is kept and has no {name!r}" for i, name in missing), None)


PIECE = 1 << 16
"""Bytes of a file that are read at a time: more would be asked of the system, and given back, for every small file"""


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's content, read a piece at a time."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def file_stamp(path: Path) -> tuple[int, int, int]:
    """Return a stamp that changes when a file does, without reading it."""
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns, about.st_ino
