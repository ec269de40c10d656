"""Build a dataset: each recording is done once, whatever happens on the way.

A recording is done by writing its files and, last, its record. What has a record is done; the manifest is made from
the records alone. So a build that is killed at any moment goes on where it was, and ends with the same bytes. A file
that a power failure took away is noticed by its hash, and its recording done again.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from phuma.dataset.describe import (
    PLANNED,
    Description,
    NewerVersionError,
    differences,
    load_description,
    save_description,
)
from phuma.dataset.layout import Layout, make_folder
from phuma.dataset.manifest import write_manifest
from phuma.dataset.record import Job, Record, Row, file_sha256, file_stamp, load_record, save_record
from phuma.errors import ConfigError, PhumaError, ReadError, StorageError, lack_of
from phuma.io.atomic import without_waiting
from phuma.io.inside import links_in
from phuma.io.lock import at_work, locked, wait_for_workers
from phuma.io.probe import Probe
from phuma.runtime.process_pool import Done

Produce = Callable[[Job, Layout], list[Row]]
"""Function that does one recording: it writes its files below the layout's folders and returns its rows"""
Runner = Callable[[Callable[[Job], "Outcome"], Sequence[Job]], Iterator[Done]]
"""Function that runs work on many jobs, in processes or on a cluster"""
OURS = ("work", "clips", "certified", "recordings")
FULL = (errno.ENOSPC, errno.EDQUOT)


class Outcome(NamedTuple):
    """The outcome of one recording, in short."""

    clips: int
    kept: int
    failed: str | None


@dataclass(frozen=True)
class Progress:
    """The progress of a build."""

    done: int
    total: int
    clips: int
    kept: int


