"""People whom a model tracked through a film: seen in some of its frames, lost in others, several at a time.

A person becomes one motion per stretch without a gap. What is missing for a few frames is interpolated; what is seen
for less than a second is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.body import open_body
from phuma.body.choice import SmplShape
from phuma.body.stance import stance_path
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, REST_TO_WORLD
from phuma.errors import PhumaError, ReadError
from phuma.sources.reader import MAX_FRAMES, ReadCfg
from phuma.sources.smpl import MAX_ANGLE, MAX_DISTANCE, Layout, SmplData, numbers, to_motion

MAX_GAP = 5
"""Frames in a row that are interpolated where a person was not seen"""
SHORTEST = 1.0
"""Seconds that a stretch lasts at least"""
FILM_RATE = 30.0
"""Hz, assumed of films: no file of these models holds the film's rate"""
SMPL_PELVIS = np.array([-0.002, -0.223, 0.028])
"""metres, where the pelvis of SMPL's mean body rests; in files of SMPL a pelvis is at its translation plus this"""


@dataclass(frozen=True, eq=False)
class Track:
    """A track is one person in a film, y-up."""

    person: str
    """What the file calls the person; empty where it has only one"""
    frames: NDArray[np.int64]
    """(N,) the film's frames in which the person was seen, in order"""
    rotvecs: NDArray[Any]
    """(N, 66) rad"""
    trans: NDArray[Any] | None
    """(N, 3) m; None where no path in the world is known: feet make one then"""
    shape: SmplShape
    cuts: NDArray[np.int64] | None = None
    """Frames at which another shot of the film begins"""


def motions_of(
    path: Path, layout: Layout, tracks: Sequence[Track], cfg: ReadCfg, notes: tuple[str, ...] = ()
) -> list[HumanMotion]:
    """Return a motion for every person and stretch of a film, in order, or raise an error where there is none."""
    if sum(len(track.frames) for track in tracks) > MAX_FRAMES:
        raise ReadError(path, f"holds more than {MAX_FRAMES:,} frames of people; cut the film into several")
    rate = cfg.rate or layout.assumed_fps or FILM_RATE
    motions = []
    for track in tracks:
        _check(path, track)
        for stretch in _stretches(track):
            if len(stretch.frames) / rate >= SHORTEST:
                motions.append(_motion(path, layout, stretch, cfg, notes))
    if not motions:
        seen = f"{len(tracks)} people, none of whom is seen for {SHORTEST:g} s on end" if tracks else "nobody"
        raise ReadError(path, f"holds {seen} (at {rate:g} Hz; --fps says the film's rate)")
    return motions


def _check(path: Path, track: Track) -> None:
    try:
        numbers("body rotations", track.rotvecs, (len(track.frames), 3 * N_JOINTS), MAX_ANGLE, "are they in degrees?")
        if track.trans is not None:
            numbers("translation", track.trans, (len(track.frames), 3), MAX_DISTANCE)
    except PhumaError as e:
        raise ReadError(path, f"person {track.person}: {e}" if track.person else str(e)) from None


def _stretches(track: Track) -> list[Track]:
    """Return the parts of a track between long gaps and cuts, in which short gaps are left."""
    breaks = np.diff(track.frames) > MAX_GAP + 1
    if track.cuts is not None:
        shot = np.searchsorted(track.cuts, track.frames, side="right")
        breaks |= np.diff(shot) > 0
    edges = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(track.frames)]
    return [
        replace(
            track,
            frames=track.frames[first:last],
            rotvecs=track.rotvecs[first:last],
            trans=None if track.trans is None else track.trans[first:last],
        )
        for first, last in pairwise(edges)
        if last > first
    ]


def _motion(path: Path, layout: Layout, stretch: Track, cfg: ReadCfg, notes: tuple[str, ...]) -> HumanMotion:
    whole = _filled(stretch)
    first, last = int(whole.frames[0]), int(whole.frames[-1])
    if stretch.person:
        notes += (f"person {stretch.person}, frames {first} to {last} of the film",)
    if missing := len(whole.frames) - len(stretch.frames):
        notes += (f"{missing} frames in which the person was not seen are interpolated",)
    trans = _on_the_ground(whole.rotvecs) if whole.trans is None else whole.trans
    motion = to_motion(path, layout, SmplData(trans, whole.rotvecs, None, stretch.shape, notes), cfg)
    return motion.told(replace(motion.provenance, start=first / motion.fps))


def _filled(stretch: Track) -> Track:
    """Return the stretch with every frame from its first to its last: paths linear, rotations on the sphere."""
    frames = np.arange(stretch.frames[0], stretch.frames[-1] + 1)
    if len(frames) == len(stretch.frames):
        return stretch
    after = np.clip(np.searchsorted(stretch.frames, frames), 1, len(stretch.frames) - 1)
    before = after - 1
    share = (frames - stretch.frames[before]) / (stretch.frames[after] - stretch.frames[before])
    quat = rot.from_rotvec(np.asarray(stretch.rotvecs, dtype=float).reshape(-1, N_JOINTS, 3))
    between = rot.slerp(quat[before], quat[after], share[:, None])
    trans = stretch.trans
    if trans is not None:
        trans = trans[before] + share[:, None] * (trans[after] - trans[before])
    return replace(stretch, frames=frames, rotvecs=rot.to_rotvec(between).reshape(len(frames), -1), trans=trans)


def _on_the_ground(rotvecs: NDArray[Any]) -> Array:
    """Return (T, 3) m, y-up: the translation with which the lowest foot of an average person stands still."""
    quat = rot.from_rotvec(np.asarray(rotvecs, dtype=float).reshape(-1, N_JOINTS, 3))
    quat[:, 0] = rot.multiply(REST_TO_WORLD, quat[:, 0])
    body = open_body()
    return rot.rotate_back(REST_TO_WORLD, stance_path(body, quat)) - body.joints[0]
