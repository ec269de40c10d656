"""Find whether a recording plays at twice or half its speed: in flight everybody falls by the same law."""

from __future__ import annotations

import numpy as np

from phuma.contacts.support import Support
from phuma.core.rotations import Array
from phuma.curation.mending.floating import runs_of

ABOVE = 0.03
"""Height in m of the lowest sole over the floor from which on nobody touches it"""
SHORTEST = 3
"""Frames that a flight has at least: fewer have no acceleration of their own"""
TWICE = -1.2
"""Vertical force in body weights below which a flight plays too fast: 0 at the right speed, 1 - 2^2 = -3 at twice it,
less after smoothing. The ground never pulls"""
HALF, ABOUT = 0.75, 0.08
"""The same at half the speed, 1 - (1/2)^2, and how far from it the force of a flight may be in any of its frames"""
LONG, HIGH = 0.4, 0.08
"""Time in s and height in m of a flight that shows half the speed: who is carried by others is not in free fall"""


def find_speed(support: Support, fps: float) -> float:
    """Return 2 or 1/2 where flights show that a recording plays at this multiple of its speed, else 1."""
    above = support.soles.lowest - support.floor
    flights = [own for own in runs_of((above > ABOVE) & support.trusted) if own[1] - own[0] >= SHORTEST]
    if not flights:
        return 1.0
    force = support.force.vertical
    if np.median([np.median(force[first:last]) for first, last in flights]) < TWICE:
        return 2.0
    long = [(first, last) for first, last in flights if (last - first) / fps >= LONG and above[first:last].max() > HIGH]
    return 0.5 if long and all(_falls_at_half(force[first + 2 : last - 2]) for first, last in long) else 1.0


def _falls_at_half(force: Array) -> bool:
    return bool(np.abs(force - HALF).max() < ABOUT)
