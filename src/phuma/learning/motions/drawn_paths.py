"""Paths that are drawn while the robot walks: in the world as it stands, and longer or shorter as one goes on."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.learning.motions.paths import RISE, STILL, carried, checked_path, walked
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE


def standing(place: Array, heading: float, robot: Robot, frames: int) -> Trajectory:
    """Return the robot standing at a place (2,) m."""
    return carried(np.tile(place, (frames, 1)), np.full(frames, heading), robot)


def drawn_motion(points: Array, robot: Robot, speed: float, heading: float) -> Trajectory:
    """Return the robot's default pose carried along points (P, 2) m of the world, as `path_motion` does along a path of
    its own; at first it turns from `heading`, rad, to where the path leads."""
    xy, yaw = walked(checked_path(points, "the path"), speed)
    turn = (yaw[0] - heading + np.pi) % (2 * np.pi) - np.pi
    share = np.clip(np.arange(len(yaw)) / ((STILL + RISE) * CONTROL_RATE), 0, 1)
    smooth = share * share * (3 - 2 * share)
    return carried(xy, yaw - yaw[0] + heading + turn * smooth, robot)


def frame_after(before: Trajectory, frame: int, after: Trajectory) -> int:
    """Return the frame of a path that is as far along it as `frame` is along the path before, which begins alike."""
    way = float(along(before)[frame])
    found = int(np.searchsorted(along(after), way - 1e-9))
    return min(max(found, min(frame, round(STILL * CONTROL_RATE))), len(after) - 1)


def along(motion: Trajectory) -> Array:
    """Return (T,) m, how far the root has come over the floor in each frame."""
    steps = np.linalg.norm(np.diff(motion.root_pos[:, :2], axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def cut(points: Array, length: float) -> Array:
    """Return the first `length` m of a path (P, 2)."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    if length >= way[-1]:
        return points
    end = [np.interp(length, way, points[:, k]) for k in range(2)]
    return np.concatenate([points[way < length], [end]])
