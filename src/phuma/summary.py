"""What a dataset amounts to, as plain numbers: `phuma.dataset.statistics` counts them, `phuma.view.report` shows them.

A clip on several robots is one clip in everything about recordings and curation; what is about retargeting is told
robot by robot. Hours are of kept clips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Bound = Literal["above", "below"]


@dataclass(frozen=True)
class Amount:
    """How much there is of something."""

    name: str
    considered: int
    """clips, kept or not, without mirror images"""
    passed: int
    """of these"""
    kept: int
    """clips in the dataset, with mirror images"""
    hours: float
    """of them"""
    group: str = ""
    """of a category"""


@dataclass(frozen=True)
class Filter:
    """One of curation's filters and what it does to the clips."""

    name: str
    label: str
    bound: Bound
    """on which side of the limit a value has to be"""
    limits: tuple[float, ...]
    """one, unless clips of different limits were put together"""
    unit: str
    remaining: int
    """clips that pass this filter and all before it"""
    rejects: int
    """clips that fail it, whatever the others say"""
    only: int
    """clips that fail it and no other"""


@dataclass(frozen=True)
class Histogram:
    """How many clips have which value."""

    name: str
    label: str
    unit: str
    edges: tuple[float, ...]
    """(n + 1,) ascending"""
    counts: Mapping[str, tuple[int, ...]]
    """(n,) by what became of the clips, in the order in which bars are piled up"""
    open_low: bool
    """the first bar holds all that is lower, too"""
    open_high: bool
    limit: float | None = None
    bound: Bound = "below"
    median: float = 0.0
    tail: float = 0.0
    """the value that 95 % of clips are better than or equal to"""
    worst: float = 0.0


@dataclass(frozen=True)
class Spread:
    """One number of the retargeting report over the kept clips."""

    name: str
    label: str
    unit: str
    mean: float
    """weighted by what it was measured on"""
    median: float
    tail: float
    """95 % of clips are better"""
    worst: float


@dataclass(frozen=True)
class WorstClip:
    """A kept clip at the end of a metric."""

    clip: str
    robot: str
    recording: str
    start: float
    """s"""
    end: float
    category: str
    value: float
    scores: Mapping[str, float | None]
    """all five"""


@dataclass(frozen=True)
class RobotSummary:
    """How well the kept clips went on one robot."""

    name: str
    clips: int
    five: Mapping[str, float | None]
    """percent of all frames or contact samples, as of one long motion"""
    histograms: tuple[Histogram, ...]
    """of the five"""
    beside: tuple[Spread, ...]
    worst: Mapping[str, tuple[WorstClip, ...]]
    """by metric, the worst first; clips that are perfect are left out"""
    flags: tuple[tuple[str, int], ...]
    """what retargeting remarked, and on how many clips"""


@dataclass(frozen=True)
class Licence:
    """Under which terms the recordings of a source are, and whether they may be passed on."""

    source: str
    licence: str
    redistributable: bool | None
    clips: int
    """kept"""


@dataclass(frozen=True)
class Failure:
    """Recordings that could not be used, by the reason."""

    reason: str
    recordings: tuple[str, ...]


@dataclass(frozen=True)
class Confusion:
    """Types that labels gave beside what would have been guessed from the motion: kept clips."""

    types: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """[label][guess]"""

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))

    @property
    def right(self) -> int:
        return sum(row[i] for i, row in enumerate(self.counts))


@dataclass(frozen=True)
class Summary:
    """Everything that the report shows."""

    total: Amount
    mirrored: int
    """of the kept clips"""
    imported: int
    judged: int
    """clips that went through the filters: not mirror images, nor robot motions that others made"""
    recordings: int
    """read, or tried to be read"""
    sources: tuple[Amount, ...]
    categories: tuple[Amount, ...]
    splits: tuple[Amount, ...]
    filters: tuple[Filter, ...]
    curation: tuple[Histogram, ...]
    robots: tuple[RobotSummary, ...]
    licences: tuple[Licence, ...]
    failures: tuple[Failure, ...]
    confusion: Confusion
    config: Mapping[str, Any]
    versions: Mapping[str, str]
