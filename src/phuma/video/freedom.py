"""The ways in which the lifted body can move: fewer than a body's 22 rotations have, as a film shows fewer.

A local rotation is exp(B u): a spine bends evenly over its three joints, knees are hinges, elbows bend and twist. Each
degree of freedom has a usual value and a width about it, those of recorded people who do all kinds of things, a range,
and an acceleration that is usual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS

ROOT = 6
"""Unknowns of the pelvis, which come first: its position in m and a rotation vector in the camera's axes"""
FREE = np.pi


@dataclass(frozen=True)
class Freedom:
    """A degree of freedom turns one or several joints about an axis of their rest axes."""

    joints: tuple[str, ...]
    axis: tuple[float, float, float]
    usual: float
    """rad"""
    width: float
    """rad, standard deviation about the usual value"""
    low: float
    high: float
    """rad, range"""
    acceleration: float
    """rad/s^2, standard deviation"""


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXES = (X, Y, Z)


def _all() -> tuple[Freedom, ...]:
    spine, neck = ("spine1", "spine2", "spine3"), ("neck", "head")
    out = [Freedom(spine, a, 0.0, w, -1.2, 1.2, 20.0) for a, w in zip(AXES, (0.4, 0.2, 0.15))]
    out += [Freedom(neck, a, 0.0, w, -1.2, 1.2, 25.0) for a, w in zip(AXES, (0.4, 0.4, 0.15))]
    for side, sign in (("left", 1.0), ("right", -1.0)):

        def own(joint: str, axis: tuple[float, float, float], *numbers: float, side: str = side) -> None:
            out.append(Freedom((f"{side}_{joint}",), axis, *numbers))

        own("hip", X, -0.25, 0.5, -2.4, 0.8, 50.0)
        own("hip", Y, 0.0, 0.25, -1.2, 1.2, 40.0)
        own("hip", Z, 0.0, 0.2, -1.5, 1.5, 40.0)
        own("knee", X, 0.4, 0.5, 0.0, 2.6, 70.0)
        own("ankle", X, -0.2, 0.2, -0.8, 0.9, 60.0)
        own("ankle", Y, 0.0, 0.15, -0.6, 0.6, 30.0)
        own("ankle", Z, 0.0, 0.15, -0.6, 0.6, 30.0)
        own("foot", X, -0.05, 0.25, -1.0, 0.3, 40.0)
        own("collar", Y, 0.0, 0.15, -0.5, 0.5, 20.0)
        own("collar", Z, 0.0, 0.15, -0.5, 0.5, 20.0)
        own("shoulder", X, 0.3, 0.6, -FREE, FREE, 50.0)
        own("shoulder", Y, -0.3 * sign, 0.6, -FREE, FREE, 50.0)
        own("shoulder", Z, -1.3 * sign, 0.6, -FREE, FREE, 50.0)
        own("elbow", (0.0, -sign, 0.0), 0.6, 0.7, 0.0, 2.6, 70.0)
        own("elbow", X, 0.0, 0.6, -1.6, 1.6, 40.0)
        own("wrist", Y, 0.0, 0.3, -1.0, 1.0, 40.0)
        own("wrist", Z, 0.0, 0.3, -1.2, 1.2, 40.0)
    return tuple(out)


FREEDOMS = _all()
SIZE = ROOT + len(FREEDOMS)
"""Unknowns of a frame"""
USUAL, WIDTH, LOW, HIGH, ACCELERATION = (
    np.array([getattr(f, name) for f in FREEDOMS]) for name in ("usual", "width", "low", "high", "acceleration")
)


def _basis() -> Array:
    """Return (22, 3, F): rotation vectors of the joints by degree of freedom."""
    basis = np.zeros((N_JOINTS, 3, len(FREEDOMS)))
    for k, freedom in enumerate(FREEDOMS):
        for joint in freedom.joints:
            basis[INDEX[joint], :, k] = np.array(freedom.axis) / len(freedom.joints)
    return basis


BASIS = _basis()
"""(22, 3, F) rotation vectors of the joints by degree of freedom"""


def index_of(joint: str, axis: int) -> int:
    """Return the place among the unknowns of a frame of the freedom of a joint about an axis of its rest axes."""
    found = [k for k, f in enumerate(FREEDOMS) if joint in f.joints and f.axis[axis] != 0.0]
    return ROOT + found[0]
