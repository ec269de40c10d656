"""Find what is wrong with one row of a manifest and its motion, and say it in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.manifest import COLUMNS
from phuma.dataset.record import Row
from phuma.robots import Robot

ROUNDING = 1e-6
"""Angle in rad by which a joint may pass its limit: files hold float32"""
SHOWN = 3


@dataclass(frozen=True)
class Fault:
    """A fault of a dataset."""

    place: str
    """File below the dataset's folder, or what else the fault is about"""
    problem: str
    mend: str
    """Advice what to do, with the command"""
    grave: bool = True
    """Whether something is broken; False for what a reader should know all the same"""

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}" + (f". {self.mend}" if self.mend else "")


def row_problems(recorded: Sequence[Row], rows: Sequence[Row]) -> Iterator[str]:
    """Yield where the rows that a manifest has of a recording differ from those in its record."""
    ours = {(row["clip"], row["robot"]): row for row in recorded}
    theirs = {(row["clip"], row["robot"]): row for row in rows}
    for clip, robot in dict.fromkeys([*ours, *theirs]):
        key, who = (clip, robot), f"{clip} on {robot}"
        if key not in theirs:
            yield f"has no row for {who}, its record in work/ has"
        elif key not in ours:
            yield f"has a row for {who}, its record in work/ has none"
        elif differing := [name for name in COLUMNS if ours[key].get(name) != theirs[key][name]]:
            changed = [f"{n} is {theirs[key][n]!r}, recorded was {ours[key].get(n)!r}" for n in differing[:SHOWN]]
            more = f", and {len(differing) - SHOWN} more columns" if len(differing) > SHOWN else ""
            yield f"row of {who}: {'; '.join(changed)}{more}"
    if list(ours) != list(theirs) and set(ours) == set(theirs):
        yield f"rows of {rows[0]['recording']} are in another order than in its record"


def motion_problem(motion: RobotMotion, row: Row) -> str | None:
    """Return where a motion is not the one that the row describes. That it is finite was checked when it was loaded."""
    for what, found, expected in (
        ("robot", motion.robot, row["robot"]), ("frames", len(motion), row["frames"]), ("fps", motion.fps, row["fps"])
    ):  # fmt: skip
        if found != expected:
            return f"{what} is {found!r} in the file, {expected!r} in the manifest"
    return None


def over_limits(motion: RobotMotion, robot: Robot) -> str | None:
    """Return the joint that goes farthest beyond its range, or what else keeps them from being compared."""
    missing = {*motion.joint_names} ^ {*robot.joint_names}
    if missing:
        return f"has other joints than the robot {robot.name}: {', '.join(sorted(missing))}"
    angles = motion.reordered(robot.joint_names).joint_pos
    beyond = np.maximum(robot.lower - angles, angles - robot.upper)
    frame, joint = np.unravel_index(np.argmax(beyond), beyond.shape)
    if beyond[frame, joint] <= ROUNDING:
        return None
    low, high = robot.lower[joint], robot.upper[joint]
    name, angle = robot.joint_names[joint], angles[frame, joint]
    return f"{name} is at {angle:.4f} rad in frame {frame}, beyond its range {low:.4f} to {high:.4f}"
