"""Find the parts of a recording that float: soles above the floor that carry, and that rose while they carried."""

from __future__ import annotations

import numpy as np

from phuma.contacts.bearing import missing_force
from phuma.core.rotations import Array
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
RAMP = 0.3
"""Time in s before and after the border of a part within which its soles rise or sink: a drift takes longer"""
SHOWN = 0.6
"""Share of the height that soles rise or sink by while they carry and rest; on a step they do not"""
SEEN = 0.5
"""Share of the frames around both borders, together, in which some sole carries and rests"""
MARGIN = 2
"""Frames next to those without a resting sole that tell nothing: soles land and leave"""
RESTING = 0.6
"""Share of the frames of a part in which a sole rests and carries: who is carried about dangles"""
FLAT = 0.3
"""Share of these in which a heel rests beside its toe: a foot that hangs or is put on something often does not"""
MISSING = 0.25
"""Force in body weights that soles may fail to give, in the median over a part: who sits is not carried by soles"""
CALM = 0.15
"""Time in s over which the height that is taken away is smoothed"""


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
    for first, last in runs_of(above > LEAST):
        level = float(np.median(above[first:last]))
        if (last - first) / footing.fps < SHORTEST or known[first:last].mean() < RESTING:
            continue
        if _rose(footing, rests, (first, last), level) and _is_borne(footing, rests, slice(first, last), floor + level):
            ramp = round(RAMP * footing.fps)
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


def _rose(footing: Footing, rests: Array, part: tuple[int, int], level: float) -> bool:
    """Return whether resting soles rose before a part by most of `level`, and sank after it.

    Only frames count in which a sole rests and carries, as in flight nobody knows what the ground does.
    """
    ramp, fps = round(RAMP * footing.fps), footing.fps
    count = rests.sum(axis=1)
    climb = np.where(rests, footing.velocity[..., 2], 0.0).sum(axis=1) / np.maximum(count, 1) / fps
    hidden = np.convolve((count == 0).astype(float), np.ones(2 * MARGIN + 1), mode="same")
    seen = np.asarray(hidden < 0.5)
    rose = share = 0.0
    for border, sign in zip(part, (1.0, -1.0)):
        if border not in (0, len(rests)):
            around = slice(max(border - ramp, 0), border + ramp)
            rose += sign * float(climb[around][seen[around]].sum())
            share += float(seen[around].mean())
    return share >= SEEN and rose >= SHOWN * share * level


def _is_borne(footing: Footing, rests: Array, part: slice, floor: float) -> bool:
    """Return whether the resting soles are flat and could give the force that the body takes."""
    flat: Array = np.asarray((rests[part, 0::2] & rests[part, 1::2]).any(axis=1))
    state = rests[part] @ (1 << np.arange(rests.shape[1]))
    corners = footing.regions.corners[part].reshape(len(state), -1, 3)
    missing = missing_force(footing.force.frames(part), corners, floor)[np.arange(len(state)), state]
    bears = state > 0
    return bool(np.mean(flat[bears]) >= FLAT and np.median(missing[bears]) < MISSING)


def runs_of(mask: Array) -> list[tuple[int, int]]:
    """Return the first and the past-the-last frame of each run in which it holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def _calmed(lift: Array, fps: float) -> Array:
    """Return the lift in the mean over CALM around each frame, the ends held."""
    half = round(0.5 * CALM * fps)
    kernel = np.hanning(2 * half + 3)[1:-1]
    return np.asarray(np.convolve(np.pad(lift, half, mode="edge"), kernel / kernel.sum(), mode="valid"))
