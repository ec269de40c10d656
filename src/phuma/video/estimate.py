"""Estimate the landmarks of a person along a film, and what is wrong with the film; once for each film."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError
from phuma.video import landmark_cache
from phuma.video.checks import LEAST_SECONDS, MOMENT, STAYS_EXCHANGED, Finding, checked_film, clock
from phuma.video.detector import Detector
from phuma.video.film import Film, open_film
from phuma.video.frames import frame_size, frames
from phuma.video.landmarker import Landmarker
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.pictures import Pictures, PictureWatch
from phuma.video.tracking import Sight, Tracker
from phuma.video.weights import DETECTOR, fetched, landmarker_weights

MOST_SECONDS = 3600.0
"""Of a film that is read at once: an hour takes two of a processor, and its landmarks 200 MB"""
ENDED_EARLY = 0.5  # seconds that a film may lack at its end without a word
LOOK = 2.0
"""Seconds of a film after which what is wrong with it so far is told, and every so many further on"""
LOOK_SHARE = 1 / 32
"""Of what was seen, how much more comes before the next such look, as each goes through all of it: 1.6 % more time"""

Progress = Callable[[int, int | None], object]
"""Told how many frames are done, and of how many, if the film says how long it is"""


@dataclass(frozen=True, eq=False)
class FilmInfo:
    """What a film is, and how it was read."""

    film: Film
    sha256: str
    model: str
    start: float
    """Seconds in the film of the first frame"""
    stretches: list[tuple[int, int]]
    """The frames that can be used: first, and after the last, of each stretch of at least a second"""
    notes: list[str]
    """What a person should know about how it was read"""
    people: int
    """The most that were seen at once"""
    cached: bool
    """Whether the landmarks were there from an earlier call"""


class Estimate(NamedTuple):
    """What is known of the person in a film."""

    landmarks: Landmarks
    findings: list[Finding]
    info: FilmInfo
    pictures: Pictures


def landmarks_of(
    path: str | os.PathLike[str],
    *,
    model: str = "full",
    person: int | None = None,
    start: float | None = None,
    end: float | None = None,
    progress: Progress | None = None,
    say: Callable[[str], object] | None = None,
) -> Estimate:
    """Return the landmarks of one person along a film, what is wrong with it, and how it was read.

    The largest person is followed, or number `person` from the left, from `start` to `end` seconds. The result is kept
    in the user's cache by the film's hash, so that a second call takes no time. `say` is told of a download before it
    begins, of how the film is read, and of what is wrong with a long one while it is looked at.
    """
    if person is not None and person < 1:
        raise ConfigError(f"person {person}; people are counted from 1, from the left")
    weights = landmarker_weights(model)
    film = open_film(path)
    start, end = _times(film, start, end)
    sha256 = _sha256(film.path)
    key = landmark_cache.key(sha256, model, weights.sha256, person, start, end)
    known = landmark_cache.load(key)
    if known is None:
        if say is not None:
            for note in film.notes:
                say(note)
        detector, landmarker = Detector(fetched(DETECTOR, say)), Landmarker(fetched(weights, say))
        tracker = Tracker(detector, landmarker, float(film.fps), person)
        landmarks, pictures = followed(film, tracker, start, end, progress, say)
        landmark_cache.store(key, landmarks, pictures)
    else:
        landmarks, pictures = known
    findings, stretches = checked_film(landmarks, pictures, start)
    notes = film.notes + _shortness(film, start, end, len(landmarks))
    people = max(0, int(pictures.people.max()))
    info = FilmInfo(film, sha256, model, start, stretches, notes, people, known is not None)
    return Estimate(landmarks, findings, info, pictures)


def followed(
    film: Film,
    tracker: Tracker,
    start: float,
    end: float | None,
    progress: Progress | None = None,
    say: Callable[[str], object] | None = None,
) -> tuple[Landmarks, Pictures]:
    """Return the landmarks of the person whom a tracker follows, and what else the pictures tell; each kind of fault is
    said once, within seconds of film, unless the end is as near."""
    watch, table = PictureWatch(float(film.fps)), _Table(film)
    every = look = round(LOOK * film.fps)
    known = set[str]()
    until = end if end is not None else film.seconds
    total = None if until is None else round((until - start) * film.fps)
    for count, picture in enumerate(frames(film, start, end), 1):
        if count > MOST_SECONDS * film.fps:
            raise ReadError(film.path, f"is longer than {clock(MOST_SECONDS)}; choose a part by --start and --end")
        if watch.begins_shot(picture):
            tracker.cut()
        sight = tracker(picture)
        watch.person_found(picture, sight.pose, sight.people)
        table.add(sight)
        if progress is not None:
            progress(count, total)
        if say is not None and count == look and (total is None or count + every < total):
            look += max(every, round(LOOK_SHARE * count))
            for finding in findings_so_far(table.landmarks(), watch.pictures(), start):
                if finding.kind not in known:
                    known.add(finding.kind)
                    say(f"so far, {finding.text}")
    return table.landmarks(), watch.pictures()


def findings_so_far(landmarks: Landmarks, pictures: Pictures, start: float) -> list[Finding]:
    """Return what is to be said of a film that goes on. That legs stay exchanged is known after a moment only."""
    settled = start + len(landmarks) / landmarks.fps - MOMENT
    findings, _ = checked_film(landmarks, pictures, start)
    return [finding for finding in findings if finding.kind != STAYS_EXCHANGED or finding.end < settled]


class _Table:
    """The landmarks of the frames up to now, in single precision."""

    def __init__(self, film: Film) -> None:
        self._film = film
        self._scale = np.array(film.size) / frame_size(film)
        self._rows: list[Array] = []

    def add(self, sight: Sight) -> None:
        row = np.zeros(len(NAMES) * 6 + 1, np.float32)
        if (pose := sight.pose) is not None:
            image = pose.image * self._scale
            row[:-1] = np.concatenate([image, pose.world, pose.visibility[:, None]], axis=1).reshape(-1)
            row[-1] = pose.presence
        self._rows.append(row)

    def landmarks(self) -> Landmarks:
        table = np.stack(self._rows)
        each = table[:, :-1].reshape(len(table), len(NAMES), 6)
        fps, size = float(self._film.fps), self._film.size
        return Landmarks(fps, size, each[..., :2], each[..., 2:5], each[..., 5], table[:, -1])


def _times(film: Film, start: float | None, end: float | None) -> tuple[float, float | None]:
    """Return a part of a film that is there and not too long, or raise an error."""
    start = start or 0.0
    if start < 0 or (end is not None and end <= start):
        raise ConfigError(
            f"start {start:g} s and end {end if end is None else f'{end:g}'} s; expected 0 <= start < end"
        )
    if film.seconds is not None and start >= film.seconds:
        raise ReadError(film.path, f"is {film.seconds:.1f} s long, so that nothing begins at {start:g} s")
    if end is not None and film.seconds is not None and end >= film.seconds:
        end = None
    until = film.seconds if end is None else end
    if until is not None and until - start > MOST_SECONDS:
        raise ReadError(
            film.path,
            f"would give {clock(until - start)} to look at, which takes about as long on one processor; at most "
            f"{clock(MOST_SECONDS)} are read at once: choose a part by --start and --end",
        )
    return start, end


def _shortness(film: Film, start: float, end: float | None, count: int) -> list[str]:
    """Return a note of a film that is too short, or ends before it should."""
    until = film.seconds if end is None else end
    there, notes = start + count / float(film.fps), []
    if there - start < LEAST_SECONDS:
        told = "there is only one picture" if count == 1 else f"there are only {count} pictures"
        notes.append(f"{told}, {there - start:.2g} s; motion needs at least {LEAST_SECONDS:g} s")
    if until is not None and until - there > max(ENDED_EARLY, 0.02 * until):
        notes.append(
            f"it says that it is {until:.1f} s long but ends at {there:.1f} s, as if it was cut off or is damaged there"
        )
    return notes


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as f:
            while block := f.read(1 << 20):
                digest.update(block)
    except OSError as e:
        raise ReadError(path, f"cannot be read: {e.strerror or e}") from None
    return digest.hexdigest()
