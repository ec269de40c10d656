"""Paths that are drawn while the robot walks: in the world as it stands, and longer or shorter as one goes on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.learning.motions.path_walks import RISE, STILL, carried, walked
from phuma.learning.motions.paths import checked_path, way_along
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE


class DrawnPath(NamedTuple):
    """A drawn path as a robot is asked to walk it."""

    motion: Trajectory
    way: Array
    """(T,) m along the path"""


def standing(place: Array, heading: float, robot: Robot, frames: int) -> DrawnPath:
    """Return the robot standing at a place (2,) m."""
    still = np.zeros(frames)
    return DrawnPath(carried(np.tile(place, (frames, 1)), np.full(frames, heading), still, robot), still)


def drawn_path(points: Array, robot: Robot, speed: float, heading: float) -> DrawnPath:
    """Return the robot carried along points (P, 2) m of the world, as `path_motion` does along a path of its own; at
    first it turns from `heading`, rad, to where the path leads."""
    walk = walked(checked_path(points, "the path"), speed)
    turn = (walk.yaw[0] - heading + np.pi) % (2 * np.pi) - np.pi
    share = np.clip(np.arange(len(walk.yaw)) / ((STILL + RISE) * CONTROL_RATE), 0, 1)
    smooth = share * share * (3 - 2 * share)
    yaw = walk.yaw - walk.yaw[0] + heading + turn * smooth
    return DrawnPath(carried(walk.xy, yaw, walk.strength, robot), walk.way)


def frame_after(before: DrawnPath, frame: int, after: DrawnPath) -> int:
    """Return the frame of a path that is as far along it as `frame` is along the path before, which begins alike."""
    found = int(np.searchsorted(after.way, before.way[frame] - 1e-9))
    return min(max(found, min(frame, round(STILL * CONTROL_RATE))), len(after.way) - 1)


def cut(points: Array, length: float) -> Array:
    """Return the first `length` m of a path (P, 2)."""
    way = way_along(points)
    if length >= way[-1]:
        return points
    end = [np.interp(length, way, points[:, k]) for k in range(2)]
    return np.concatenate([points[way < length], [end]])
