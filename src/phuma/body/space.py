"""A shape space holds bodies that depend linearly on a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.errors import PhumaError


@dataclass(frozen=True, eq=False)
class ShapeSpace:
    """A shape space gives joints(s) = joints + joint_dirs s and soles(s) = soles + sole_dirs s.

    Posed points are linear in s too, which is what makes a fit to a recording a linear least-squares problem.
    """

    name: str
    params: tuple[str, ...]
    """S names"""
    joints: Array
    """(22, 3) at s = 0"""
    joint_dirs: Array
    """(22, 3, S)"""
    soles: Array
    """(88, 3) at s = 0"""
    sole_dirs: Array
    """(88, 3, S)"""
    sole_weights: Array
    """(88, 22)"""
    pose_dirs: Array | None = None
    """(88, 3, 21, 3, 3)"""

    def body(self, shape: Sequence[float] | Array) -> Body:
        """Return the body of the given numbers. Missing ones at the end are zero; too many are an error."""
        s = np.zeros(len(self.params))
        given = np.asarray(shape, dtype=float).ravel()
        if len(given) > len(s):
            raise PhumaError(f"{len(given)} shape parameters for body {self.name}, which has {len(s)}")
        s[: len(given)] = given
        return Body(
            joints=self.joints + self.joint_dirs @ s,
            soles=self.soles + self.sole_dirs @ s,
            sole_weights=self.sole_weights,
            name=self.name,
            shape=dict(zip(self.params, s.tolist())),
            pose_dirs=self.pose_dirs,
        )
