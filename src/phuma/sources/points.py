"""Points on a person over time, as tools that see several cameras give them; a body is fitted to them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phuma.core.arrays import checked_fps
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.errors import PhumaError, ReadError
from phuma.sources.reader import ReadCfg

PERSON = (0.4, 4.0)
"""metres between which the largest extent of somebody's points lies"""


@dataclass(frozen=True, eq=False)
class Points:
    """Points of one person."""

    names: Sequence[str]
    """N names"""
    positions: Array
    """(T, N, 3) m, z-up; NaN where a point is not known"""
    fps: float | None
    """None when the file has no rate"""
    up: str
    """Axis of the file that is up"""
    notes: tuple[str, ...] = ()


def check_extent(path: Path, positions: Array, units: str) -> None:
    """Raise an error unless the points lie as far apart as those of a person do."""
    known = positions[np.isfinite(positions).all(axis=(1, 2))]
    if not len(known):
        return
    extent = float(np.median(np.ptp(known, axis=1).max(axis=1)))
    if not PERSON[0] <= extent <= PERSON[1]:
        raise ReadError(
            path, f"has points {extent:.3g} m apart, taken as {units}; a person's are {PERSON[0]:g} to {PERSON[1]:g} m"
        )


def motion_of(path: Path, layout: str, points: Points, cfg: ReadCfg, assumed_fps: float = 30.0) -> HumanMotion:
    """Return the motion of a body that is fitted to the points."""
    from phuma.video.points import motion_of_points  # type: ignore[import-not-found, unused-ignore]  # slow to import

    notes, rate = points.notes, cfg.rate or points.fps
    if rate is None:
        rate = assumed_fps
        notes += (f"{rate:g} Hz assumed: {layout} files hold no rate; give the true one with --fps",)
    try:
        origin = Provenance(source=str(path), format=layout, up=points.up, notes=notes)
        motion: HumanMotion = motion_of_points(points.positions, points.names, checked_fps(rate), origin)
    except PhumaError as e:
        raise e if isinstance(e, ReadError) else ReadError(path, str(e)) from None
    return motion
