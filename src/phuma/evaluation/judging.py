"""One rollout against its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from phuma.errors import PhumaError
from phuma.evaluation import metrics
from phuma.robot_motion import RobotMotion
from phuma.robots.kinematics import body_poses
from phuma.robots.robot import Robot
from phuma.rollout import Rollout
from phuma.rotations import Array

RATE = 50.0
"""Hz; a frame of the errors' units is 1 / RATE seconds"""
SUCCESS = "success_0.5"
"""What makes a motion successful where errors are averaged over successful motions"""
THRESHOLDS = {"success_0.15": 0.15, SUCCESS: 0.5, "tracked": np.inf}
"""m; "tracked" is reaching the end without a termination, however far away"""
SHARES = (*THRESHOLDS, "progress")
ERRORS = (
    "mpjpe_global_mm",
    "mpjpe_local_mm",
    "velocity_mm_per_frame",
    "acceleration_mm_per_frame2",
    "dof_deg",
    "dof_velocity_deg_per_frame",
    "dof_acceleration_deg_per_frame2",
)


@dataclass(frozen=True)
class Score:
    """How well one rollout tracked its motion."""

    motion: str
    category: str | None
    frames: int
    """Of the motion, at RATE"""
    failed_at: Mapping[str, int | None]
    """By the names of THRESHOLDS: the first frame that failed"""
    reason: str | None
    """Why it was no success: "terminated", "deviated" or "stopped" before the end"""
    errors: Mapping[str, tuple[float, int]]
    """By the names of ERRORS: sum over the frames before the failure, and their number"""

    @property
    def successful(self) -> bool:
        return self.failed_at[SUCCESS] is None

    @property
    def shares(self) -> dict[str, float]:
        """By the names of SHARES, 0 to 1: 1 for a success, and for "progress" the frames before the failure."""
        until = self.failed_at[SUCCESS]
        done = {name: float(frame is None) for name, frame in self.failed_at.items()}
        return done | {"progress": 1.0 if until is None else until / self.frames}


def judge(rollout: Rollout, reference: RobotMotion, robot: Robot, category: str | None = None) -> Score:
    """The score of a rollout that was to follow `reference` from its first frame to its last.

    Frames of the rollout beyond the reference's last one do not count, and neither does a termination there.
    """
    _check(rollout, reference, robot)
    target = reference.reordered(robot.joint_names).resampled(RATE)
    reached = min(len(rollout), len(target))
    body, wanted = (_key_bodies(robot, motion, reached) for motion in (rollout, target))
    deviation = metrics.deviations(body, wanted)
    failed_at = {
        name: metrics.first_failure(deviation, len(target), rollout.terminated_at, threshold)
        for name, threshold in THRESHOLDS.items()
    }
    until = failed_at[SUCCESS]
    before = slice(len(target) if until is None else until)
    roots = rollout.root_pos[:reached][before], target.root_pos[:reached][before]
    joints = rollout.joint_pos[:reached][before], target.joint_pos[:reached][before]
    places = body[before], wanted[before]
    values = (
        metrics.global_errors(*places),
        metrics.local_errors(*places, *roots),
        metrics.velocity_errors(*places),
        metrics.acceleration_errors(*places),
        metrics.joint_errors(*joints),
        metrics.joint_velocity_errors(*joints),
        metrics.joint_acceleration_errors(*joints),
    )
    errors = {name: (float(v.sum()), len(v)) for name, v in zip(ERRORS, values)}
    return Score(rollout.motion, category, len(target), failed_at, _reason(until, rollout, reached), errors)


def _key_bodies(robot: Robot, motion: Rollout | RobotMotion, frames: int) -> Array:
    """(T, B, 3) where the robot's key bodies are in the first `frames`."""
    place, _ = body_poses(robot, motion.root_pos[:frames], motion.root_quat[:frames], motion.joint_pos[:frames])
    return place[:, robot.body_index(robot.key_bodies)]


def _reason(until: int | None, rollout: Rollout, reached: int) -> str | None:
    if until is None:
        return None
    if until == rollout.terminated_at:
        return "terminated"
    return "deviated" if until < reached else "stopped"


def _check(rollout: Rollout, reference: RobotMotion, robot: Robot) -> None:
    """That all three are of one robot, and that the rollout is in its joint order and at RATE."""
    if not rollout.robot == reference.robot == robot.name:
        raise PhumaError(
            f"rollout of {rollout.motion!r}: it is of robot {rollout.robot}, its reference of {reference.robot}, "
            f"judged on {robot.name}; all three have to be the same"
        )
    for place, (name, wanted) in enumerate(zip_longest(rollout.joint_names, robot.joint_names)):
        if name != wanted:
            raise PhumaError(
                f"rollout of {rollout.motion!r}: its joint {place} is {name or 'missing'}, that of {robot.name} is "
                f"{wanted or 'missing'}; give joints in the order of the robot's MJCF"
            )
    if rollout.rate != RATE:
        raise PhumaError(
            f"rollout of {rollout.motion!r}: it has {rollout.rate:g} frames a second; errors are told per frame of "
            f"1/{RATE:g} s, so give its states at {RATE:g} Hz"
        )
