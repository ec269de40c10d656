"""Find the parts of a recording that float: soles above the floor that carry, and that rose while they carried."""

from __future__ import annotations

import numpy as np

from phuma.contacts.bearing import missing_force
from phuma.core.rotations import Array
from phuma.core.smoothing import low_pass
from phuma.curation.mending.footing import Footing

LEAST = 0.03
"""Height in m over the floor from which on soles that carry float"""
SHORTEST = 0.4
"""Time in s that soles float at least"""
LOW = 0.025
"""Height in m over the lowest region within which a region may carry"""
SLOW = 0.3
"""Speed in m/s along the ground below which a region rests"""
CARRIED = 0.4
"""Vertical force in body weights, in the mean over AROUND, from which on a sole carries: nobody flies then"""
AROUND = 0.3
"""Time in s over which that force is averaged: a recording that is lifted by force bounces"""
RAMP = 0.5
"""Time in s before and after the border of a part within which its soles rise or sink"""
SHOWN = 0.5
"""Share of the height that soles rise or sink by while they carry and rest; on a step they do not"""
RESTING = 0.6
"""Share of the frames of a part in which a sole rests and carries: who is carried about dangles"""
MISSING = 0.25
"""Force in body weights that soles may fail to give, in the median over a part: who sits is not carried by soles"""
CALM = 6.0
"""Cutoff in Hz of the height that is taken away"""


def find_lift(footing: Footing, floor: float) -> Array:
    """Return (T,) m: how high each frame floats over the `floor`; zero where it does not."""
    height = footing.regions.height
    rests = _resting(footing, height)
    lowest = np.where(rests, height, np.inf).min(axis=1)
    known = np.isfinite(lowest)
    lift = np.zeros(len(footing))
    if known.sum() < 2:
        return lift
    frames = np.arange(len(footing))
    above = np.interp(frames, frames[known], lowest[known]) - floor
    at_floor = known & (np.abs(above) < LEAST)
    if at_floor.any():  # regions have heights of their own
        above -= np.median(above[at_floor])
    climbs = _climbs(footing, rests)
    for first, last in runs_of(above > LEAST):
        level = float(np.median(above[first:last]))
        if (last - first) / footing.fps < SHORTEST or known[first:last].mean() < RESTING:
            continue
        if _rose(climbs, first, level, footing.fps) and _rose(-climbs, last, level, footing.fps):
            if _is_borne(footing, rests, slice(first, last), floor + level):
                ramp = round(0.5 * RAMP * footing.fps)
                own = slice(max(first - ramp, 0), min(last + ramp, len(lift)))
                lift[own] = np.maximum(lift[own], np.clip(above[own], 0.0, None))
    return _calmed(lift, footing.fps) if lift.any() else lift


def _resting(footing: Footing, height: Array) -> Array:
    """Return (T, 4) bool: whether each region is low, at rest along the ground, and the body is carried."""
    frames = max(1, round(AROUND * footing.fps))
    padded = np.pad(footing.force.vertical, (frames // 2, frames - 1 - frames // 2), mode="edge")
    carried = np.convolve(padded, np.full(frames, 1.0 / frames), mode="valid") > CARRIED
    on = footing.loaded
    moves = np.median(footing.velocity[..., :2][on], axis=0) if on.any() else np.zeros(2)
    speed = np.linalg.norm(footing.velocity[..., :2] - moves, axis=2)
    low = height - height.min(axis=1, keepdims=True) < LOW
    return np.asarray(low & (speed < SLOW) & carried[:, None])


def _climbs(footing: Footing, rests: Array) -> Array:
    """Return (T,) m: by how much resting soles rise in each frame; 0 where none rests."""
    count = np.maximum(rests.sum(axis=1), 1)
    return np.asarray(np.where(rests, footing.velocity[..., 2], 0.0).sum(axis=1) / count / footing.fps)


def _rose(climbs: Array, border: int, level: float, fps: float) -> bool:
    """Return whether soles rose by most of `level` around a border of a part; at an end of the recording nobody
    knows, and the other border decides."""
    if border in (0, len(climbs)):
        return True
    ramp = round(RAMP * fps)
    return float(climbs[max(border - ramp, 0) : border + ramp].sum()) >= SHOWN * level


def _is_borne(footing: Footing, rests: Array, part: slice, floor: float) -> bool:
    """Return whether the resting soles could give the force that the body takes."""
    state = rests[part] @ (1 << np.arange(rests.shape[1]))
    corners = footing.regions.corners[part].reshape(len(state), -1, 3)
    missing = missing_force(footing.force.frames(part), corners, floor)[np.arange(len(state)), state]
    return float(np.median(missing[state > 0])) < MISSING


def runs_of(mask: Array) -> list[tuple[int, int]]:
    """Return the first and the past-the-last frame of each run in which it holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def _calmed(lift: Array, fps: float) -> Array:
    pad = round(fps)
    padded = np.pad(lift, pad, mode="edge")
    return np.asarray(low_pass(padded, min(CALM, 0.4 * fps), fps)[pad : pad + len(lift)])
