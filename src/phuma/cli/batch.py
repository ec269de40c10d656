"""Process many files with one command, in several processes, with a progress bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from phuma.errors import ConfigError, ReadError
from phuma.io.json_file import read_json
from phuma.pipelines.files_to_clips import Outcome
from phuma.runtime.process_pool import map_in_order
from phuma.runtime.progress import progress_bar
from phuma.sources.registry import Recording

Row = dict[str, Any]
WORTH_PROCESSES = 8
"""The number of files from which on all cores are used by default."""


def run_batch(
    work: Callable[[Recording], Outcome],
    files: Sequence[Recording],
    jobs: int | None,
    unit: str,
    note: Callable[[list[Row]], str] | None = None,
) -> Outcome:
    """Run `work` on all of `files` in `jobs` processes, with a bar that shows what `note` says of the rows so far."""
    jobs = jobs or ((os.cpu_count() or 1) if len(files) >= WORTH_PROCESSES else 1)
    total = Outcome([], [])
    with progress_bar(unit, len(files)) as bar:
        for outcome in map_in_order(work, files, jobs):
            total.rows.extend(outcome.rows)
            total.failed.extend(outcome.failed)
            if note:
                bar.set_postfix_str(note(total.rows), refresh=False)
            bar.update()
    return total


def earlier(result: Path, same: str, rows: Sequence[Row]) -> list[Row]:
    """Return the motions that earlier runs left in `result` and whose files are still there, but for those that are the
    `same` as one of `rows`, as the value called so says."""
    if not result.exists():
        return []
    try:
        replaced = {row[same] for row in rows}
        before = [row for row in read_json(result)["motions"] if row[same] not in replaced]
        return [row for row in before if row["file"] is None or (result.parent / row["file"]).is_file()]
    except (ValueError, KeyError, TypeError, OSError, ReadError):
        return []  # it is not ours, or damaged: the motions themselves hold all that it says


def check_jobs(jobs: int | None) -> None:
    """Raise a ConfigError for a number of jobs below 1."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"--jobs {jobs}; expected at least 1")
