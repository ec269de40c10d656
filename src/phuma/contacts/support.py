"""Find what carries a person or a robot: the force that it takes, the soles' corners, and the floor under them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.force import GroundForce, ground_force
from phuma.contacts.ground import vote_ground
from phuma.contacts.soles import Soles, corner_points
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array

LOADED = 0.8
"""Vertical force in body weights from which on the soles count as loaded"""
EDGE = 0.1
"""Time in s at either end of a recording in which the filter makes up the acceleration"""


@dataclass(frozen=True, eq=False)
class Support:
    """The forces and soles of a recording over time, and the floor under them."""

    force: GroundForce
    soles: Soles
    trusted: Array
    """(T,) bool, whether the acceleration is the recording's, not the filter's"""
    floor: float
    """Height in m at which loaded soles are: a vote of all soles lies above that by centimetres"""


def support_of(motion: HumanMotion, floor: float | None, band: float) -> Support:
    """Return what carries a person, of whose motion accelerations can be taken.

    The floor [m] is voted by the lowest corner in loaded frames, within `band` [m], unless it is told.
    """
    force, soles = forces_and_soles(motion)
    trusted = trusted_frames(len(motion), motion.fps)
    loaded = trusted & (force.vertical > LOADED)
    if floor is None:
        floor = vote_ground(soles.lowest[loaded] if loaded.any() else soles.lowest, band)
    return Support(force, soles, trusted, floor)


def trusted_frames(frames: int, fps: float) -> Array:
    """Return (T,) bool: in which of so many frames the acceleration is the recording's."""
    trusted = np.ones(frames, dtype=bool)
    edge = round(EDGE * fps)
    trusted[:edge] = trusted[frames - edge :] = False
    return trusted


def forces_and_soles(motion: HumanMotion) -> tuple[GroundForce, Soles]:
    """Return the forces and soles of a person. The motion is posed in blocks, each with its neighbours' frames for
    accelerations."""
    corners = corner_points(motion.body)
    forces, positions = [], []
    for here in blocks_of(len(motion)):
        begin = max(0, here.start - 2)
        block = motion.frames(begin, min(here.stop + 1, len(motion)))
        own = slice(here.start - begin, here.stop - begin)
        forces.append(ground_force(block.pose, block.fps).frames(own))
        positions.append(block.sole_positions(corners)[own])
    return GroundForce.joined(forces), Soles.of(np.concatenate(positions), motion.fps)
