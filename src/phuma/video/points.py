"""Fit the open body to points in space: the joints or markers that other tools give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phuma.body.open import OpenShape
from phuma.core.arrays import checked_fps
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.errors import PhumaError
from phuma.video.fit import Level, Problem, State
from phuma.video.markers import MARKERS, stature_of
from phuma.video.pinhole import up_of
from phuma.video.posing import Rig
from phuma.video.posture import REQUIRED, posture
from phuma.video.standing import fit_standing
from phuma.video.terms import Points, Shared
from phuma.video.windows import solved

TO_CAMERA = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""Rotation from the world's axes, z-up, to those of a level camera that looks along x: right, down, away"""
LEVEL = Level(0.0, 0.0, 1e-4, 1e-4, np.inf)
STATURE_WIDTH = 0.05
KNOWN_SHARE = 0.5
"""Share of the frames in which a point has to be known for it to be used"""


def motion_of_points(
    points: Array, names: Sequence[str], fps: float, provenance: Provenance | None = None
) -> HumanMotion:
    """Return the motion of a person of whom points (T, N, 3) are known, z-up, in m; NaN where they are not.

    Names are MediaPipe's (`left_hip`), OpenPose's or OpenCap's (`LHip`, `RBigToe`, `midHip`), in any spelling of these.
    """
    fps = checked_fps(fps)
    points = np.asarray(points, dtype=float)
    if points.ndim != 3 or points.shape[1:] != (len(names), 3) or not len(points):
        raise PhumaError(f"points have shape {points.shape}; expected (frames, {len(names)}, 3), at least one frame")
    known = np.asarray(np.isfinite(points).all(axis=2))
    columns = {m: i for i, n in enumerate(names) if (m := marker_of(n)) and known[:, i].mean() >= KNOWN_SHARE}
    missing = [n for n in REQUIRED if n not in columns]
    if missing:
        raise PhumaError(
            f"the points {', '.join(missing)} are missing, or known in less than half of the frames; there are "
            f"{', '.join(names)}. Shoulders, elbows, wrists, hips, knees and ankles of both sides are needed"
        )
    used = tuple(columns)
    there = known[:, list(columns.values())]
    seen = _filled(points[:, list(columns.values())], there) @ TO_CAMERA.T
    named = dict(zip(used, seen.swapaxes(0, 1)))
    lengths = OpenShape(float(np.clip(stature_of(named), 0.6, 2.5))).lengths()
    evidence, rig = Points(seen, there.astype(float), fps), Rig.of(used)

    def solve(frames: Array, shared: Shared | None) -> State:
        x, root = posture({name: at[frames] for name, at in named.items()}, lengths)
        start = Shared(lengths, 1.0, up_of(0.0, 0.0), float(-seen[frames, :, 1].max()))
        part = replace(evidence, position=evidence.position[frames], trust=evidence.trust[frames])
        problem = Problem(rig, part, fps, LEVEL, lengths, STATURE_WIDTH)
        problem.breaks, problem.hold = np.flatnonzero(np.diff(frames) > 1) + 1, shared is not None
        return fit_standing(problem, State(x, root, start if shared is None else shared))

    motion, _, _ = solved(solve, len(points), fps, provenance or Provenance("points", "points"), np.zeros(3))
    return motion


_SIDES = {"l": "left", "r": "right", "left": "left", "right": "right"}
_WORDS = {
    "mouthleft": "mouth_left", "mouthright": "mouth_right", "midhip": "mid_hip", "hip": "mid_hip",
    "neck": "neck", "nose": "nose", "head": "head",
}  # fmt: skip


def marker_of(name: str) -> str | None:
    """Return the name that a marker has here, or None for one that is not known: `RBigToe` is `right_big_toe`."""
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain in _WORDS:
        return _WORDS[plain]
    found = re.fullmatch(r"(left|right|l|r)(.+)", plain)
    if found is None:
        return None
    side, part = _SIDES[found.group(1)], found.group(2)
    return next((m for m in MARKERS if m.replace("_", "") == side + part), None)


def _filled(points: Array, known: Array) -> Array:
    """Return points with those that are not known on the line between their neighbours in time."""
    out, times = points.copy(), np.arange(len(points))
    for n in range(points.shape[1]):
        own = known[:, n]
        for k in range(3):
            out[~own, n, k] = np.interp(times[~own], times[own], points[own, n, k])
    return out
