"""What a study is made of: rows that each make a training set, columns that measure, and a test set for all rows."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from phuma.core.names import known_name
from phuma.retargeting.config import DEFAULT_METHOD

MOCAP, VIDEO, MIXED = "mocap", "video-like", "half and half"
"""What recordings are looked at as: they themselves; as a video model would give them; every other one so"""
SEEN, CLEAN, FILMED = "seen", "held out", "held out, video-like"
"""Names of the sets that policies are judged on"""
CLOSE, LOOSE = "success_0.15", "success_0.5"
SHORT = {CLOSE: "SR@0.15", LOOSE: "SR@0.5", "pelvis_0.15": "pelvis@0.15", "pelvis_0.5": "pelvis@0.5"}
"""Names of shares of motions, as tables have them"""


@dataclass(frozen=True)
class View:
    """How recordings become clips."""

    source: str = MOCAP
    preset: str = "dynamic"
    mend: bool | None = None

    @property
    def name(self) -> str:
        """Return a name for files and keys."""
        mends = {None: "", True: ", mended", False: ", not mended"}[self.mend]
        return f"{self.source}, {self.preset}{mends}"


@dataclass(frozen=True)
class Piece:
    """A clip as one view has it."""

    recording: str
    number: int
    """Which of the recording's clips it is, in every view"""
    view: View
    seconds: float
    category: str
    kept: bool
    passed: Mapping[str, bool]
    """Whether it passes each filter, by the metrics' names"""
    file: str
    """The clip's file in the folder of the study"""

    @property
    def name(self) -> str:
        """Return the name of the motion in libraries and results."""
        return f"{self.recording}:{self.number}{'' if self.view.source == MOCAP else f' ({self.view.source})'}"


class Pool(Protocol):
    """The clips that may be trained on."""

    def pieces(self, view: View, kept: bool = True) -> list[Piece]:
        """Return the clips of a view, those that curation keeps or all: first one of each recording, then a second
        one, and so on, as many as the plan has."""
        ...


FILMS = View(VIDEO)


def clean(pool: Pool) -> list[Piece]:
    """Return all clips as they were captured."""
    return pool.pieces(View())


def filmed(pool: Pool) -> list[Piece]:
    """Return the same recordings as a video model would give them: what our curation keeps of them."""
    return pool.pieces(FILMS)


@dataclass(frozen=True)
class Tracker:
    """What learns: a recipe, what it begins from, and what is not as in its preset."""

    algo: str = "beyondmimic"
    begin: str = "experts"
    stage: str | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the environments' settings, in the last stage alone"""
    network: str | None = None
    """Name of the network, where it is not the preset's"""

    @property
    def taught(self) -> bool:
        """Return whether it learns from experts."""
        return self.begin == "experts"


@dataclass(frozen=True)
class Row:
    """One row: a training set, the method by which it is put on the robot, and what learns from it."""

    label: str
    chosen: Callable[[Pool], Sequence[Piece]]
    method: str = DEFAULT_METHOD
    tracker: Tracker = Tracker()


@dataclass(frozen=True)
class Amount:
    """A column that sums over the row's clips."""

    label: str
    of: Callable[[Mapping[str, Any]], float]
    """Function from a motion's line"""
    digits: int = 1
    head: str = "training set"


@dataclass(frozen=True)
class Mean:
    """A column that is a mean over the row's clips, with an interval over recordings."""

    label: str
    of: Callable[[Mapping[str, Any]], float | None]
    """Function from a motion's line, which has its expert's values; None is left out"""
    better: str = "high"
    digits: int = 1
    head: str = "training set"
    experts: bool = False
    """Whether the motion has to be performed for it"""
    share: bool = False
    """Whether it is a percentage of clips"""


@dataclass(frozen=True)
class Metric:
    """The value of a metric of the robot's motion, from a motion's line."""

    name: str

    def __call__(self, line: Mapping[str, Any]) -> float | None:
        value: float | None = line["metrics"][self.name]
        return value


@dataclass(frozen=True)
class Success:
    """A column that is a share of judged motions, with an interval over recordings and seeds."""

    test: str
    """The set that policies are judged on, or the world"""
    share: str = CLOSE
    group: str | None = None
    """Group of motion types; None for all"""
    better: str = "high"
    digits: int = 1

    @property
    def label(self) -> str:
        """Return the group, as the paper's tables have it."""
        return self.group or "total"

    @property
    def head(self) -> str:
        """Return the set and the threshold."""
        return f"{self.test}, {SHORT[self.share]}"


@dataclass(frozen=True)
class Cost:
    """A column that is a mean over the row's trainings."""

    label: str
    of: Callable[[Mapping[str, Any]], float]
    """Function from a training's line"""
    digits: int = 0
    head: str = "cost"


Column = Amount | Mean | Success | Cost
GROUPS = ("stationary", "angular", "vertical", "horizontal")


def successes(test: str, share: str = CLOSE) -> tuple[Success, ...]:
    """Return columns in the paper's form: in total and by group."""
    return tuple(Success(test, share, group) for group in (None, *GROUPS))


COSTS = (Cost("CPU s", lambda line: line["seconds"]), Cost("steps, thousands", lambda line: line["steps"] / 1000))
CERTIFIED = Mean("certified, %", lambda m: 100.0 * m["certified"], experts=True, share=True)
CLIPS = Amount("clips", lambda m: 1, digits=0)
MINUTES = Amount("minutes", lambda m: m["seconds"] / 60)


@dataclass(frozen=True)
class Study:
    """A question, and all that answers it."""

    name: str
    question: str
    paper: str
    """Where the paper asks it, and what it finds"""
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    deciding: tuple[Column, ...]
    """Columns by which rows are told apart, in words"""
    views: tuple[View, ...] = (View(),)
    tests: tuple[str, ...] = (CLEAN, FILMED)
    worlds: tuple[str, ...] = ()
    """Worlds in which policies are judged on what is held out, too"""
    notes: tuple[str, ...] = ()
    """What a reader has to know"""

    @property
    def performs(self) -> bool:
        """Return whether motions have to be performed, even if no policy learns from them."""
        return any(isinstance(column, Mean) and column.experts for column in self.columns)


def study_names() -> tuple[str, ...]:
    """Return the names of all studies, without loading them."""
    import phuma.studies as folder

    return tuple(sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if not module.ispkg))


def study_named(name: str) -> Study:
    """Return a study by its name; a wrong one is an error that says what was probably meant."""
    study: Study = import_module(f"phuma.studies.{known_name(name, study_names(), 'study')}").STUDY
    return study
