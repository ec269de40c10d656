"""Reward terms of MaskedMimic by the paper's table: one function per row, a number per environment.

The public code has means over bodies b and coordinates where the paper writes norms, and so do these. Hats are the
reference's. The code adds the terms up without a control step; a recipe's weights make up for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phuma.core.rotations import squared_angle
from phuma.core.tensors import Tensor, namespace
from phuma.learning.env.terms.terminations import GRACE

if TYPE_CHECKING:
    from phuma.learning.env.context import Context


def global_position(c: Context) -> Tensor:
    """Reward bodies that are where the reference has them:  exp(-100 mean_b,i (p_b,i - p^_b,i)^2)."""
    return _near(c.state.body_pos - c.reference.body_pos, 100.0)


def global_height(c: Context) -> Tensor:
    """Reward the root's height:  exp(-100 (z - z^)^2)."""
    off = c.state.root_pos[:, 2] - c.reference.root_pos[:, 2]
    return namespace(off).exp(-100.0 * off * off)


def global_rotation(c: Context) -> Tensor:
    """Reward bodies that are turned as the reference has them:  exp(-10 mean_b angle(q_b, q^_b)^2)."""
    squared = squared_angle(c.state.body_quat, c.reference.body_quat).mean(-1)
    return namespace(squared).exp(-10.0 * squared)


def global_velocity(c: Context) -> Tensor:
    """Reward velocities of bodies:  exp(-0.5 mean_b,i (v_b,i - v^_b,i)^2)."""
    return _near(c.state.body_linvel - c.reference.body_linvel, 0.5)


def global_angular_velocity(c: Context) -> Tensor:
    """Reward angular velocities of bodies:  exp(-0.1 mean_b,i (w_b,i - w^_b,i)^2)."""
    return _near(c.state.body_angvel - c.reference.body_angvel, 0.1)


def power(c: Context) -> Tensor:
    """Penalise mechanical power:  sum_j |tau_j q'_j|  with the torque that the controllers ask for at the end of the
    control step; nothing in the first control steps, and nothing where no controller aims."""
    speed = c.state.joint_vel
    if c.target is None or c.age is None:
        return 0.0 * speed.sum(-1)
    k, xp = c.constants, namespace(speed)
    torque = xp.clip(k.stiffness * (c.target - c.state.joint_pos) - k.damping * speed, -k.torque_limit, k.torque_limit)
    return abs(torque * speed).sum(-1) * (c.age > GRACE)


def _near(off: Tensor, scale: float) -> Tensor:
    """Return (E,) exp(-scale mean(off^2)) of off (E, B, 3)."""
    return namespace(off).exp(-scale * (off * off).mean((-2, -1)))
