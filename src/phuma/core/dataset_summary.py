"""The summary of a dataset in plain numbers: `dataset.statistics` counts them, `viewer.report` shows them.

A clip on several robots is one clip in everything about recordings and curation; what is about retargeting is given
per robot. Hours are of kept clips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from phuma.core.metric import Metric


@dataclass(frozen=True)
class Amount:
    """Counts of clips and hours of something, for example a source or a category."""

    name: str
    considered: int
    """Clips, kept or not, without mirror images"""
    passed: int
    """Considered clips that passed every filter"""
    kept: int
    """Clips in the dataset, with mirror images"""
    hours: float
    """Hours of kept clips"""
    group: str = ""
    """Group of a category; empty for anything else"""


@dataclass(frozen=True)
class Filter:
    """One of curation's filters and what it does to the clips."""

    metric: Metric
    limits: tuple[float, ...]
    """Limits that clips were held against: one, unless clips of different limits were put together"""
    remaining: int
    """Clips that pass this filter and all before it"""
    rejects: int
    """Clips that fail this filter, whatever the others say"""
    only: int
    """Clips that fail this filter and no other"""


@dataclass(frozen=True)
class Histogram:
    """Counts of clips by the value of a metric."""

    metric: Metric
    edges: tuple[float, ...]
    """(n + 1,) edges of the bars, ascending, in the metric's unit"""
    counts: Mapping[str, tuple[int, ...]]
    """(n,) clips in each bar by what became of them, in the order in which bars are piled up"""
    open_low: bool
    """Whether the first bar also holds all that is lower"""
    open_high: bool
    """Whether the last bar also holds all that is higher"""
    limit: float | None = None
    median: float = 0.0
    tail: float = 0.0
    """Value that 95 % of clips are better than or equal to"""
    worst: float = 0.0


@dataclass(frozen=True)
class Distribution:
    """Distribution of one metric of the retargeting report over the kept clips."""

    metric: Metric
    mean: float
    """Mean over clips, weighted by what the metric was measured on"""
    median: float
    tail: float
    """Value that 95 % of clips are better than or equal to"""
    worst: float
    clips: int = 0
    """Clips in which it is known"""


@dataclass(frozen=True)
class WorstClip:
    """A kept clip that is among the worst by a metric."""

    clip: str
    robot: str
    recording: str
    start: float
    """Seconds into the recording at which the clip begins"""
    end: float
    """Seconds into the recording at which the clip ends"""
    category: str
    value: float
    scores: Mapping[str, float | None]
    """Values of all five main metrics in percent"""


@dataclass(frozen=True)
class RobotSummary:
    """Scores of the kept clips on one robot."""

    name: str
    clips: int
    five: Mapping[str, float | None]
    """Main metrics in percent of all frames or contact samples, as of one long motion; None where no clip has it"""
    histograms: tuple[Histogram, ...]
    """Histograms of the five main metrics"""
    beside: tuple[Distribution, ...]
    """Distributions of the metrics that are reported beside the five"""
    worst: Mapping[str, tuple[WorstClip, ...]]
    """Worst clips by metric, the worst first; clips that are perfect are left out"""
    flags: tuple[tuple[str, int], ...]
    """Flags by the word that they begin with, each with the number of clips that have it"""
    flagged: int = 0
    """Clips with any flag"""
    known: Mapping[str, int] = field(default_factory=dict)
    """Clips in which each of the main metrics is known"""


@dataclass(frozen=True)
class Tried:
    """Counts of kept clips that a robot performed under physics, for example those of a category."""

    name: str
    tried: int
    certified: int
    """Clips that were performed within 0.15 m"""
    loosely: int
    """Clips that were performed within 0.5 m"""
    error_mm: float | None
    """Mean distance from the motion over the certified clips, mm; None without one"""


@dataclass(frozen=True)
class LostClip:
    """A kept clip that was performed under physics and is not certified."""

    clip: str
    robot: str
    recording: str
    start: float
    """Seconds into the recording at which the clip begins"""
    end: float
    """Seconds into the recording at which the clip ends"""
    category: str
    loosely: bool
    reason: str


@dataclass(frozen=True)
class Certification:
    """What came of performing the kept clips on one robot under physics."""

    robot: str
    kept: int
    """Kept clips, tried or not"""
    total: Tried
    categories: tuple[Tried, ...]
    """The same by category, without those of which nothing was tried"""
    lost: tuple[LostClip, ...]
    """The first clips that are not certified; those beyond 0.5 m come first"""


@dataclass(frozen=True)
class Licence:
    """The licence of the recordings of a source, and whether they may be redistributed."""

    source: str
    licence: str
    redistributable: bool | None
    clips: int
    """Number of kept clips"""


@dataclass(frozen=True)
class Failure:
    """Recordings that could not be used for the same reason."""

    reason: str
    recordings: tuple[str, ...]


@dataclass(frozen=True)
class Confusion:
    """Motion types that labels gave beside those guessed from the motion, over kept clips."""

    types: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """Numbers of clips as [label][guess], both in the order of `types`"""

    @property
    def total(self) -> int:
        """Return the number of clips that were compared."""
        return sum(map(sum, self.counts))

    @property
    def right(self) -> int:
        """Return the number of clips whose guess agrees with the label."""
        return sum(row[i] for i, row in enumerate(self.counts))


@dataclass(frozen=True)
class Summary:
    """All numbers that the report shows."""

    total: Amount
    mirrored: int
    """Kept clips that are mirror images"""
    imported: int
    """Kept clips that were imported as robot motions"""
    judged: int
    """Clips that went through the filters: neither mirror images nor imported robot motions"""
    recordings: int
    """Recordings that were read, or tried to be read"""
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
    certification: tuple[Certification, ...] = ()
    """What came of performing clips under physics, for each robot with which that was tried"""
