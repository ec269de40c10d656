"""Compute what of the ground's force is missing when only some regions of the soles bear it."""

from __future__ import annotations

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.force import DIRECTIONS, FRICTION, GroundForce
from phuma.contacts.states import STATES
from phuma.core.rotations import Array
from phuma.core.series import length
from phuma.core.skeleton import REGIONS

LEAST_HEIGHT = 0.2
"""Height in m of the centre of mass above the floor at which levers are cut off"""


def missing_force(force: GroundForce, corners: Array, floor: float) -> Array:
    """Return (T, 16) body weights: the force that no region gives, in each of the `STATES`; corners (T, P, 3) m."""
    parts = [_missing(force.frames(here), corners[here], floor) for here in blocks_of(len(corners))]
    return np.concatenate(parts)


def _missing(force: GroundForce, corners: Array, floor: float) -> Array:
    """Return what is missing: the floor only pushes, at a point within the hull of the regions that stand, and along
    itself with at most FRICTION times as much.

    With lift = max(0, -f), toppling = max_d (lever.d - f max_p d.(p - c)) / (c_z - floor) over corners p that stand and
    slipping = |a| - FRICTION f it is sqrt(lift^2 + max(0, toppling, slipping)^2); where nothing stands,
    sqrt(f^2 + |a|^2).
    """
    from_centre = corners[..., :2] - force.centre[:, None, :2]
    reach = (from_centre @ DIRECTIONS.T).reshape(len(corners), len(REGIONS), -1, len(DIRECTIONS)).max(axis=2)
    height = np.maximum(force.centre[:, 2:] - floor, LEAST_HEIGHT)
    given = np.maximum(force.vertical, 0.0)
    push = length(force.horizontal)
    slipping = np.maximum(push - FRICTION * given, 0.0)
    lever, lift = force.lever(floor) @ DIRECTIONS.T, np.maximum(-force.vertical, 0.0)
    farthest = np.full((len(corners), len(STATES), len(DIRECTIONS)), -np.inf)
    for r in range(len(REGIONS)):  # a state in which region r stands is one in which it does not, and that region
        farthest[:, 1 << r : 2 << r] = np.maximum(farthest[:, : 1 << r], reach[:, r, None])
    beyond = lever[:, None] - given[:, None, None] * farthest[:, 1:]
    toppling = (beyond / height[..., None]).max(axis=2)
    missing = np.empty((len(corners), len(STATES)))
    missing[:, 0] = np.hypot(force.vertical, push)
    missing[:, 1:] = np.hypot(lift[:, None], np.maximum(toppling, slipping[:, None]))
    return missing
