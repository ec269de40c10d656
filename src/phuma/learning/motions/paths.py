"""Paths for a pelvis that nobody recorded: as points on the floor, walked at a speed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.errors import ConfigError, ReadError
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE

FASTEST = 3.0
"""m/s, the highest speed that can be asked for"""
RADIUS, TURN = 1.5, 0.25
"""m, of the circle and of the eight's halves; and how round corners become"""
STILL, RISE = 0.5, 1.0
"""s of standing at first and in the end, and in which the speed is reached"""
LEAST = 0.1
"""m, the shortest path"""
SHARPEST = 150.0
"""deg, by which a path may turn at a point: further it leads back on itself, and no heading is along it"""


def named_path(text: str) -> Array:
    """Return (P, 2) m points of a path: `circle`, `figure-eight`, a CSV file, or points as "1,0 2,1 3,0"."""
    angle = np.linspace(0, 2 * np.pi, 241)
    if text == "circle":
        return RADIUS * np.stack([np.sin(angle), 1 - np.cos(angle)], axis=1)
    if text == "figure-eight":
        first = RADIUS * np.stack([np.sin(angle), 1 - np.cos(angle)], axis=1)
        return np.concatenate([first, first[1:] * [1, -1]])
    if Path(text).suffix.lower() == ".csv" or Path(text).is_file():
        return _read(Path(text))
    words = text.split()
    if not words or not all(re.fullmatch(r"[^,\s]+,[^,\s]+", word) for word in words):
        raise ConfigError(f'--path {text!r}; expected circle, figure-eight, a .csv of x,y in m, or points as "1,0 2,1"')
    try:
        return checked_path(np.array([[float(n) for n in word.split(",")] for word in words]), "--path")
    except ValueError:
        raise ConfigError(f"--path {text!r} has a point that is no pair of numbers, as 1,0 is") from None


def checked_path(points: Array, name: str) -> Array:
    """Return points (P, 2) that make a path, or raise an error that names what does not."""
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise ConfigError(f"{name}: point {bad[0] + 1} is {points[bad[0]].tolist()}; coordinates have to be finite")
    if len(points) < 2:
        raise ConfigError(f"{name} has one point; a path needs at least two")
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    if length < LEAST:
        raise ConfigError(f"{name} is {length:.2g} m long; at least {LEAST:g} m are needed")
    turns = turns_of(points)
    if len(turns) and np.abs(turns).max() > np.radians(SHARPEST):
        k = int(np.abs(turns).argmax())
        x, y = distinct(points)[k + 1]
        raise ConfigError(
            f"{name} turns back on itself at {x:g},{y:g}, by {np.degrees(abs(turns[k])):.0f} deg; a robot walks turns "
            f"of at most {SHARPEST:g} deg at a point: lead the path round by one point more"
        )
    return points


def distinct(points: Array) -> Array:
    """Return the points (P, 2) of a path without those that are where the one before them is."""
    apart = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    return points[apart]


def turns_of(points: Array) -> Array:
    """Return (P - 2,) rad, by which a path turns at its inner points, to the left above zero."""
    way = np.diff(distinct(points), axis=0)
    heading = np.arctan2(way[:, 1], way[:, 0])
    return (np.diff(heading) + np.pi) % (2 * np.pi) - np.pi


def _read(path: Path) -> Array:
    if not path.is_file():
        raise ReadError(path, "does not exist; expected a table of x,y in m")
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as e:
        raise ReadError(path, f"cannot be read as text: {e}") from None
    numbered = [(k, line) for k, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if numbered and re.match("[A-Za-z]", numbered[0][1]) and not _is_number(numbered[0][1].split(",")[0]):
        del numbered[0]  # the columns' names
    points = []
    for k, line in numbered:
        cells = line.split(",")
        if len(cells) < 2 or not all(map(_is_number, cells[:2])):
            raise ReadError(path, f"is no table of x,y in m with a row per point: line {k} is {line[:40]!r}")
        points.append([float(cells[0]), float(cells[1])])
    if not points:
        raise ReadError(path, "has no point; expected a row x,y in m per point")
    try:
        return checked_path(np.array(points), str(path))
    except ConfigError as e:
        raise ReadError(path, str(e).removeprefix(f"{path}: ").removeprefix(f"{path} ")) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def path_motion(points: Array, robot: Robot, speed: float, seconds: float | None = None) -> Trajectory:
    """Return the robot's default pose carried along a path at control rate: at first it stands, then it comes up to
    `speed` m/s, facing where it goes, and in the end it stands. With `seconds` a closed path goes round until then.

    The path begins where the robot stands: it is moved there, and turned so that it leads ahead at first.
    """
    if not 0 < speed <= FASTEST:
        raise ConfigError(f"--speed {speed:g}; expected more than 0 and at most {FASTEST:g} m/s")
    points = checked_path(np.asarray(points, dtype=float), "the path")
    if seconds is not None and np.allclose(points[0], points[-1], atol=1e-6):
        length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        rounds = max(1, int(np.ceil(seconds * speed / length)))
        points = np.concatenate([points, *[points[1:]] * (rounds - 1)])
    xy, yaw = walked(points, speed)
    xy, yaw = rot.rotate(rot.from_axis("z", -yaw[0]), _on_floor(xy - xy[0]))[:, :2], yaw - yaw[0]
    if seconds is not None:
        keep = max(2, round(seconds * CONTROL_RATE) + 1)
        xy, yaw = xy[:keep], yaw[:keep]
    return carried(xy, yaw, robot)


def carried(xy: Array, yaw: Array, robot: Robot) -> Trajectory:
    """Return the robot's default pose at places (T, 2) m with headings (T,) rad, at control rate."""
    root = _on_floor(xy) + [0.0, 0.0, robot.default_height]
    joints = np.tile(robot.default_pose, (len(xy), 1))
    return Trajectory(robot.name, robot.joint_names, CONTROL_RATE, root, rot.from_axis("z", yaw), joints)


def walked(points: Array, speed: float) -> tuple[Array, Array]:
    """Return (T, 2) m and (T,) rad: places and headings along a path whose corners are rounded."""
    points = distinct(points)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    time = np.arange(round(RISE * CONTROL_RATE)) / CONTROL_RATE
    rise = speed * time**2 / (2 * RISE)
    level = np.arange(rise[-1] + speed / CONTROL_RATE, max(along[-1] - rise[-1], 0), speed / CONTROL_RATE)
    way = np.minimum(np.concatenate([rise, level, along[-1] - rise[::-1]]), along[-1])
    way = np.maximum.accumulate(way)
    still = round(STILL * CONTROL_RATE)
    way = np.concatenate([np.zeros(still), way, np.full(still, along[-1])])
    grid = np.arange(-TURN, TURN + 1e-9, TURN / 10)
    near = np.clip(way[:, None] + grid, 0, along[-1])
    xy = np.stack([np.interp(near, along, points[:, k]).mean(axis=1) for k in range(2)], axis=1)
    ahead = np.stack(
        [np.interp(np.clip(way + d, 0, along[-1]), along, points[:, k]) for d in (TURN, -TURN) for k in (0, 1)]
    )
    return xy, np.unwrap(np.arctan2(ahead[1] - ahead[3], ahead[0] - ahead[2]))


def _on_floor(xy: Array) -> Array:
    """Return (T, 3) m: places (T, 2) at height zero."""
    return np.concatenate([xy, np.zeros((len(xy), 1))], axis=1)
