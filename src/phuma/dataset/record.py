"""Record what is known of one finished recording: its clips as rows of the manifest, or why there are none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phuma.core.curation_metrics import with_current_names
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic

Row = dict[str, Any]
HASHED = {"file": "sha256", "human_file": "human_sha256"}
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


def save_record(path: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    text = json.dumps(vars(record), sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomic(path, lambda f: f.write(text.encode("utf-8", "surrogatepass")))


def load_record(path: Path) -> Record:
    """Read a record; metrics have the names that they have today."""
    try:
        data: Mapping[str, Any] = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        return Record(**{**data, "rows": tuple(map(with_current_names, data["rows"]))})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise ReadError(
            path, f"is damaged ({type(e).__name__}: {e}); remove it, and the recording is done again"
        ) from None


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's content, read a piece at a time."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def file_stamp(path: Path) -> tuple[int, int, int]:
    """Return a stamp that changes when a file does, without reading it."""
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns, about.st_ino
