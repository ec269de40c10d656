"""Report how far a dataset is and what it holds: from the manifest, or from the records of an unfinished build."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phuma.dataset.describe import PLANNED, load_description
from phuma.dataset.layout import Layout
from phuma.dataset.manifest import open_manifest
from phuma.dataset.record import load_record
from phuma.errors import ReadError
from phuma.io.lock import is_locked

NEEDED = ("clip", "robot", "kept", "frames", "fps", "split", "category", "certified")
BATCH = 2000
UNKNOWN = "unknown"
"""Category of an imported motion without a label; split of a clip without one"""


@dataclass
class Tally:
    """Counts of clips, and of those that were kept."""

    clips: int = 0
    kept: int = 0
    seconds: float = 0.0
    """Seconds of the kept clips"""

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row of the manifest."""
        self.clips += 1
        if row["kept"]:
            self.kept += 1
            self.seconds += row["frames"] / row["fps"]

    @property
    def hours(self) -> float:
        """Return the hours of the kept clips."""
        return self.seconds / 3600

    @property
    def kept_share(self) -> float | None:
        """Return the kept clips in percent of all; None without clips."""
        return 100 * self.kept / self.clips if self.clips else None

    def as_json(self) -> dict[str, Any]:
        """Return the counts in plain values."""
        return {"clips": self.clips, "kept": self.kept, "kept_share": self.kept_share, "hours": self.hours}


@dataclass
class Status:
    """The content of `phuma status`. A clip counts once, however many robots perform it; under `robots` once each."""

    finished: bool
    building: bool
    """Whether a process is writing it now"""
    selected: bool
    """Whether it was selected from another dataset"""
    recordings: int = 0
    """Recordings that are done"""
    planned: int | None = None
    """Recordings that there will be when it is finished; None where it is not known"""
    failed: list[dict[str, str]] = field(default_factory=list)
    total: Tally = field(default_factory=Tally)
    robots: dict[str, Tally] = field(default_factory=dict)
    splits: dict[str, Tally] = field(default_factory=dict)
    categories: dict[str, Tally] = field(default_factory=dict)
    tried: int = 0
    """Kept clips that were performed under physics, on each robot that they are of"""
    certified: int = 0
    """Those of them that are certified"""

    def as_json(self) -> dict[str, Any]:
        """Return the status in plain values."""
        parts = {"robots": self.robots, "splits": self.splits, "categories": self.categories}
        return {
            "finished": self.finished,
            "building": self.building,
            "selected": self.selected,
            "recordings": self.recordings,
            "planned": self.planned,
            "failed": self.failed,
            **self.total.as_json(),
            "tried": self.tried,
            "certified": self.certified,
            **{name: {k: t.as_json() for k, t in sorted(part.items())} for name, part in parts.items()},
        }


def status(root: Path) -> Status:
    """Return the status of a dataset, finished or not."""
    layout, description = Layout(root), load_description(root)
    finished = description.finished and layout.manifest.exists()
    out = Status(finished, is_locked(layout.lock), description.selected is not None)
    out.robots = {name: Tally() for name in description.robots}
    out.planned = description.counts.get("recordings" if finished else PLANNED)
    if finished:
        out.recordings = description.counts.get("recordings", 0)
        out.failed = [dict(f) for f in description.failed]
    seen: set[str] = set()
    for row in _manifest_rows(layout) if finished else _record_rows(layout, out):
        out.robots.setdefault(row["robot"], Tally()).add(row)
        out.tried += bool(row["kept"]) and row["certified"] is not None
        out.certified += bool(row["kept"] and row["certified"])
        if row["clip"] not in seen:
            seen.add(row["clip"])
            out.total.add(row)
            out.splits.setdefault(row["split"] or UNKNOWN, Tally()).add(row)
            out.categories.setdefault(row["category"] or UNKNOWN, Tally()).add(row)
    return out


def _manifest_rows(layout: Layout) -> Iterator[Mapping[str, Any]]:
    with open_manifest(layout.manifest) as database:
        answer = database.execute(f"SELECT {', '.join(NEEDED)} FROM manifest")
        while rows := answer.fetchmany(BATCH):
            yield from (dict(zip(NEEDED, row)) for row in rows)


def _record_rows(layout: Layout, out: Status) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of all records there are now; count recordings and failures on the way."""
    for recording in layout.done():
        try:
            path = layout.record(recording)
            record = load_record(path)
        except ReadError as e:
            if os.path.lexists(layout.work / f"{recording}.json"):  # else a build has just begun to do it again
                out.failed.append({"recording": recording, "reason": f"its record {e.problem}"})
            continue
        out.recordings += 1
        if record.failed is not None:
            out.failed.append({"recording": record.name, "reason": record.failed})
        yield from ({name: row.get(name) for name in NEEDED} for row in record.rows)
