"""KungfuBot's rewards and terminations: one function per row of its table, a number or a bool per environment.

Points are those of `env.points`, hats are the reference's; means over points are of squares. A recipe gives each its
weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phuma.core.rotations import squared_angle, up_component
from phuma.core.tensors import Tensor, namespace
from phuma.learning.env.points import POINTS, sole_heights
from phuma.learning.env.terms.kungfubot import ON_GROUND
from phuma.sim.model import CONTROL_RATE

if TYPE_CHECKING:
    from phuma.learning.env.context import Context

SOFT_JOINTS, SOFT_TORQUE = 0.95, 0.85
"""Shares of a joint's range and of a motor's torque limit that cost nothing"""
OFF = 0.25  # m
LEANING = 0.8  # of the cosine between the vertical and the root's own z axis
KEPT = [n for n, name in enumerate(POINTS) if "elbow" not in name]
"""Points whose height ends an episode"""


def root_velocity(c: Context) -> Tensor:
    """Reward the root's velocity in the world:  exp(-|v - v^|^2 / 1.0)."""
    return _near(_square(c.state.root_linvel - c.reference.root_linvel), 1.0)


def root_position(c: Context) -> Tensor:
    """Reward the root's position in the world:  exp(-|p - p^|^2 / 0.1)."""
    return _near(_square(c.state.root_pos - c.reference.root_pos), 0.1)


def root_rotation(c: Context) -> Tensor:
    """Reward the root's rotation in the world:  exp(-|theta - theta^|^2 / 0.15)."""
    return _near(squared_angle(c.state.root_quat, c.reference.root_quat), 0.15)


def point_position(c: Context) -> Tensor:
    """Reward positions of points about the root:  exp(-mean |p_b - p^_b|^2 / 0.1)."""
    return _near(_square(c.points.pos - c.points_about_root[0]).mean(-1), 0.1)


def point_rotation(c: Context) -> Tensor:
    """Reward rotations of the points' bodies about the root:  exp(-mean |theta_b - theta^_b|^2 / 0.15)."""
    return _near(squared_angle(c.points.quat, c.points_about_root[1]).mean(-1), 0.15)


def point_velocity(c: Context) -> Tensor:
    """Reward velocities of points in the world:  exp(-mean |v_b - v^_b|^2 / 1.0)."""
    return _near(_square(c.points.linvel - c.reference_points.linvel).mean(-1), 1.0)


def point_angular_velocity(c: Context) -> Tensor:
    """Reward angular velocities of points in the world:  exp(-mean |w_b - w^_b|^2 / 10)."""
    return _near(_square(c.points.angvel - c.reference_points.angvel).mean(-1), 10.0)


def joint_speed(c: Context) -> Tensor:
    """Penalise speeds of joints:  sum_j q'_j^2."""
    return _square(c.state.joint_vel)


def joint_acceleration(c: Context) -> Tensor:
    """Penalise accelerations of joints:  sum_j q''_j^2,  from one control step to the next."""
    assert c.before is not None
    return _square((c.state.joint_vel - c.before.joint_vel) * CONTROL_RATE)


def foot_slip(c: Context) -> Tensor:
    """Penalise feet that move on the ground:  sum over feet in contact of  |v|."""
    assert c.constants.points is not None
    speed = c.state.body_linvel[:, c.constants.points.foot]
    on_ground = sole_heights(c.constants.points, c.state) < ON_GROUND
    return (namespace(speed).sqrt(_square(speed)) * on_ground).sum(-1)


def joint_limits(c: Context) -> Tensor:
    """Penalise joints beyond 95 % of their range:  sum_j max(0, |q_j - middle_j| - 0.95 reach_j)."""
    q = c.state.joint_pos
    return _beyond(abs(q - c.constants.middle), SOFT_JOINTS * c.constants.reach)


def torque_limits(c: Context) -> Tensor:
    """Penalise torques beyond 85 % of their limit:  sum_j max(0, |tau_j| - 0.85 limit_j)  with the controllers' torques
    at the end of the control step."""
    assert c.target is not None
    own = c.constants
    limit = own.torque_limit
    torque = own.stiffness * (c.target - c.state.joint_pos) - own.damping * c.state.joint_vel
    return _beyond(namespace(torque).minimum(abs(torque), limit), SOFT_TORQUE * limit)


def root_height(c: Context) -> Tensor:
    """Terminate where the root is too high or too low:  |z - z^| > 0.25 m."""
    return abs(c.state.root_pos[:, 2] - c.reference.root_pos[:, 2]) > OFF


def root_tilt(c: Context) -> Tensor:
    """Terminate where the root leans and the reference's does not, or the reverse:  |g_z - g^_z| > 0.8."""
    return abs(up_component(c.state.root_quat) - up_component(c.reference.root_quat)) > LEANING


def point_height(c: Context) -> Tensor:
    """Terminate where a knee, an ankle, a hand or the head is too high or too low:  |z_b - z^_b| > 0.25 m."""
    off = abs(c.points.pos[:, KEPT, 2] - c.reference_points.pos[:, KEPT, 2])
    return namespace(off).amax(off, -1) > OFF


TERMINATIONS = (root_height, root_tilt, point_height)


def termination(c: Context) -> Tensor:
    """Penalise failure: 1 where any of TERMINATIONS ends the episode, else 0."""
    failed = root_height(c) | root_tilt(c) | point_height(c)
    return 0 * c.state.root_pos[:, 2] + failed


def _square(x: Tensor) -> Tensor:
    return (x * x).sum(-1)


def _beyond(value: Tensor, limit: Tensor) -> Tensor:
    over = value - limit
    return (over * (over > 0)).sum(-1)


def _near(squared: Tensor, scale: float) -> Tensor:
    """Return exp(-squared / scale)."""
    return namespace(squared).exp(-squared / scale)
