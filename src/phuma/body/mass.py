"""Masses of the body's segments are put into its joints (Winter, Biomechanics and Motor Control of Human Movement)."""

from __future__ import annotations

import numpy as np

from phuma.core.body import Pose
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX

# Share of the body's mass, the joints at the segment's ends, and where between them its centre lies.
_TRUNK = (
    (0.142, "pelvis", "spine1", 0.2),
    (0.139, "spine1", "spine3", 0.4),
    (0.216, "spine3", "neck", 0.3),
    (0.081, "neck", "head", 1.0),
)
_LIMBS = (
    (0.028, "shoulder", "elbow", 0.436),
    (0.022, "elbow", "wrist", 0.68),
    (0.100, "hip", "knee", 0.433),
    (0.0465, "knee", "ankle", 0.433),
    (0.0145, "ankle", "foot", 0.5),
)
_SEGMENTS = (*_TRUNK, *((m, f"{s}_{a}", f"{s}_{b}", u) for s in ("left", "right") for m, a, b, u in _LIMBS))


def _weights() -> Array:
    weights = np.zeros(len(INDEX))
    for mass, first, last, share in _SEGMENTS:
        weights[INDEX[first]] += mass * (1 - share)
        weights[INDEX[last]] += mass * share
    return weights / weights.sum()


JOINT_WEIGHTS = _weights()
"""(22,) each joint's share of the mass: the centre of mass is this mean of the joints"""


def centre_of_mass(pose: Pose) -> Array:
    """Return the centre of mass (T, 3) in the world, metres."""
    return np.einsum("tjk,j->tk", pose.position, JOINT_WEIGHTS)
