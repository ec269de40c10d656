"""Open a dataset on disk: rows by SQL, motions when they are asked for."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.dataset.describe import Description, load_description
from phuma.dataset.layout import Layout
from phuma.dataset.manifest import ask, clean_condition, one_question, open_manifest, quoted
from phuma.errors import PhumaError, ReadError, missing_extra
from phuma.io.inside import inside

if TYPE_CHECKING:
    from phuma.core.clip import Clip
    from phuma.core.robot_motion import RobotMotion
    from phuma.core.rollout import Rollout


@dataclass(frozen=True)
class Entry:
    """A clip in a dataset: its row of the manifest, and its files when they are wanted."""

    root: Path
    row: dict[str, Any]

    def __repr__(self) -> str:
        said = ("kept" if self.row["kept"] else "rejected") if "kept" in self.row else "not judged"
        return f"Entry({self.id!r}, {self.row.get('robot')}, {said})"

    @property
    def id(self) -> str:
        return str(self.row["clip"])

    @property
    def path(self) -> Path:
        """Return where the robot's motion lies."""
        if not self.row["file"]:
            raise PhumaError(f"{self.id} was rejected, so no robot performs it: {'; '.join(self.row['reasons'] or ())}")
        return inside(self.root, self.row["file"])

    def motion(self) -> RobotMotion:
        """Read the robot's motion from disk."""
        from phuma.formats.robot_motion_file import load_robot_motion

        return load_robot_motion(self.path)

    def performance(self) -> Rollout:
        """Read the performance of the robot's motion under physics, as `phuma certify` stored it."""
        from phuma.formats.rollout_file import load_rollout

        if not self.row["certified_file"]:
            why = self.row["certified_reason"] or f"was never performed; `phuma certify {self.root}` does it"
            raise PhumaError(f"{self.id} has no performance: {why}")
        return load_rollout(inside(self.root, self.row["certified_file"]))

    def human(self) -> Clip:
        """Read the human's motion, cut from the stored recording; rejected clips have it too, unless they are
        too short."""
        from phuma.core.clip import Clip
        from phuma.formats.clip_file import load_clip

        if not self.row["human_file"]:
            short = "was too short to be stored" if not self.row["imported"] else "was imported as a robot's motion"
            raise PhumaError(f"{self.id} {short}: no human is known")
        whole = load_clip(inside(self.root, self.row["human_file"]))
        first, last = frames_of(self.row, whole)
        if not 0 <= first < last <= len(whole.motion):
            raise ReadError(self.root, f"{self.id} is no part of {self.row['human_file']}; `phuma verify` says more")
        clip = Clip(whole.motion.frames(first, last), whole.contact.frames(first, last), whole.verdict, whole.ground)
        return clip.mirror() if self.row["mirrored"] else clip


