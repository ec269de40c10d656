"""Verify that a dataset is what it says: description, manifest, records and files, one recording at a time."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.dataset.builder import tally
from phuma.dataset.dataset import frames_of
from phuma.dataset.describe import Description, load_description
from phuma.dataset.faults import Fault, motion_problem, over_limits, row_problems
from phuma.dataset.layout import Layout, recording_id
from phuma.dataset.manifest import COLUMNS, ask, open_manifest
from phuma.dataset.record import Record, Row, file_sha256, load_record
from phuma.errors import ReadError
from phuma.formats.clip_file import load_clip
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.io.inside import inside
from phuma.io.lock import is_locked
from phuma.robots import Robot

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[int, int], None]
"""Function that is called with the rows done and the rows in all"""
BATCH = 200
BESIDE = ("dataset.json", "manifest.parquet", ".lock", "report.html")
"""Files that may lie at the top of a dataset"""
OTHER_FOLDER = "Take it from a copy, or build into another folder"
AGAIN = "Run the same `phuma build` again"


def verify(
    root: Path, robots: Mapping[str, Robot] | None = None, progress: Progress = lambda done, total: None
) -> Iterator[Fault]:
    """Yield every fault of a dataset, as it is found; `robots` by name, for their joints' limits."""
    layout = Layout(root)
    try:
        description, writing = load_description(root), is_locked(layout.lock)
    except ReadError as e:
        yield Fault(e.path, e.problem, "" if "pip install" in e.problem else OTHER_FOLDER)
        return
    if writing:
        yield Fault(str(root), "is being written right now", "Wait until that is done")
        return
    check = _Check(layout, description, robots or {})
    if not description.finished:
        yield Fault("dataset.json", "says that the dataset is not finished", check.again)
        return
    try:
        with open_manifest(layout.manifest) as database:
            faults = list(_schema(database, check))
            yield from faults
            if not faults:
                yield from check.rows(database, progress)
    except ReadError as e:
        yield Fault("manifest.parquet", e.problem, check.again)
        return
    try:
        yield from () if faults else check.others()
    except ReadError as e:  # a folder that is a link to elsewhere
        yield Fault(e.path, e.problem, OTHER_FOLDER)


def _schema(database: duckdb.DuckDBPyConnection, check: _Check) -> Iterator[Fault]:
    """Yield the columns that the format does not know; that all others are there was checked when it was opened."""
    for name, *_ in ask(database, "DESCRIBE manifest")[1]:
        if name not in COLUMNS:
            yield Fault("manifest.parquet", f"has a column {name!r} that the format does not know", check.again)


