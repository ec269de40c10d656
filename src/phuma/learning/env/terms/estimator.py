"""Observations of a policy that estimates how far the robot is from its reference."""

from __future__ import annotations

from phuma.learning.env.context import Context
from phuma.learning.env.deviation import deviation, size
from phuma.learning.env.observation import ObservationTerm
from phuma.learning.env.terms.kungfubot import root_off
from phuma.learning.env.terms.observations import joint_pos_off, joint_vel_off, root_angvel_off


def _deviation(c: Context):
    assert c.now is not None
    return deviation(c.state, c.now)


SENSED = (root_off, joint_pos_off, root_angvel_off, joint_vel_off)
"""What sensors say of a deviation, in its order"""
previous_estimate = ObservationTerm(
    "previous_estimate",
    "the policy's last output `deviation`; zero at first",
    size=lambda robot: size(robot.n_joints),
    reading=lambda c: c.action,
)
truth = ObservationTerm(
    "deviation",
    "what no sensor says and what is sensed of how far the robot is from the reference at the present frame, exact",
    size=lambda robot: size(robot.n_joints),
    reading=_deviation,
)
