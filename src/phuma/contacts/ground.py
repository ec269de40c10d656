"""Find the height of the ground."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array


def vote_ground(heights: Array, band: float) -> float:
    """Return the ground height g* = argmax_g  #{points with |h - g| < band} over all sole points and frames.

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
