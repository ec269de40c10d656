"""Run any study: rows and seeds become jobs, jobs become results, and what is there already is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.dataset.category import GROUP_OF
from phuma.errors import PhumaError
from phuma.io.lock import locked
from phuma.retargeting.config import DEFAULT_METHOD
from phuma.runtime.process_pool import Done
from phuma.studies.frame.data import Source, Split
from phuma.studies.frame.folder import StudyFolder
from phuma.studies.frame.motions import Cut, Perform, Put, cut, perform, put
from phuma.studies.frame.plan import Plan
from phuma.studies.frame.policies import Training, train
from phuma.studies.frame.study import CLEAN, FILMED, SEEN, VIDEO, Piece, Row, Study, View

CLIPS, MOTIONS, EXPERTS, POLICIES, SHOWN = "clips", "motions", "experts", "policies", "rollouts"
"""Kinds of results, and the folders of what they write"""
RECORDINGS = 2
"""Recordings that are read for each clip of the plan, at most: curation does not keep all"""
SHOWN_NAMES = 5
Line = dict[str, Any]
Run = Callable[[Callable[[Any], Any], list[Any]], Iterator[Done]]
"""Function that runs work on many items, in processes or on a cluster"""
Progress = Callable[[str, int, int], object]


@dataclass
class RowResult:
    """What there is of a row."""

    row: Row
    pieces: list[Piece]
    motions: list[Line] = field(default_factory=list)
    """A line for each piece: metrics, and what its expert did if one was asked"""
    trainings: dict[int, Line] = field(default_factory=dict)
    """Lines by seed"""
    keys: dict[int, str] = field(default_factory=dict)
    """Names of the trainings by seed"""


@dataclass
class Results:
    """What there is of a study."""

    study: Study
    plan: Plan
    robot: str
    rows: list[RowResult] = field(default_factory=list)
    tests: dict[str, list[Piece]] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    """Files of the motions that policies are judged on, by set and name"""
    failed: dict[str, str] = field(default_factory=dict)
    """What could not be done, with the reasons"""


class ReadPool:
    """Clips of recordings by view, in the order of their recordings."""

    def __init__(self, most: int) -> None:
        self.most, self._pieces = most, dict[View, list[Piece]]()

    def add(self, piece: Piece) -> None:
        """Add a clip."""
        self._pieces.setdefault(piece.view, []).append(piece)

    def every(self, view: View) -> list[Piece]:
        """Return all clips of a view, first one of each recording, then a second one, and so on."""
        return sorted(self._pieces.get(view, ()), key=lambda piece: piece.number)

    def pieces(self, view: View, kept: bool = True) -> list[Piece]:
        """Return as many of a view's clips as the plan has; see `study.Pool`."""
        return [piece for piece in self.every(view) if piece.kept or not kept][: self.most]


