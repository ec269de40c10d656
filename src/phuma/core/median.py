"""The median, for the many short series of a recording."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array


def median(values: Array) -> float:
    """Return the median of numbers in any shape, at least one and none of them NaN: what `np.median` does, in a
    fraction of its time where they are few."""
    flat = values.ravel()
    middle = len(flat) // 2
    if len(flat) % 2:
        return float(np.partition(flat, middle)[middle])
    low, high = np.partition(flat, (middle - 1, middle))[middle - 1 : middle + 1].tolist()
    return float(0.5 * (low + high))