class _Check:
    """The state of the verification of one dataset."""

    def __init__(self, layout: Layout, description: Description, robots: Mapping[str, Robot]) -> None:
        self.layout, self.description, self.robots = layout, description, robots
        self.expected = set(BESIDE)
        self.recordings: set[str] = set()
        self.counts = {"recordings": 0, "failed": 0, "clips": 0, "kept": 0, "frames": 0}
        self.again = AGAIN if description.selected is None else "Select it again from the dataset that it is a part of"

    def redo(self, recording: str) -> str:
        """Return how to have a recording done anew: a build only redoes what has no record."""
        if self.description.selected is not None:
            return self.again
        path = self.layout.root / "work" / f"{recording}.json"
        return f"Run: rm -f {shlex.quote(str(path))}   and then the same `phuma build` again"

    def rows(self, database: duckdb.DuckDBPyConnection, progress: Progress) -> Iterator[Fault]:
        """Yield every fault that begins with a row of the manifest."""
        _, twice = ask(database, "SELECT clip, robot FROM manifest GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL")
        for clip, robot in twice:
            yield Fault("manifest.parquet", f"has several rows for {clip} on {robot}", self.again)
        for name in self.description.robots:
            if name not in self.robots:
                yield Fault(
                    f"robot {name}", "its limits are not known here: joints are not compared with them",
                    "Give its folder by --robot", grave=False,
                )  # fmt: skip
        for (name,) in ask(database, "SELECT DISTINCT robot FROM manifest ORDER BY ALL")[1]:
            if name not in self.description.robots:
                yield Fault("manifest.parquet", f"has rows of {name}, which dataset.json does not name", self.again)
        total = int(ask(database, "SELECT count(*) FROM manifest")[1][0][0])
        done = 0
        for name, rows in groupby(_stream(database), key=lambda row: str(row["recording"])):
            group = list(rows)
            yield from self._recording(name, group)
            done += len(group)
            progress(done, total)

    def _recording(self, name: str, rows: Sequence[Row]) -> Iterator[Fault]:
        recording = recording_id(name)
        if recording in self.recordings:
            yield Fault("manifest.parquet", f"the rows of {name} do not stand together", self.again)
        self.recordings.add(recording)
        place = f"work/{recording}.json"
        self.expected.add(place)
        try:
            record = load_record(self.layout.record(recording))
            if record.name != name:
                yield Fault(place, f"is of {record.name!r}; its own name is that of {name!r}", self.redo(recording))
            for problem in row_problems(record.rows, rows):
                yield Fault("manifest.parquet", problem, self.again)
        except ReadError as e:
            there = os.path.lexists(self.layout.root / place)
            what = e.problem if there else f"is missing, though the manifest has clips of {name}"
            yield Fault(place, what, self.redo(recording))
        for human, sha256 in dict.fromkeys((r["human_file"], r["human_sha256"]) for r in rows if r["human_file"]):
            if wrong := self._file(human, sha256) or self._human(human, rows):
                yield Fault(human, wrong, self.redo(recording))
        for name, number in tally(rows).items():
            self.counts[name] += number
        for row in rows:
            yield from self._row(row, self.redo(recording))

    def _row(self, row: Row, redo: str) -> Iterator[Fault]:
        """Yield the faults of one clip on one robot."""
        if bool(row["kept"]) != bool(row["file"]):
            has = "kept, but has no file" if row["kept"] else "rejected, but has a file"
            yield Fault("manifest.parquet", f"{row['clip']} on {row['robot']} is {has}", redo)
        if not row["kept"] or not row["file"]:
            return
        problem = self._file(row["file"], row["sha256"])
        if not problem:
            try:
                motion = load_robot_motion(inside(self.layout.root, row["file"]))
            except ReadError as e:
                problem = e.problem
            else:
                problem = motion_problem(motion, row)
                robot = self.robots.get(motion.robot)
                if not problem and robot and (beyond := over_limits(motion, robot)):
                    # What others made is kept as it is, and measured.
                    yield Fault(row["file"], beyond, "" if row["imported"] else redo, grave=not row["imported"])
        if problem:
            yield Fault(row["file"], problem, redo)
        if row["certified_file"]:
            yield from self._performance(row)

    def _performance(self, row: Row) -> Iterator[Fault]:
        """Yield the fault of the performance of a clip by a robot."""
        name = row["certified_file"]
        problem = self._file(name, row["certified_sha256"])
        if not problem:
            try:
                rollout = load_rollout(inside(self.layout.root, name))
                if (rollout.robot, rollout.motion) != (row["robot"], row["clip"]):
                    problem = f"is of {rollout.motion} on {rollout.robot}; expected {row['clip']} on {row['robot']}"
            except ReadError as e:
                problem = e.problem
        if problem:
            yield Fault(name, problem, f"Run: phuma certify {shlex.quote(str(self.layout.root))} --again")

    def _file(self, name: str, sha256: str) -> str | None:
        """Return what is wrong with a file that the manifest names."""
        try:
            path = inside(self.layout.root, name)
        except ReadError:
            return "lies outside of the dataset, or its name could lead there"
        self.expected.add(name)
        if not path.is_file():
            return "is missing"
        found = file_sha256(path)
        return None if found == sha256 else f"has changed: its sha256 is {found}, the manifest's {sha256}"

    def _human(self, name: str, rows: Sequence[Row]) -> str | None:
        """Return what is wrong with a human recording whose checksum is right."""
        try:
            whole = load_clip(inside(self.layout.root, name))
        except ReadError as e:
            return e.problem
        for row in (row for row in rows if row["human_file"] == name):
            first, last = frames_of(row, whole)
            if not 0 <= first < last <= len(whole.motion):
                return f"has {len(whole.motion)} frames; {row['clip']} is frames {first} to {last} of it"
        return None

    def others(self) -> Iterator[Fault]:
        """Yield the faults of recordings without rows, of counts, and files that are no part of the dataset."""
        failed = []
        for recording in self.layout.done():
            self.counts["recordings"] += 1
            place = f"work/{recording}.json"
            self.expected.add(place)
            try:
                record = load_record(self.layout.record(recording))
            except ReadError as e:
                if recording not in self.recordings:
                    yield Fault(place, e.problem, self.redo(recording))
                continue
            if recording not in self.recordings and recording != recording_id(record.name):
                yield Fault(place, f"is of {record.name!r}, which has another name", self.redo(recording))
            if record.failed is not None:
                failed.append({"recording": record.name, "reason": record.failed})
            elif recording not in self.recordings:
                yield from self._without_rows(recording, record)
        if failed != [dict(f) for f in self.description.failed]:
            yield Fault("dataset.json", "tells of other failed recordings than the records in work/", self.again)
        self.counts["failed"] = len(failed)
        for name, count in self.counts.items():
            if (stated := self.description.counts.get(name)) != count:
                yield Fault("dataset.json", f"counts {stated} {name}, there are {count}", self.again)
        yield from self._strays()

    def _without_rows(self, recording: str, record: Record) -> Iterator[Fault]:
        if record.rows:
            problem = f"has no row of {record.name}, whose record has {len(record.rows)}"
            yield Fault("manifest.parquet", problem, self.again)
        files = (file.name for file in self.layout.recordings.glob("*.npz") if file.name.startswith(f"{recording}_"))
        self.expected.update(f"recordings/{name}" for name in files)

    def _strays(self) -> Iterator[Fault]:
        root = self.layout.root
        for folder, folders, files in os.walk(root):
            folders.sort()
            linked = [name for name in folders if (Path(folder) / name).is_symlink()]
            for name in sorted([*files, *linked]):
                path = Path(folder) / name
                relative = path.relative_to(root).as_posix()
                if relative not in self.expected:
                    yield Fault(relative, "is no part of the dataset", f"Run: rm {shlex.quote(str(path))}")
                elif path.is_symlink():
                    yield Fault(relative, f"is a link to {os.readlink(path)}", "Put in its place what it stands for")


def _stream(database: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """Yield all rows in the manifest's order, few at a time."""
    answer = database.cursor().execute("SELECT * FROM manifest")
    names = [about[0] for about in answer.description or ()]
    while rows := answer.fetchmany(BATCH):
        yield from (dict(zip(names, row)) for row in rows)
