"""Walks along paths: what is asked of a robot's pelvis that nobody recorded, at a speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.errors import ConfigError
from phuma.learning.motions.paths import checked_path, distinct, way_along
from phuma.robots.check import stand
from phuma.robots.locking import leg_joints
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE

FASTEST = 3.0
"""m/s, the highest speed that can be asked for"""
TURN = 0.25
"""m, how round corners become"""
STILL, RISE = 0.5, 0.8
"""s of standing at first and in the end, and in which the speed is reached"""
STEP, LIFT = 0.56, 0.76
"""s per step; and how much of one the first foot is in the air"""
SWAY, SURGE, SINK, BOB = 0.013, 0.009, 0.016, 0.004
"""Shares of its height by which a walking pelvis goes aside and ahead with each step, is lower than a standing one, and
goes up and down; these and the angles are those of generated strolls on a G1"""
SWING, DROP, LEAN = 0.055, 0.05, 0.07
"""rad by which it turns and leans aside with each step, and leans ahead all the time"""
BENT = 0.3
"""Share of the default pose's bend that the legs of a standing robot have"""


def path_motion(points: Array, robot: Robot, speed: float, seconds: float | None = None) -> Trajectory:
    """Return an upright robot carried along a path at control rate: at first it stands, then it comes up to `speed`
    m/s, facing where it goes, its pelvis going with the steps, and in the end it stands. With `seconds` a closed path
    goes round until then.

    The path begins where the robot stands: it is moved there, and turned so that it leads ahead at first.
    """
    if not 0 < speed <= FASTEST:
        raise ConfigError(f"--speed {speed:g}; expected more than 0 and at most {FASTEST:g} m/s")
    points = distinct(checked_path(np.asarray(points, dtype=float), "the path"))
    if seconds is not None and np.allclose(points[0], points[-1], atol=1e-6):
        rounds = max(1, int(np.ceil(seconds * speed / way_along(points)[-1])))
        points = np.concatenate([points, *[points[1:]] * (rounds - 1)])
    walk = walked(points, speed)
    xy = rot.rotate(rot.from_axis("z", -walk.yaw[0]), np.pad(walk.xy - walk.xy[0], [(0, 0), (0, 1)]))[:, :2]
    keep = len(xy) if seconds is None else max(2, round(seconds * CONTROL_RATE) + 1)
    return carried(xy, walk.yaw - walk.yaw[0], walk.strength, robot).frames(slice(keep))


def carried(xy: Array, yaw: Array, strength: Array, robot: Robot) -> Trajectory:
    """Return an upright robot whose pelvis walks over the places `xy` (T, 2) m, facing `yaw` (T,) rad, at control rate;
    `strength` (T,) is 0 while it stands and 1 at full speed."""
    pos, quat = walking_pelvis(xy, yaw, strength, robot)
    return Trajectory(
        robot.name, robot.joint_names, CONTROL_RATE, pos, quat, np.tile(upright_pose(robot), (len(xy), 1))
    )


class Walk(NamedTuple):
    """A walk along a path is where somebody is in each control step."""

    way: Array
    """(T,) m along the path"""
    strength: Array
    """(T,) speed as a share of the full one"""
    xy: Array
    """(T, 2) m"""
    yaw: Array
    """(T,) rad, along the path"""


def walked(points: Array, speed: float) -> Walk:
    """Return the walk along a path (P, 2) m whose corners are rounded."""
    points = distinct(points)
    along = way_along(points)
    full = min(speed, float(along[-1]) / RISE)
    way, pace = _progress(float(along[-1]), full)
    round_off = np.minimum(TURN, np.minimum(way, along[-1] - way))
    near = way[:, None] + round_off[:, None] * np.linspace(-1, 1, 21)
    xy = np.stack([np.interp(near, along, points[:, k]).mean(axis=1) for k in range(2)], axis=1)
    about = np.clip(way + np.maximum(round_off, 0.01) * [[-1.0], [1.0]], 0, along[-1])
    before, ahead = np.stack([np.interp(about, along, points[:, k]) for k in range(2)], axis=-1)
    return Walk(way, pace / speed, xy, np.unwrap(np.arctan2(*(ahead - before).T[::-1])))


