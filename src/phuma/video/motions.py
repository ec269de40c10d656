"""The motions of a person in a film: landmarks, what is wrong with them, and the body that was lifted from the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from phuma.errors import ConfigError, ReadError
from phuma.video.checks import LEAST_SECONDS, Finding
from phuma.video.estimate import Estimate, Progress, landmarks_of
from phuma.video.lift import LiftCfg, Lifted, focal_of, lift
from phuma.video.turning import steadied

SHOWN = 6
"""Findings that an error names"""


@dataclass(frozen=True)
class FilmCfg(LiftCfg):
    """Who is followed in a film, and by which network."""

    person: int | None = None
    """Number of the person to follow, from the left, where there are several; by default the largest"""
    model: str = "full"
    """Network: full, or heavy (more accurate in some views, a third as fast)"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.person is not None and self.person < 1:
            raise ConfigError(f"--person {self.person}: people are counted from 1, from the left")

    @property
    def lifting(self) -> LiftCfg:
        """Return what is known of person and camera alone."""
        return LiftCfg(self.stature, self.focal, self.camera)


class FilmMotions(NamedTuple):
    """What became of a film."""

    estimate: Estimate
    lifted: list[Lifted]
    """A motion for each stretch that can be used, in order; it says in seconds of the film when it begins"""


def motions_of_film(
    path: str | os.PathLike[str],
    cfg: FilmCfg | None = None,
    start: float | None = None,
    end: float | None = None,
    progress: Progress | None = None,
    say: Callable[[str], object] | None = None,
    lifting: Callable[[int, int], object] | None = None,
) -> FilmMotions:
    """Return the motions of a person in a film, from `start` to `end` seconds; none at all is an error that says why.

    What was guessed, and what is to be said of the film at that time, is in the notes of each motion. `progress` is
    told of frames that were looked at, and `lifting` of those that were lifted.
    """
    cfg = cfg or FilmCfg()
    estimate = landmarks_of(
        path, model=cfg.model, person=cfg.person, start=start, end=end, progress=progress, say=say
    )  # fmt: skip
    info = estimate.info
    if not info.stretches:
        raise ReadError(path, _nothing(estimate))
    focal = focal_of(estimate.landmarks, cfg)
    landmarks, angles = steadied(estimate.landmarks, estimate.pictures, info.stretches, focal)
    lifted = lift(landmarks, cfg.lifting, str(path), info.stretches, lifting)
    return FilmMotions(estimate, [_told(one, estimate, _turned(one, estimate, angles)) for one in lifted])


def film_seconds(estimate: Estimate) -> float:
    """Return how much of a film was looked at, s."""
    return len(estimate.landmarks) / estimate.landmarks.fps


def _nothing(estimate: Estimate) -> str:
    """Return why nothing of a film can be used."""
    why = [*estimate.info.notes, *(f.text for f in estimate.findings)]
    more = [f"and {len(why) - SHOWN} more"] if len(why) > SHOWN else []
    said = "; ".join([*why[:SHOWN], *more]) or "nobody is seen for a second on end"
    seconds = film_seconds(estimate)
    return (
        f"no second of its {seconds:.3g} s can be used: {said}" if seconds >= LEAST_SECONDS else f"is too short: {said}"
    )


def _turned(lifted: Lifted, estimate: Estimate, angles: list[float]) -> tuple[str, ...]:
    """Return a note of how far the camera turned while this was filmed, if it did."""
    first = lifted.motion.provenance.start * estimate.landmarks.fps
    angle = max(a for a, span in zip(angles, estimate.info.stretches) if span[0] - 0.5 <= first < span[1])
    return (f"the camera turned by {np.degrees(angle):.0f}°, taken out",) if angle else ()


def _told(lifted: Lifted, estimate: Estimate, more: tuple[str, ...] = ()) -> Lifted:
    """Return a motion with its time in the film, and what is to be said of the film then."""
    motion, info = lifted.motion, estimate.info
    start = info.start + motion.provenance.start
    own = [f.text for f in estimate.findings if _overlaps(f, start, start + motion.duration)]
    notes = (*lifted.notes, *more, *info.notes, *own)
    told = motion.told(replace(motion.provenance, start=start, notes=notes))
    return replace(lifted, motion=told, notes=(*lifted.notes, *more))


def _overlaps(finding: Finding, start: float, end: float) -> bool:
    return finding.start < end and finding.end > start
