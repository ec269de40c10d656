"""Results of long benchmarks: a line of JSON each, added as it is found, so that a run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """What there is."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def add_row(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a") as f:
        f.write(json.dumps(row) + "\n")
