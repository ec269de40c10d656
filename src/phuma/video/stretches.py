"""Cut a film into stretches in which the person is seen, and bridge what is missing for a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.video.landmarks import Landmarks

SEEN = 0.5
"""Presence from which on a person is seen"""
BRIDGED = 0.3
"""Seconds for which the person may be gone"""
SHORTEST = 0.5
"""Seconds below which a stretch is no motion"""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A part of a film in which the person is seen."""

    landmarks: Landmarks
    """Without gaps"""
    first: int
    """Number of its first frame in the film"""
    seen: Array
    """(T,) bool, whether the person was seen; elsewhere landmarks are between their neighbours"""


def stretches_of(landmarks: Landmarks, spans: Sequence[tuple[int, int]] | None = None) -> list[Stretch]:
    """Return the stretches of a film in order; those that are too short are left out. Only frames of `spans`, first and
    past the last, are used, if these are given, and no stretch goes beyond one."""
    seen = landmarks.presence >= SEEN
    out = []
    for begin, end in [(0, len(landmarks))] if spans is None else spans:
        frames = begin + np.flatnonzero(seen[begin:end])
        if not len(frames):
            continue
        cuts = np.flatnonzero(np.diff(frames) > BRIDGED * landmarks.fps + 1)
        ends = zip(frames[np.concatenate([[0], cuts + 1])], frames[np.concatenate([cuts, [-1]])] + 1)
        long = [(int(a), int(b)) for a, b in ends if b - a >= SHORTEST * landmarks.fps]
        out += [_stretch(landmarks, seen, a, b) for a, b in long]
    return out


def frames_of(landmarks: Landmarks, which: slice | Array) -> Landmarks:
    """Return some frames of landmarks."""
    arrays = landmarks.image, landmarks.world, landmarks.visibility, landmarks.presence
    return Landmarks(landmarks.fps, landmarks.size, *(a[which] for a in arrays))


def _stretch(landmarks: Landmarks, seen: Array, first: int, last: int) -> Stretch:
    own = seen[first:last]
    image, world = (_bridged(a[first:last], own) for a in (landmarks.image, landmarks.world))
    visibility, presence = landmarks.visibility[first:last], landmarks.presence[first:last]
    return Stretch(Landmarks(landmarks.fps, landmarks.size, image, world, visibility, presence), first, own)


def _bridged(values: Array, known: Array) -> Array:
    """Return values (T, ...) with those that are not known on the line between their neighbours."""
    if known.all():
        return values
    times = np.flatnonzero(known)
    gone = np.flatnonzero(~known)
    after = np.searchsorted(times, gone)
    a, b = times[after - 1], times[after]
    share = ((gone - a) / (b - a)).reshape(-1, *[1] * (values.ndim - 1))
    out = values.copy()
    out[gone] = (1 - share) * values[a] + share * values[b]
    return out
