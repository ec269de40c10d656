"""BeyondMimic's rewards as the paper tells them (its table of reward terms): one function a row, a number a robot.

Sums over b are over the K key bodies, hats are the reference's. A row's weight is in `WEIGHTS`; a step's reward is the
weighted sum times the control step, so that it is a rate a second.
"""

from __future__ import annotations

from math import pi

from phuma.learning.state import State
from phuma.learning.tensors import Tensor, namespace, squared_angle

WEIGHTS = {
    "anchor_position": 0.5,
    "anchor_rotation": 0.5,
    "body_linear_velocity": 1.0,
    "body_angular_velocity": 1.0,
    "body_position": 1.0,
    "body_rotation": 1.0,
    "action_rate": -0.1,
    "joint_limits": -100.0,
    "undesired_contacts": -0.5,
}
SOFT_LIMIT = 0.9
"""Share of a joint's range, about its middle, that costs nothing"""


def anchor_position(state: State, reference: State, anchor: int) -> Tensor:
    """Reference body position, 0.5:  exp(-|p - p^|^2 / 0.3^2)  of the anchor, in the world."""
    return _near(_square(state.body_pos[:, anchor] - reference.body_pos[:, anchor]), 0.3)


def anchor_rotation(state: State, reference: State, anchor: int) -> Tensor:
    """Reference body rotation, 0.5:  exp(-|theta - theta^|^2 / 0.4^2)  of the anchor, in the world."""
    return _near(squared_angle(state.body_quat[:, anchor], reference.body_quat[:, anchor]), 0.4)


def body_linear_velocity(state: State, reference: State) -> Tensor:
    """Global body linear velocity, 1:  exp(-mean_b |v_b - v^_b|^2 / 1.0^2)."""
    return _near(_mean_square(state.body_linvel - reference.body_linvel), 1.0)


def body_angular_velocity(state: State, reference: State) -> Tensor:
    """Global body angular velocity, 1:  exp(-mean_b |w_b - w^_b|^2 / pi^2)."""
    return _near(_mean_square(state.body_angvel - reference.body_angvel), pi)


def body_position(state: State, anchored_pos: Tensor) -> Tensor:
    """Relative body position, 1:  exp(-mean_b |p_b - p^_b|^2 / 0.3^2)  with the reference anchored to the robot."""
    return _near(_mean_square(state.body_pos - anchored_pos), 0.3)


def body_rotation(state: State, anchored_quat: Tensor) -> Tensor:
    """Relative body rotation, 1:  exp(-mean_b |theta_b - theta^_b|^2 / 0.4^2)  with the reference anchored."""
    return _near(squared_angle(state.body_quat, anchored_quat).mean(-1), 0.4)


def action_rate(action: Tensor, before: Tensor) -> Tensor:
    """Action rate, -0.1:  |a_t - a_(t-1)|^2."""
    return _square(action - before)


def joint_limits(joint_pos: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """DoF position-limit violation, -100:  sum_j max(0, q_j - q_max,j) + max(0, q_min,j - q_j); limits (N,) are the
    soft ones."""
    return abs(joint_pos - namespace(joint_pos).clip(joint_pos, lower, upper)).sum(-1)


def undesired_contacts(touching: Tensor) -> Tensor:
    """Undesired contacts, -0.5: how many bodies other than feet and hands feel more than 1 N; touching (E, B) N."""
    return (touching > 1.0).sum(-1, dtype=touching.dtype)


def _square(x: Tensor) -> Tensor:
    return (x * x).sum(-1)


def _mean_square(x: Tensor) -> Tensor:
    """(E,) of x (E, K, 3): the mean over bodies of the squared length."""
    return (x * x).sum((-2, -1)) / x.shape[-2]


def _near(squared: Tensor, scale: float) -> Tensor:
    """exp(-squared / scale^2)"""
    return namespace(squared).exp(-squared / scale**2)
