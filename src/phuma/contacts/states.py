"""The sixteen states of two feet, each heel and toe standing or not, and their most likely course over time."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.core.skeleton import REGIONS

STATES = np.array([[bool(s >> r & 1) for r in range(len(REGIONS))] for s in range(2 ** len(REGIONS))])
"""(16, 4) bool, whether each region stands; in state 0 none does"""
_SWITCHES = (STATES[:, None] != STATES).sum(axis=2).astype(float)


def most_likely(cost: Array, switch: float) -> Array:
    """Return (T,) int: the course s of states with the least sum_t cost[t, s_t] + switch #{regions that differ in s_t-1
    and s_t}, by Viterbi's algorithm; cost (T, 16) in nats."""
    change = switch * _SWITCHES
    before = np.empty(cost.shape, dtype=np.intp)
    least, ways = cost[0], np.empty_like(change)
    for t in range(1, len(cost)):
        np.add(least, change, out=ways)
        ways.argmin(axis=1, out=before[t])
        least = ways.min(axis=1) + cost[t]
    course = np.empty(len(cost), dtype=np.intp)
    course[-1] = least.argmin()
    for t in range(len(cost) - 1, 0, -1):
        course[t - 1] = before[t, course[t]]
    return course
