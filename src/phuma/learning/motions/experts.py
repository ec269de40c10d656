"""Experts: what a robot should aim at in any state beside a certified performance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import PhumaError
from phuma.learning.motions.library import MotionLibrary
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import Strand, Strands

if TYPE_CHECKING:
    from phuma.learning.motions.references import References


class Experts:
    """Experts of the motions of some references, about 1.7 MB for 4 s of a G1, and 0.6 MB for each way back. They
    care for where on the floor a robot is as if it were at most `reach` metres off."""

    def __init__(self, library: MotionLibrary, references: References, reach: float = 0.0) -> None:
        self._references = references
        used, self._which = np.unique(references.clips, return_inverse=True)
        self.strands = Strands((_feedback(library, int(clip)) for clip in used), reach)

    def __call__(self, state: Coordinates, frames: Array) -> tuple[Array, Array]:
        """Return (E, N) rad, what to aim at from these states at these frames of the references, and (E,) what being
        off costs."""
        references = self._references
        motion = references.clip_of[frames]
        return self.strands.aim(state, self._which[motion], frames - references.first[motion])


def _feedback(library: MotionLibrary, clip: int) -> Sequence[Strand]:
    """Return the feedback along a motion's performance and the ways back to it, as it is read."""
    if (performance := library.performances[clip]) is None:
        raise PhumaError(f"{library.names[clip]} has no performance to learn from; certify it first")
    return performance.feedback()
