"""4DHumans, by PHALP, is read: `results/demo_NAME.pkl` (joblib, compressed), all people of a film in SMPL.

It holds, for each picture, its number `time`, whether a `shot` begins with it, and lists with an entry per person:
`tid`, `tracked_time` (0 where the person is seen, else pictures since) and `smpl` with global_orient (1, 3, 3),
body_pose (23, 3, 3) and betas (10,), in the camera. Where somebody is in the world is not in the file (`camera` is a
place before a made-up lens): the lowest foot stands still instead.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources.fields import field, has, rotvecs_of
from phuma.sources.reader import MAX_FRAMES, ReadCfg
from phuma.sources.smpl import Layout, one_shape
from phuma.sources.tracks import FILM_RATE, Track, motions_of
from phuma.sources.tram import FROM_CAMERA

FORMAT = "phalp"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
KEYS = ("tid", "tracked_time", "smpl", "time")
NOTES = (
    "no path in the file: the lowest foot stands still on level ground, so there are no jumps",
    "no gravity in the file: the camera is taken to be level",
)
Seen = tuple[int, NDArray[Any], NDArray[Any]]
"""A frame's number, rotations (24, 3, 3) in the camera, and betas"""


def recognises(probe: Probe) -> bool:
    """Return whether the file is PHALP's."""
    content = probe.content
    return isinstance(content, dict) and bool(content) and all(has(picture, KEYS) for picture in content.values())


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the people of the film."""
    path = probe.path
    people, cuts = _people(path, probe.content)
    tracks = []
    for person, seen in sorted(people.items()):
        frames = np.array([frame for frame, _, _ in seen])
        rotmat = np.stack([rotations for _, rotations, _ in seen])
        rotmat[:, 0] = FROM_CAMERA @ rotmat[:, 0]
        betas = one_shape(path, np.stack([betas for _, _, betas in seen]))
        rotvecs = rotvecs_of(path, f"smpl of person {person}", rotmat)
        tracks.append(Track(str(person), frames, rotvecs, None, SmplShape("smpl", betas), cuts))
    return motions_of(path, LAYOUT, tracks, cfg, NOTES)


def _people(path: Path, content: dict[Any, Any]) -> tuple[dict[int, list[Seen]], NDArray[np.int64]]:
    """Return what was seen of each person, in the film's order, and the frames with which a shot begins."""
    people: dict[int, list[Seen]] = defaultdict(list)
    cuts = []
    for picture in _in_order(path, content):
        frame = _number(path, "time", picture["time"])
        if _number(path, "shot", picture.get("shot", 0)) == 1:
            cuts.append(frame)
        lists = [picture[name] for name in ("tid", "tracked_time", "smpl")]
        if any(not isinstance(values, list) or len(values) != len(lists[0]) for values in lists):
            raise ReadError(path, f"picture {frame} has tid, tracked_time and smpl that are not lists of one length")
        for tid, unseen, smpl in zip(*lists):
            seen = people[_number(path, "tid", tid)]
            if _number(path, "tracked_time", unseen) == 0 and not (seen and seen[-1][0] == frame):
                seen.append((frame, *_pose(path, f"smpl of picture {frame}", smpl)))
    return {person: seen for person, seen in people.items() if seen}, np.array(cuts, dtype=np.int64)


def _in_order(path: Path, content: dict[Any, Any]) -> list[dict[Any, Any]]:
    times = [_number(path, "time", picture["time"]) for picture in content.values()]
    if len(set(times)) != len(times):
        raise ReadError(path, "holds two pictures of the same time")
    return sorted(content.values(), key=lambda picture: int(picture["time"]))


def _pose(path: Path, where: str, smpl: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    root = field(path, where, smpl, "global_orient", (1, 3, 3))
    body = field(path, where, smpl, "body_pose", (23, 3, 3))
    betas = field(path, where, smpl, "betas", (10,))
    with np.errstate(all="ignore"):  # of strange bit patterns
        return np.concatenate([root, body]).astype(np.float64), betas.astype(np.float64)


def _number(path: Path, name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or not 0 <= value <= 50 * MAX_FRAMES:
        raise ReadError(path, f"{name} is {str(value)[:40]!r}; expected a whole number from 0 on")
    return int(value)
