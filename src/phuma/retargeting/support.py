"""What the soles that stand can give: forces at their corners, within the friction cone, by ankles that tire."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.retargeting.term_data import Posed
from phuma.robots.inverse_dynamics import EDGES, FRICTION, NEAR_GROUND
from phuma.robots.kinematics import points_of
from phuma.robots.masses import Masses, weight_of
from phuma.robots.robot import Robot

MOMENT = 2.0
"""1/m: a moment of so many body weights times metre counts as this many body weights"""
WRENCH = 6
ANKLES = 4
"""Two joints of each leg, those nearest to the sole"""
ROWS = WRENCH + ANKLES
ANKLE_SHARE = 0.95
"""Of an ankle's torque limit: what is beyond counts"""
ANKLE_WEIGHT = 0.2
"""Body weights that all of an ankle's limit too much counts as"""
SOON = 0.134
"""s before and after a region stands in which a corner near the ground bears: soles are put down bit by bit"""
CORNERS, MOST = ((0, 0), (1, 0), (2, 1), (3, 1)), 8 * len(EDGES)
"""Corners of a sole with their region, heel or toe; edges of all friction pyramids, at most"""


class Support(NamedTuple):
    """The edges of the friction pyramids that a frame has, where the robot was when they were made."""

    about: Array
    """(T, 3) m: moments are about this point, the centre of mass"""
    edges: Array
    """(T, MOST, ROWS): what a force of one body weight along an edge gives: force [body weights], moment [body weights
    x metre x MOMENT], and torques of the ankles over their limits [x ANKLE_WEIGHT]"""
    amount: Array
    """(T,) int: how many there are"""


def support_of(robot: Robot, masses: Masses, posed: Posed, stance: Array, fps: float) -> Support:
    """Return what the regions that stand, stance (T, 4), can give to a robot that is posed so."""
    about = np.einsum("tbi,b->ti", centres(masses, posed), masses.mass)
    edges, count = np.zeros((len(about), MOST, ROWS)), np.zeros(len(about), dtype=np.int64)
    ways = np.concatenate([FRICTION * EDGES, np.ones((len(EDGES), 1))], axis=1)
    feet = robot.sole_body[::2]
    chains = points_of(robot, feet, np.zeros((2, 3)))
    unit = ANKLE_WEIGHT * weight_of(robot) / (ANKLE_SHARE * np.maximum(robot.torque_limit, 1e-3))
    for side, body in enumerate(feet):
        ankle = chains.joints[side, : chains.depth[side]][::-1][:2]
        for corner, region in CORNERS:
            at = posed.body_pos[:, body] + posed.body_rot[:, body] @ robot.sole_corners[side, corner]
            on = np.flatnonzero(_bears(stance[:, 2 * side + region] > 0, at[:, 2], int(SOON * fps)))
            at = at[on]
            for way in ways:
                edges[on, count[on], :3] = way
                edges[on, count[on], 3:6] = MOMENT * np.cross(at - about[on], way)
                for m, j in enumerate(ankle):
                    lever = np.cross(posed.axis[on, j], at - posed.origin[on, j])
                    edges[on, count[on], WRENCH + 2 * side + m] = unit[j] * (lever @ way)
                count[on] += 1
    return Support(about, edges, count)


def _bears(stands: Array, height: Array, reach: int) -> Array:
    """Return (T,) bool: a corner bears while its region stands, and near the ground up to `reach` frames before or
    after."""
    soon = stands.copy()
    for k in range(1, min(reach, len(stands) - 1) + 1):
        soon[k:] |= stands[:-k]
        soon[:-k] |= stands[k:]
    return stands | (soon & (height < NEAR_GROUND))


def centres(masses: Masses, posed: Posed) -> Array:
    """Return (T, B, 3) the bodies' centres of mass."""
    return posed.body_pos + np.einsum("tbij,bj->tbi", posed.body_rot, masses.centre)