def build(
    root: Path,
    jobs: Sequence[Job],
    produce: Produce,
    run: Runner,
    description: Description,
    rebuild: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Description:
    """Do every job that is not done yet, then write manifest and description; return the description."""
    layout = Layout(root)
    make_folder(root)
    with locked(layout.lock), _told_how_to_go_on():
        _check_links(root)
        wait_for_workers(layout.work)
        before = set() if rebuild else {path.stem for path in layout.work.glob("*.json")}
        planned = len(before | {job.id for job in jobs})
        claim(layout, replace(description, counts={PLANNED: planned}), rebuild)
        layout.make()
        _sweep_parts(root)
        todo, known = _unfinished(layout, jobs)
        state = Progress(len(jobs) - len(todo), len(jobs), *known)
        progress(state)
        for result in run(partial(do_job, root=root, produce=produce), todo):
            job = todo[result.index]
            outcome = result.value
            if result.failure is not None:
                outcome = give_up(layout, job, result.failure)
            state = replace(
                state, done=state.done + 1, clips=state.clips + outcome.clips, kept=state.kept + outcome.kept
            )
            progress(state)
        return finish(layout, description)


@contextmanager
def left_only_if_used(root: Path) -> Iterator[None]:
    """Remove a dataset that is begun in here, if none of its recordings could be used."""
    new = not root.exists()
    yield
    if new and (counts := load_description(root).counts)["failed"] == counts["recordings"]:
        shutil.rmtree(root)


@contextmanager
def _told_how_to_go_on() -> Iterator[None]:
    """Say of what the system did not give that nothing is lost by it."""
    try:
        yield
    except Exception as e:
        if why := lack_of(e):
            raise PhumaError(
                f"{why}. What is finished is kept: when there is more, run the same command again, and it goes on "
                "where it was"
            ) from None
        raise


def claim(layout: Layout, description: Description, rebuild: bool) -> None:
    """Claim the folder for this build: it has to be new, or begun with the same configuration."""
    if layout.description.exists() and rebuild:
        _check_ours(layout)
        # First: whoever finds half of the old one here must not go on with it as if it were the new one.
        save_description(layout.root, replace(description, config={"rebuild": "was cut off"}, finished=False))
        for name in OURS:
            _remove(layout.root / name)
        layout.manifest.unlink(missing_ok=True)
    elif layout.description.exists():
        before = load_description(layout.root)
        now = description.settings
        if before.only_imports:  # the first build may choose the rest
            now = {key: now[key] for key in before.settings if key in now}
        if changed := differences(before.settings, now):
            raise ConfigError(
                f"{layout.root} was begun with another configuration: {'; '.join(changed)}. "
                "Give the same options, choose another --out, or start it anew with --rebuild"
            )
    elif any((layout.root / name).exists() for name in OURS):
        raise ConfigError(
            f"{layout.root} holds {', '.join(OURS)} but no dataset.json: it is not ours; choose another --out"
        )
    save_description(layout.root, replace(description, finished=False, failed=()))


def _check_links(root: Path) -> None:
    """Check that nothing here is a link: what is written or removed below it would be somewhere else."""
    for path in links_in(root):
        raise ConfigError(
            f"{path} is a link to {os.readlink(path)}: a dataset is only written where all of it lies in its own "
            "folder. Put in its place what it stands for, or choose another --out"
        )


def _check_ours(layout: Layout) -> None:
    """Check that the description is not of a newer program; a damaged one may be replaced."""
    try:
        load_description(layout.root)
    except NewerVersionError:
        raise
    except ReadError:
        return


def _unfinished(layout: Layout, jobs: Sequence[Job]) -> tuple[list[Job], tuple[int, int]]:
    """Return the jobs without a valid record, and how many clips, and kept ones, the others have.

    What failed is tried again: the limits, the machine or the program may be better now, and a bad file fails quickly.
    """
    todo, clips, kept = [], 0, 0
    for job in jobs:
        try:
            record = load_record(layout.record(job.id))
            valid = record.failed is None and record.is_of(job, file_sha256(job.path))
            valid = valid and record.files_are_whole(layout.root)
        except (ReadError, OSError):
            valid = False
        if valid:
            found = tally(record.rows)
            clips, kept = clips + found["clips"], kept + found["kept"]
        else:
            todo.append(job)
    return todo, (clips, kept)


def do_job(job: Job, root: Path, produce: Produce) -> Outcome:
    """Do one recording as a whole: a fault of it becomes its record, a fault of the disk an exception."""
    layout = Layout(root)
    with at_work(layout.work), without_waiting():
        return _do_job(job, layout, produce)


def _do_job(job: Job, layout: Layout, produce: Produce) -> Outcome:
    clear(layout, job.id)
    sha256 = ""
    try:
        Probe(job.path).check_size()  # before a minute is spent on a file that nobody will read
        stamp, sha256 = file_stamp(job.path), file_sha256(job.path)
        rows = [{**row, "source_sha256": sha256} for row in produce(job, layout)]
        if file_stamp(job.path) != stamp or file_sha256(job.path) != sha256:
            raise ReadError(job.path, "changed while it was read; run again when it is whole")
        record = _record(job, sha256, rows=tuple(rows))
        save_record(layout.record(job.id), record)
    except (ConfigError, StorageError):
        raise
    except Exception as e:  # whatever it is, it must not cost the rest of a long build
        if lack_of(e):
            raise
        _check_disk(e, job, layout.root)
        clear(layout, job.id)
        record = _record(job, sha256, failed=_reason(e, job))
        save_record(layout.record(job.id), record)
    found = tally(record.rows)
    return Outcome(found["clips"], found["kept"], record.failed)


def give_up(layout: Layout, job: Job, reason: str) -> Outcome:
    """Record a recording that no worker could finish."""
    clear(layout, job.id)
    try:
        sha256 = file_sha256(job.path)
    except OSError:
        sha256 = ""
    save_record(layout.record(job.id), _record(job, sha256, failed=reason))
    return Outcome(0, 0, reason)


def clear(layout: Layout, recording: str) -> None:
    """Remove what an earlier build left: the record first, so that nothing looks whole that is not."""
    layout.record(recording).unlink(missing_ok=True)
    for folder in (layout.clips, layout.certified):
        for robot in os.listdir(folder) if folder.is_dir() else ():
            _remove(folder / robot / recording)
    people = next(n for n in count() if not layout.recording(recording, n).exists())
    for person in reversed(range(people)):  # the last first, so that those that are left are counted again
        layout.recording(recording, person).unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove a folder with all that is in it, or raise: what cannot be removed must not be taken for something new."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as e:
        raise StorageError(f"{e.filename or folder}: cannot be removed: {e.strerror or e}") from None


def _check_disk(e: Exception, job: Job, root: Path) -> None:
    """Raise what is no fault of the recording: a disk that is full, an unreadable file of the dataset."""
    if not isinstance(e, OSError) or e.filename == str(job.path):
        return
    if e.errno in FULL or (isinstance(e.filename, str) and Path(e.filename).is_relative_to(root)):
        raise StorageError(f"{e.filename or root}: {e.strerror or e}") from None


def _record(job: Job, sha256: str, rows: tuple[Row, ...] = (), failed: str | None = None) -> Record:
    return Record(job.id, job.name, job.source, job.label, sha256, rows, failed, job.settings)


def _reason(e: Exception, job: Job) -> str:
    if isinstance(e, ReadError) and e.path == str(job.path):
        return e.problem
    if isinstance(e, OSError):
        return f"cannot be read: {e.strerror or e}"
    return str(e) if isinstance(e, PhumaError) else f"internal error, please report: {e!r}"


def records(layout: Layout) -> Iterator[Record]:
    """Yield all records, in order of the recordings' ids."""
    for recording in layout.done():
        yield load_record(layout.record(recording))


def tally(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many clips there are, how many were kept, and the frames of these; a clip on several robots is one."""
    clips = {row["clip"]: row for row in rows}.values()
    kept = [row for row in clips if row["kept"]]
    return {"clips": len(clips), "kept": len(kept), "frames": sum(row["frames"] for row in kept)}


def finish(layout: Layout, description: Description) -> Description:
    """Write manifest and description from the records; return the description."""
    _sweep_strays(layout)
    failed: list[dict[str, str]] = []
    counts = {"recordings": 0, "failed": 0, "clips": 0, "kept": 0, "frames": 0}

    def rows() -> Iterator[Mapping[str, Any]]:
        for record in records(layout):
            counts["recordings"] += 1
            if record.failed is not None:
                failed.append({"recording": record.name, "reason": record.failed})
            for name, number in tally(record.rows).items():
                counts[name] += number
            yield from record.rows

    os.sync()  # of what is finished, nothing is lost: until here, the hashes would have told
    write_manifest(layout.manifest, rows())
    counts["failed"] = len(failed)
    done = replace(description, finished=True, importing=False, counts=counts, failed=tuple(failed))
    save_description(layout.root, done)
    return done


def _sweep_parts(root: Path) -> None:
    """Remove half-written files of a process that was killed."""
    for part in root.rglob(".*.part"):
        part.unlink(missing_ok=True)


def _sweep_strays(layout: Layout) -> None:
    """Remove files of recordings that have no record: begun by a build that was killed, and not asked for since."""
    _sweep_parts(layout.root)
    known = set(layout.done())
    for folder in (*layout.clips.glob("*/*"), *layout.certified.glob("*/*")):
        if folder.name not in known:
            shutil.rmtree(folder, ignore_errors=True)
    for file in layout.recordings.glob("*.npz"):
        if file.stem.rsplit("_", 1)[0] not in known:
            file.unlink(missing_ok=True)