def _progress(length: float, speed: float) -> tuple[Array, Array]:
    """Return (T,) m and (T,) m/s: how far along a path somebody is who stands, sets off, stops and stands, and how
    fast: from rest to rest with the least jerk, as people move."""
    last = length / speed + RISE
    time = np.arange(round((last + 2 * STILL) * CONTROL_RATE) + 1) / CONTROL_RATE - STILL

    def risen(t: Array) -> tuple[Array, Array]:
        s = np.clip(t / RISE, 0.0, 1.0)
        return s**3 * (10 - 15 * s + 6 * s**2), RISE * s**4 * (2.5 - 3 * s + s**2) + np.maximum(t - RISE, 0.0)

    (up, gone), (down, missed) = risen(time), risen(time - last + RISE)
    return np.clip(speed * (gone - missed), 0.0, length), speed * (up - down)


def walking_pelvis(xy: Array, yaw: Array, strength: Array, robot: Robot) -> tuple[Array, Array]:
    """Return (T, 3) m and (T, 4) wxyz: the pelvis of somebody who walks over the places `xy` (T, 2), facing `yaw` (T,),
    the left foot first; `strength` (T,) is 0 while it stands and 1 at full speed.

    A policy that is told of a pelvis alone reads from it when to step. With s steps since the first strike, the pelvis
    is over the standing foot and highest at s = 0.62, turned most at 0.12 and leans most at 0.45.
    """
    tall = upright_height(robot)
    steps = (np.arange(len(xy)) / CONTROL_RATE - STILL) / STEP - LIFT

    def wave(size: float, at: float, each: int = 1) -> Array:
        return strength * size * np.cos(np.pi * each * (steps - at))

    left, ahead = tall * wave(SWAY, 0.62), tall * wave(SURGE, 0.37, 2)
    c, s = np.cos(yaw), np.sin(yaw)
    height = tall * (1 - SINK * strength) + tall * wave(BOB, 0.62, 2)
    pos = np.stack([xy[:, 0] + c * ahead - s * left, xy[:, 1] + s * ahead + c * left, height], axis=1)
    turned = rot.from_axis("z", yaw - wave(SWING, 0.12))
    leaning = rot.multiply(rot.from_axis("y", np.full(len(xy), LEAN)), rot.from_axis("x", wave(DROP, 0.45)))
    return pos, rot.multiply(turned, leaning)


def upright_pose(robot: Robot) -> Array:
    """Return (N,) rad: the default pose with its legs straighter and its hips bent by LEAN, as people stand and motions
    begin: level soles below a pelvis that leans ahead."""
    legs = np.isin(robot.joint_names, list(leg_joints(robot)))
    pose = np.where(legs, robot.shared_pose + BENT * (robot.default_pose - robot.shared_pose), robot.default_pose)
    sideways = [j for j in np.flatnonzero(legs) if abs(robot.joint_axis[j, 1]) > 0.9]
    moved = {int(robot.joint_body[j]) for j in sideways}
    for j in sideways:
        if not moved & _above(robot, int(robot.joint_body[j])):  # the uppermost: a hip
            pose[j] -= LEAN * np.sign(robot.joint_axis[j, 1])
    return pose


def _above(robot: Robot, body: int) -> set[int]:
    """Return the bodies from a body's parent up to the root."""
    parent = int(robot.parents[body])
    return set() if parent < 0 else {parent} | _above(robot, parent)


def upright_height(robot: Robot) -> float:
    """Return the height of the root in that pose, m."""
    leaning = rot.from_axis("y", np.array(LEAN))
    return -float(rot.rotate(leaning, stand(robot, upright_pose(robot)).corners)[..., 2].min())
