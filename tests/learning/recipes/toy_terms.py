"""An observation and a reward that no recipe of the project has."""

from __future__ import annotations

from phuma.core.tensors import Tensor, namespace
from phuma.learning.env.context import Context
from phuma.learning.env.observation import ObservationTerm
from phuma.learning.env.terms.observations import joints

joint_error = ObservationTerm(
    "joint_error",
    "rad, the reference's joints minus the robot's",
    size=joints,
    reading=lambda c: c.reference.joint_pos - c.state.joint_pos,
    noise=0.02,
)


def joint_tracking(c: Context) -> Tensor:
    """Reward joints that are where the reference has them:  exp(-|q - q^|^2)."""
    off = c.state.joint_pos - c.reference.joint_pos
    return namespace(off).exp(-(off * off).sum(-1))
