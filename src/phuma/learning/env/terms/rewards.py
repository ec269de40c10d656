"""Reward terms of BeyondMimic by the paper's table: one function per row, a number per environment.

Sums over b are over the K key bodies, hats are the reference's. A recipe gives each its weight.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from phuma.core.rotations import squared_angle
from phuma.core.tensors import Tensor, namespace

if TYPE_CHECKING:
    from phuma.learning.env.context import Context


def anchor_position(c: Context) -> Tensor:
    """Reward the anchor's position in the world:  exp(-|p - p^|^2 / 0.3^2)."""
    anchor = c.constants.anchor
    return _near(_square(c.state.body_pos[:, anchor] - c.reference.body_pos[:, anchor]), 0.3)


def anchor_rotation(c: Context) -> Tensor:
    """Reward the anchor's rotation in the world:  exp(-|theta - theta^|^2 / 0.4^2)."""
    anchor = c.constants.anchor
    return _near(squared_angle(c.state.body_quat[:, anchor], c.reference.body_quat[:, anchor]), 0.4)


def body_linear_velocity(c: Context) -> Tensor:
    """Reward global linear velocities of bodies:  exp(-mean_b |v_b - v^_b|^2 / 1.0^2)."""
    return _near(_mean_square(c.state.body_linvel - c.reference.body_linvel), 1.0)


def body_angular_velocity(c: Context) -> Tensor:
    """Reward global angular velocities of bodies:  exp(-mean_b |w_b - w^_b|^2 / pi^2)."""
    return _near(_mean_square(c.state.body_angvel - c.reference.body_angvel), pi)


def body_position(c: Context) -> Tensor:
    """Reward relative positions of bodies:  exp(-mean_b |p_b - p^_b|^2 / 0.3^2)  with the reference anchored."""
    return _near(_mean_square(c.state.body_pos - c.anchored[0]), 0.3)


def body_rotation(c: Context) -> Tensor:
    """Reward relative rotations of bodies:  exp(-mean_b |theta_b - theta^_b|^2 / 0.4^2),  reference anchored."""
    return _near(squared_angle(c.state.body_quat, c.anchored[1]).mean(-1), 0.4)


def action_rate(c: Context) -> Tensor:
    """Penalise the change of actions:  |a_t - a_(t-1)|^2."""
    return _square(c.action - c.previous_action)


def joint_limits(c: Context) -> Tensor:
    """Penalise joints beyond their soft limits:  sum_j max(0, q_j - q_max,j) + max(0, q_min,j - q_j)."""
    q = c.state.joint_pos
    return abs(q - namespace(q).clip(q, c.constants.lower, c.constants.upper)).sum(-1)


def joint_limits_beyond_reference(c: Context) -> Tensor:
    """Penalise joints beyond their soft limits as far as the reference does not ask for it: as `joint_limits`, with
    q_max,j = max(q_max,j, q^_j)  and  q_min,j = min(q_min,j, q^_j)."""
    q, asked, xp = c.state.joint_pos, c.reference.joint_pos, namespace(c.state.joint_pos)
    return abs(q - xp.clip(q, xp.minimum(c.constants.lower, asked), xp.maximum(c.constants.upper, asked))).sum(-1)


def undesired_contacts(c: Context) -> Tensor:
    """Penalise contacts: how many bodies other than feet and hands feel more than 1 N."""
    touching = c.touching
    assert touching is not None
    return (touching > 1.0).sum(-1, dtype=touching.dtype)


def _square(x: Tensor) -> Tensor:
    return (x * x).sum(-1)


def _mean_square(x: Tensor) -> Tensor:
    """Return (E,) of x (E, K, 3): the mean over bodies of the squared length."""
    return (x * x).sum((-2, -1)) / x.shape[-2]


def _near(squared: Tensor, scale: float) -> Tensor:
    """Return exp(-squared / scale^2)."""
    return namespace(squared).exp(-squared / scale**2)
