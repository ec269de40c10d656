"""What a masked policy is told while somebody watches: body by body, and with gaps in time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.learning.env.conditions import ANY, CONDITIONS, KINDS, ROLES
from phuma.learning.env.masking import LONGEST_GAP, Masks, fixed_mask
from phuma.sim.model import CONTROL_RATE

EVERY = 1.0
"""s from one gap's beginning to the next one's"""
LONGEST = LONGEST_GAP / CONTROL_RATE
"""s, the longest gap that policies are trained with"""


@dataclass(frozen=True, eq=False)
class Told:
    """What a policy that was trained to be told `condition` is told now."""

    condition: str
    mask: Array
    """(bodies, 2) bool: whether the position and the rotation of each of ROLES are told"""
    gap: float = 0.0
    """s of each second in which nothing of the near frames is told"""
    far: bool = False
    """Whether the far frame is told, too"""

    @property
    def fixed(self) -> str | None:
        """Return why nothing of it can be changed; None where it can."""
        if self.condition == ANY:
            return None
        return (
            f"the policy was trained to be told {self.condition} alone, always; one that can be told any of these is "
            f"trained by --condition {ANY}"
        )

    def changed(self, role: str, kind: str, value: bool) -> Told:
        """Return the same with one thing told, or not; what the policy was not trained for is an error."""
        if role not in ROLES or kind not in KINDS:
            raise ConfigError(f"no {kind} of {role!r}; there are {', '.join(KINDS)} of {', '.join(ROLES)}")
        self._check(f"the {kind} of {role.replace('_', ' ')}")
        mask = self.mask.copy()
        mask[ROLES.index(role), KINDS.index(kind)] = value
        return replace(self, mask=mask)

    def with_gap(self, seconds: float) -> Told:
        """Return the same with gaps of another length."""
        self._check("gaps in time")
        if not 0 <= seconds <= LONGEST:
            raise ConfigError(f"gaps of {seconds:g} s; expected 0 to {LONGEST:g}, as in training")
        return replace(self, gap=float(seconds))

    def with_far(self, far: bool) -> Told:
        """Return the same with the far frame told, or not."""
        self._check("the far frame")
        return replace(self, far=far)

    def put_on(self, masks: Masks, step: int) -> None:
        """Let environments be told this in a control step."""
        masks.mask[:] = self.mask
        masks.far[:] = self.far
        masks.gap[:] = int(step % round(EVERY * CONTROL_RATE) < round(self.gap * CONTROL_RATE))

    def _check(self, what: str) -> None:
        if self.fixed is not None:
            raise ConfigError(f"{what} cannot be chosen: {self.fixed}")


def told_by(condition: str) -> Told:
    """Return what a policy that was trained with a condition is told at first."""
    assert condition in CONDITIONS
    return Told(condition, np.asarray(fixed_mask(condition)))
