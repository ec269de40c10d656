"""Where the ground is, and which soles are on it."""

from __future__ import annotations

import numpy as np

from phuma.rotations import Array
from phuma.skeleton import POINTS_PER_REGION, REGIONS


def vote_ground(heights: Array, band: float) -> float:
    """The ground height g* = argmax_g  #{points with |h - g| < band} over all sole points and frames.

    heights: any shape, metres. The best g is constant over intervals: it is the middle of the interval between the
    windows that hold the winning points; among equal winners the middle one is taken.
    """
    h = np.sort(heights, axis=None)
    # A window that starts at h[i] holds h[i] ... h[end[i] - 1]: all closer than 2 band to h[i].
    end = np.searchsorted(h, h + 2 * band, side="left")
    count = end - np.arange(len(h))
    winners = np.flatnonzero(count == count.max())
    i = winners[(len(winners) - 1) // 2]
    return float(0.5 * (h[i] + h[end[i] - 1]))


def contact_ratios(heights: Array, band: float) -> Array:
    """(T, 4) share of each region's 22 points with |height| < band; heights (T, 88) above the ground, metres."""
    inside = np.abs(heights) < band
    return inside.reshape(len(heights), len(REGIONS), POINTS_PER_REGION).mean(axis=2)