class Dataset:
    """A folder made by `phuma build`: its kept clips in the manifest's order. Opening it reads the manifest, no clip.

    >>> dataset = phuma.open_dataset("g1")
    >>> len(dataset), dataset[0].id
    (2, 'recordings-squat-05eaa45751_0_0000000')
    >>> [entry.row["category"] for entry in dataset.where("frames >= 60")]
    ['squat', 'walk']
    >>> dataset["recordings-squat-05eaa45751_0_0000000"].motion()
    RobotMotion(g1, 'recordings/squat.bvh', 2.00 s, 60 frames at 30 Hz)
    >>> dataset.to_pandas()[["clip", "frames"]].shape
    (2, 2)
    >>> windows = dataset.windows(seconds=1.0, fps=50)
    >>> len(windows), tuple(windows[0]["joint_pos"].shape)
    (2, (50, 29))
    """

    def __init__(self, root: str | Path, condition: str | None = None, kept: bool = True) -> None:
        self.root = Path(root)
        self.condition = condition
        """The condition in SQL under which it holds clips; None for all of them"""
        self.only_kept = kept
        """Whether it iterates over kept clips alone"""
        self.description: Description = load_description(self.root)
        manifest = Layout(self.root).manifest
        if not self.description.finished or not manifest.exists():
            raise ReadError(self.root, "is not finished: run the same `phuma build` again, it goes on where it was")
        self._manifest = manifest
        self._derived: set[str] = set()
        self._deriving = threading.Lock()

    def __repr__(self) -> str:
        kept, clips = (self.description.counts.get(name, 0) for name in ("kept", "clips"))
        if self.condition is None and self.only_kept:
            return f"Dataset({str(self.root)!r}, {kept} of {clips} clips kept)"
        under = f" under {self.condition}" if self.condition else ""
        return f"Dataset({str(self.root)!r}, {len(self)} of {clips} clips{under})"

    def __len__(self) -> int:
        """Return the number of clips, by default of those that were kept; each robot's counts."""
        if self.condition is None and self.only_kept:
            return self.description.counts.get("kept", 0)
        return len(self._keys)

    def __iter__(self) -> Iterator[Entry]:
        return self.entries(kept=self.only_kept)

    def __contains__(self, clip: object) -> bool:
        return any(clip in (name, (name, robot)) for name, robot in self._keys)

    def __getitem__(self, which: int | slice | str | tuple[str, str]) -> Any:
        """Return a clip by its number or its id, or its id and its robot; of a slice the list of clips."""
        if isinstance(which, str):
            return self.entry(which)
        if isinstance(which, tuple):
            return self.entry(*which)
        if isinstance(which, slice):
            return [self.entry(*key) for key in self._keys[which]]
        return self.entry(*self._keys[which])

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        """Return clip and robot of what it iterates over."""
        condition = "kept" if self.only_kept else "true"
        return [(row["clip"], row["robot"]) for row in self.rows(condition, "clip, robot")]

    @cached_property
    def database(self) -> Any:
        """Return DuckDB with the table `manifest`; it reaches no file."""
        database = open_manifest(self._manifest)
        if self.condition is not None:
            ask(database, f"DELETE FROM manifest WHERE NOT coalesce({clean_condition(self.condition)}, false)")
        return database

    def derived(self, name: str, sql: str) -> str:
        """Return the name of a table that is made by a question to `manifest` when it is first asked for.

        What many questions begin with is then done once. Safe from several threads at once.
        """
        with self._deriving:
            if name not in self._derived:
                with self.database.cursor() as database:
                    ask(database, f"CREATE TABLE {name} AS {sql}")
                self._derived.add(name)
        return name

    def query(self, sql: str) -> tuple[list[str], list[tuple]]:
        """Return column names and rows of any one question to the table `manifest`."""
        return ask(self.database, one_question(self.database, sql))

    def query_once(self, sql: str) -> tuple[list[str], list[tuple]]:
        """Return what `query` returns, by a database of its own: it holds only what this question is about."""
        with open_manifest(self._manifest, sql) as database:
            return ask(database, one_question(database, sql))

    def rows(self, where: str | None = None, columns: str = "*") -> list[dict[str, Any]]:
        """Return rows of the manifest under a condition, kept or not, in the manifest's order."""
        names, found = ask(self.database, f"SELECT {columns} FROM manifest WHERE {clean_condition(where)}")
        return [dict(zip(names, row)) for row in found]

    def part(self, where: str | None) -> Dataset:
        """Return this dataset restricted to the rows under a condition, kept or not."""
        return self.where(where, kept=self.only_kept)

    def where(self, condition: str | None = None, kept: bool = True) -> Dataset:
        """Return the clips under a condition in SQL over the manifest's columns; without `kept` rejected ones too."""
        conditions = [clean_condition(each) for each in (self.condition, condition) if each]
        part = Dataset(self.root, " AND ".join(conditions) or None, kept)
        _ = part.database  # a fault of the condition is reported at once
        return part

    def to_pandas(self) -> Any:
        """Return the clips' rows of the manifest as a pandas.DataFrame."""
        return self._table("pandas", "df")

    def to_arrow(self) -> Any:
        """Return the clips' rows of the manifest as a pyarrow.Table."""
        return self._table("pyarrow", "to_arrow_table")

    def _table(self, library: str, method: str) -> Any:
        try:
            import_module(library)
        except ModuleNotFoundError as e:
            raise missing_extra(e, f"the manifest as a table of {library}") from None
        with self.database.cursor() as database:
            return getattr(database.query(f"FROM manifest WHERE {'kept' if self.only_kept else 'true'}"), method)()

    def windows(self, seconds: float, fps: float = 50.0, stride: float | None = None, robot: str | None = None) -> Any:
        """Return a torch.utils.data.Dataset of windows of `seconds` at `fps` Hz, one every `stride` seconds, by default
        side by side; a dataset of several robots needs the name of one."""
        try:
            from phuma.dataset.windows import Windows
        except ModuleNotFoundError as e:
            raise missing_extra(e, "a dataset of windows") from None
        return Windows(self, seconds, fps, stride, robot)

    def entries(self, where: str | None = None, kept: bool = True) -> Iterator[Entry]:
        """Yield the clips under a condition, by default the kept ones."""
        condition = clean_condition(where) + (" AND kept" if kept else "")
        for row in self.rows(condition):
            yield Entry(self.root, row)

    def entry(self, clip: str, robot: str | None = None) -> Entry:
        """Return one clip by its id."""
        found = self._entries("clip = ? AND (? IS NULL OR robot = ?)", [clip, robot, robot])
        if not found:
            others = sorted({str(entry.row["robot"]) for entry in self.entries_of(clip) if entry.row["robot"]})
            if others:
                raise PhumaError(f"clip {clip!r} in {self.root} is of {', '.join(others)}, not of {robot}")
            sql = "SELECT clip FROM manifest" + (f" WHERE robot = {quoted(robot)}" if robot else "")
            command = f"phuma query {shlex.quote(str(self.root))} {shlex.quote(sql)}"
            raise PhumaError(f"no clip {clip!r} in {self.root}; those that there are: {command}")
        return found[0]

    def entries_of(self, clip: str) -> list[Entry]:
        """Return a clip on every robot."""
        return self._entries("clip = ?", [clip])

    def entry_of_file(self, file: str) -> Entry | None:
        """Return the clip whose robot's motion lies there; the path is relative to the dataset."""
        found = self._entries("file = ?", [file])
        return found[0] if found else None

    def _entries(self, condition: str, values: list[Any]) -> list[Entry]:
        """Ask by a cursor of its own, so that several threads may ask."""
        with self.database.cursor() as database:
            names, found = ask(database, f"SELECT * FROM manifest WHERE {condition}", values)
        return [Entry(self.root, dict(zip(names, row))) for row in found]


def frames_of(row: Mapping[str, Any], whole: Clip) -> tuple[int, int]:
    """Return the first frame of a row's clip in its whole recording, and the one behind the last."""
    first = round(((row["start"] or 0.0) - whole.start) * whole.motion.fps)
    return first, first + (row["frames"] or 0)


def open_dataset(root: str | Path) -> Dataset:
    """Open a folder made by `phuma build`.

    >>> phuma.open_dataset("g1")
    Dataset('g1', 2 of 2 clips kept)
    """
    return Dataset(root)
