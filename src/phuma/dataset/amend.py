"""Add to the rows of a dataset that is there: each recording once, whatever happens on the way.

A recording is amended by writing files beside its clips and, last, its record. So work that is killed at any moment
goes on where it was, and ends with the same bytes, as a build does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from phuma.dataset.builder import finish
from phuma.dataset.dataset import Dataset
from phuma.dataset.describe import load_description
from phuma.dataset.layout import Layout
from phuma.dataset.record import Record, Row, load_record, save_record
from phuma.errors import ConfigError
from phuma.io.atomic import without_waiting
from phuma.io.lock import at_work, locked, wait_for_workers
from phuma.runtime.process_pool import Done

Key = tuple[str, str]
"""Names of clip and robot"""
Amend = Callable[[Row, str, Layout], Mapping[str, Any]]
"""Function from a row, its recording and the layout to new values of the row's columns; it may write files"""
Runner = Callable[[Callable[[str], int], list[str]], Iterator[Done]]
"""Function that runs work on many recordings, in processes or on a cluster"""


def amend(
    root: Path,
    wanted: Iterable[Key],
    is_done: Callable[[Row, Path], bool],
    work: Amend,
    run: Runner,
    progress: Callable[[int, int, int], None] = lambda done, again, total: None,
) -> list[tuple[str, str]]:
    """Amend the wanted rows that are not done, then write the manifest anew; return recordings that failed and why.

    `progress` is told the rows that are done, those that were done before, and all.
    """
    layout, keys = Layout(root), set(wanted)
    description = load_description(root)
    if not description.finished:
        raise ConfigError(f"{root} is not finished: run the same `phuma build` again, it goes on where it was")
    with locked(layout.lock):
        wait_for_workers(layout.work)
        todo, missing, recorded = [], 0, set()
        for recording in layout.done():
            rows = load_record(layout.record(recording)).rows
            recorded |= {(row["clip"], row["robot"]) for row in rows}
            if count := sum((row["clip"], row["robot"]) in keys and not is_done(row, root) for row in rows):
                todo.append(recording)
                missing += count
        _check_records(root, layout, recorded)
        done = before = len(keys) - missing
        progress(done, before, len(keys))
        failed = []
        for outcome in run(partial(amend_recording, root=root, keys=keys, is_done=is_done, work=work), todo):
            if outcome.failure is not None:
                failed.append((todo[outcome.index], outcome.failure))
            else:
                done += outcome.value
            progress(done, before, len(keys))
        finish(layout, description)
    return failed


def _check_records(root: Path, layout: Layout, recorded: set[Key]) -> None:
    """Check that every row of the manifest has its record, as the manifest is written anew from the records."""
    lost = [
        key for row in Dataset(root).rows(columns="clip, robot") if (key := (row["clip"], row["robot"])) not in recorded
    ]
    if lost:
        raise ConfigError(
            f"{len(lost)} clips of {root} have no record in {layout.work}, for example {lost[0][0]}: nothing can be "
            "added to such a dataset without losing them. `phuma verify` says more; a copy needs that folder, too"
        )


def amend_recording(
    recording: str, root: Path, keys: set[Key], is_done: Callable[[Row, Path], bool], work: Amend
) -> int:
    """Amend the rows of one recording, its record after each of them; return how many."""
    layout = Layout(root)
    with at_work(layout.work), without_waiting():
        record, count = load_record(layout.record(recording)), 0
        for n, row in enumerate(record.rows):
            if (row["clip"], row["robot"]) in keys and not is_done(row, root):
                record = _with_row(record, n, {**row, **work(row, recording, layout)})
                save_record(layout.record(recording), record)
                count += 1
    return count


def _with_row(record: Record, number: int, row: Row) -> Record:
    return replace(record, rows=(*record.rows[:number], row, *record.rows[number + 1 :]))