class StudyRun:
    """One run of a study in its folder, from the recordings to the last policy."""

    def __init__(
        self, study: Study, data: Split, robot: str, plan: Plan, folder: StudyFolder, run: Run, progress: Progress
    ) -> None:
        self.study, self.data, self.robot, self.plan, self.folder = study, data, robot, plan, folder
        self._run, self._progress = run, progress
        self.results = Results(study, plan, robot)

    def do(self) -> Results:
        """Do all that is not done yet, and return all results."""
        about = {
            "study": self.study.name, "robot": self.robot, "data": self.data.digest, "plan": asdict(self.plan),
            "train": [s.name for s in self.data.train], "test": [s.name for s in self.data.test],
            "version": __version__,
        }  # fmt: skip
        self.folder.begin(about)
        with locked(self.folder.lock):
            self._find_rows()
            self._measure()
            if self.plan.seeds:
                self._train()
        return self.results

    def _find_rows(self) -> None:
        """Cut the recordings, and choose what each row learns from and what all are judged on."""
        plan, pool, held = self.plan, ReadPool(self.plan.clips), ReadPool(self.plan.tests)
        filmed = View(VIDEO)
        self._cut(pool, self.data.train[: RECORDINGS * plan.clips], self.study.views)
        self._cut(held, self.data.test[: RECORDINGS * plan.tests], (View(), filmed))
        clean = held.pieces(View())
        if not clean:
            names = ", ".join(source.name for source in self.data.test[:SHOWN_NAMES])
            raise PhumaError(
                f"curation keeps no clip of the {len(self.data.test)} recordings that are held out ({names}); "
                "`phuma curate` says why; give more recordings by --data"
            )
        same = {(piece.recording, piece.number) for piece in clean}
        both = {CLEAN: clean, FILMED: [p for p in held.every(filmed) if (p.recording, p.number) in same]}
        self.results.tests = {name: both[name] for name in self.study.tests if name in both}
        self.results.rows = [RowResult(row, list(row.chosen(pool))) for row in self.study.rows]
        if not any(result.pieces for result in self.results.rows):
            raise PhumaError(f"no row of {self.study.name} has a clip to learn from; give more by --data")

    def _cut(self, pool: ReadPool, sources: Sequence[Source], views: Sequence[View]) -> None:
        folder = str(self.folder.root / CLIPS)
        items = {(s.name, view): Cut(s.path, s.digest, view, folder) for view in views for s in sources}
        lines = self._done("recordings", CLIPS, cut, list(items.values()))
        for (name, view), item in items.items():
            for line in lines.get(item.key, ()):
                if "failed" in line:
                    self.results.failed[name] = line["failed"]
                else:
                    pool.add(Piece(name, view=view, **{**line, "file": str(Path(folder) / line["file"])}))

    def _measure(self) -> None:
        """Put every clip on the robot, and let experts perform what is learned from."""
        results, folder = self.results, str(self.folder.root / MOTIONS)
        asked = [(r.row.method, piece) for r in results.rows for piece in r.pieces]
        tests = results.tests if self.plan.seeds else {}
        asked += [(DEFAULT_METHOD, piece) for pieces in tests.values() for piece in pieces]
        items = {(method, p.file): Put(p.file, method, self.robot, folder) for method, p in asked}
        put_lines = self._done("motions", MOTIONS, put, list(items.values()))
        for result in results.rows:
            for piece in result.pieces:
                if (line := put_lines.get(items[result.row.method, piece.file].key)) is not None:
                    result.motions.append({"piece": piece, "name": piece.name, "file": self._file(line), **line})
        for name, pieces in tests.items():
            found = [(p, put_lines.get(items[DEFAULT_METHOD, p.file].key)) for p in pieces]
            results.files[name] = {p.name: self._file(line) for p, line in found if line is not None}
        if self.plan.performed:
            self._perform()

    def _file(self, line: Mapping[str, Any]) -> str:
        return str(self.folder.path(MOTIONS, line["motion"]))

    def _perform(self) -> None:
        """Perform the first clip of every row, then the second: so a part of the work compares all rows."""
        rows = [
            result.motions
            for result in self.results.rows
            if self.study.performs or (self.plan.seeds and result.row.tracker.taught)
        ]
        lines = [line for several in zip_longest(*rows) for line in several if line is not None]
        wanted = [
            (line, Perform(line["file"], self.robot, str(self.folder.path(EXPERTS, line["motion"])))) for line in lines
        ]
        found = self._done("experts", EXPERTS, perform, [item for _, item in wanted])
        for line, item in wanted:
            if (expert := found.get(item.key)) is not None:
                line |= {**expert, "cpu_expert": expert["cpu"], "performed": item.out if expert["loosely"] else None}

    def _train(self) -> None:
        """Train every row from every seed; all rows from the first seed come first, so that a part of a study compares
        all rows."""
        items: dict[tuple[int, int], Training] = {}
        for seed in range(self.plan.seeds):
            for number, result in enumerate(self.results.rows):
                if result.motions:
                    items[number, seed] = self._training(result, seed)
        found = self._done("policies", POLICIES, train, list(items.values()))
        for (number, seed), item in items.items():
            result = self.results.rows[number]
            result.keys[seed] = item.key
            if (line := found.get(item.key)) is None:
                continue
            if "failed" in line:
                self.results.failed[result.row.label] = line["failed"]
            else:
                result.trainings[seed] = line

    def _training(self, result: RowResult, seed: int) -> Training:
        """Return a training of a row: who learns without experts is given their time, too."""
        taught = result.row.tracker.taught
        motions = tuple((m["name"], m["file"], m.get("performed") if taught else None) for m in result.motions)
        tests = {name: tuple((n, f, None) for n, f in files.items()) for name, files in self.results.files.items()}
        if SEEN in self.study.tests:
            seen = [m for m in motions if m[2] is not None or not taught]
            tests = {**tests, SEEN: tuple(seen[: self.plan.tests])}
        extra = 0.0 if taught else sum(m.get("cpu_expert", 0.0) for m in self._experts_of(result))
        return Training(
            motions, tests, result.row.tracker, seed, round(self.plan.seconds + extra, 1), self.robot,
            self.study.worlds, str(self.folder.root / SHOWN) if seed == 0 else None,
        )  # fmt: skip

    def _experts_of(self, result: RowResult) -> list[Line]:
        """Return the lines of rows that learn from experts of the same motions, one a motion."""
        own = {m["motion"] for m in result.motions}
        lines = {m["motion"]: m for r in self.results.rows if r.row.tracker.taught for m in r.motions}
        return [line for digest, line in lines.items() if digest in own]

    def _done(self, title: str, kind: str, work: Callable[[Any], Any], items: Sequence[Any]) -> dict[str, Any]:
        """Return the results of jobs by their keys: each is done once, however many rows ask for it."""
        unique = {item.key: item for item in items}
        todo = [item for key, item in unique.items() if self.folder.get(kind, key) is None]
        self._progress(title, len(unique) - len(todo), len(unique))
        for count, done in enumerate(self._run(work, todo) if todo else (), len(unique) - len(todo) + 1):
            key = todo[done.index].key
            if done.failure is None:
                self.folder.add(kind, key, done.value)
            else:
                self.results.failed[f"{title} {key}"] = done.failure  # it is tried again by the next run
            self._progress(title, count, len(unique))
        return {key: value for key in unique if (value := self.folder.get(kind, key)) is not None}


def group_of(piece: Piece) -> str:
    """Return the group of a clip's motion type."""
    return GROUP_OF[piece.category]
