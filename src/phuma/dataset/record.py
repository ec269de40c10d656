"""What is known of one finished recording: its clips as rows of the manifest, or why there are none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from phuma.errors import ReadError
from phuma.files.atomic import write_atomic

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A recording to be done."""

    path: Path
    name: str
    """The source folder's name and the path below it: what the recording is called everywhere"""
    source: str
    """The source folder's name"""
    relative: str
    """The path below it"""
    id: str
    """The name as a file name"""
    label: str | None = None
    """What somebody wrote about it"""
    settings: str = ""
    """What its result depends on beside the file and the dataset's configuration"""


@dataclass(frozen=True)
class Record:
    """A finished recording."""

    id: str
    name: str
    source: str
    label: str | None
    sha256: str
    """of the file that was read"""
    rows: tuple[Row, ...] = ()
    failed: str | None = None
    """Why it could not be used; None where `rows` are its clips"""
    settings: str = ""
    """of its job"""

    def is_of(self, job: Job, sha256: str) -> bool:
        """Whether doing the job again would give this again."""
        return (self.name, self.label, self.settings, self.sha256) == (job.name, job.label, job.settings, sha256)

    def files_exist(self, root: Path) -> bool:
        names = (row[key] for row in self.rows for key in ("file", "human_file") if row.get(key))
        return all((root / name).is_file() for name in names)


def save_record(path: Path, record: Record) -> None:
    text = json.dumps(asdict(record), sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomic(path, lambda f: f.write(text.encode("utf-8", "surrogatepass")))


def load_record(path: Path) -> Record:
    try:
        data: Mapping[str, Any] = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        return Record(**{**data, "rows": tuple(data["rows"])})
    except (OSError, ValueError, TypeError, KeyError) as e:
        raise ReadError(
            path, f"is damaged ({type(e).__name__}: {e}); remove it, and the recording is done again"
        ) from None


def file_sha256(path: Path) -> str:
    """Of a file's content, read a piece at a time."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def file_stamp(path: Path) -> tuple[int, int, int]:
    """Changes when a file does, and costs nothing to ask for."""
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns, about.st_ino
