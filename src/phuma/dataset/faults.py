"""What can be wrong with one row of a manifest and its motion, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phuma.dataset.manifest import COLUMNS
from phuma.dataset.record import Row
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot

ROUNDING = 1e-6
"""rad by which a joint may pass its limit: files hold float32"""
SHOWN = 3


@dataclass(frozen=True)
class Fault:
    """Something of a dataset that is not as it should be."""

    place: str
    """File below the dataset's folder, or what else it is about"""
    problem: str
    mend: str
    """What to do, with the command"""
    grave: bool = True
    """False for what a reader should know though nothing is broken"""

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}" + (f". {self.mend}" if self.mend else "")


def row_problems(recorded: Sequence[Row], rows: Sequence[Row]) -> Iterator[str]:
    """Where the rows that a manifest has of a recording differ from those in its record."""
    ours = {(row["clip"], row["robot"]): row for row in recorded}
    theirs = {(row["clip"], row["robot"]): row for row in rows}
    for clip, robot in dict.fromkeys([*ours, *theirs]):
        key, who = (clip, robot), f"{clip} on {robot}"
        if key not in theirs:
            yield f"has no row for {who}, its record in work/ has"
        elif key not in ours:
            yield f"has a row for {who}, its record in work/ has none"
        elif differing := [name for name in COLUMNS if ours[key].get(name) != theirs[key][name]]:
            told = [f"{n} is {theirs[key][n]!r}, recorded was {ours[key].get(n)!r}" for n in differing[:SHOWN]]
            more = f", and {len(differing) - SHOWN} more columns" if len(differing) > SHOWN else ""
            yield f"row of {who}: {'; '.join(told)}{more}"
    if list(ours) != list(theirs) and set(ours) == set(theirs):
        yield f"rows of {rows[0]['recording']} are in another order than in its record"


def motion_problem(motion: RobotMotion, row: Row) -> str | None:
    """Where a motion is not the one that the row tells of. That it is finite was seen when it was loaded."""
    for what, found, told in (
        ("robot", motion.robot, row["robot"]), ("frames", len(motion), row["frames"]), ("fps", motion.fps, row["fps"])
    ):  # fmt: skip
        if found != told:
            return f"{what} is {found!r} in the file, {told!r} in the manifest"
    return None


def over_limits(motion: RobotMotion, robot: Robot) -> str | None:
    """The joint that goes farthest beyond its range, or what else keeps them from being compared."""
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
