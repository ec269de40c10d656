"""Judge one rollout against its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError
from phuma.evaluation import metrics
from phuma.robots.kinematics import key_body_positions
from phuma.robots.robot import Robot

RATE = 50.0
"""Frame rate in Hz at which errors are measured; a frame of their units is 1 / RATE seconds"""
SUCCESS = "success_0.5"
"""Name of the threshold that makes a motion successful where errors are averaged over successful motions"""
THRESHOLDS = {"success_0.15": 0.15, SUCCESS: 0.5, "tracked": np.inf}
"""Deviation in m above which a motion fails; "tracked" is reaching the end without a termination, however far away"""
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
    """The score of one rollout: how well it tracked its motion."""

    motion: str
    category: str | None
    frames: int
    """Number of frames of the motion at RATE"""
    failed_at: Mapping[str, int | None]
    """First frame that failed, by the names of THRESHOLDS; None where none did"""
    reason: str | None
    """Reason why it was no success: "terminated", "deviated", "stopped" before the end, or "faulty" as its policy is"""
    errors: Mapping[str, tuple[float, int]]
    """Sum over the frames before the failure and the number of them, by the names of ERRORS"""
    fault: str | None = None
    """Fault of the policy that ended the rollout, in words; None if there was none"""

    @property
    def successful(self) -> bool:
        """Return whether the rollout stayed within the threshold SUCCESS to the end."""
        return self.failed_at[SUCCESS] is None

    @property
    def shares(self) -> dict[str, float]:
        """Return 0 to 1 by the names of SHARES: 1 for a success, and for "progress" the share of frames before the
        failure."""
        until = self.failed_at[SUCCESS]
        done = {name: float(frame is None) for name, frame in self.failed_at.items()}
        return done | {"progress": 1.0 if until is None else until / self.frames}


def judge(rollout: Rollout, reference: Trajectory, robot: Robot, category: str | None = None) -> Score:
    """Return the score of a rollout that was to follow `reference` from its first frame to its last.

    Frames of the rollout beyond the reference's last one do not count, and neither does a termination there.
    """
    _check(rollout, reference, robot)
    target = reference.reordered(robot.joint_names).double().resampled(RATE)
    reached = min(len(rollout), len(target))
    followed, asked = (path.frames(slice(reached)) for path in (rollout, target))
    body, wanted = (key_body_positions(robot, path) for path in (followed, asked))
    deviation = metrics.deviations(body, wanted)
    failed_at = {
        name: metrics.first_failure(deviation, len(target), rollout.terminated_at, threshold)
        for name, threshold in THRESHOLDS.items()
    }
    until = failed_at[SUCCESS]
    before = slice(until)
    roots = followed.root_pos[before], asked.root_pos[before]
    joints = followed.joint_pos[before], asked.joint_pos[before]
    positions = body[before], wanted[before]
    values = (
        metrics.global_errors(*positions),
        metrics.local_errors(*positions, *roots),
        metrics.velocity_errors(*positions),
        metrics.acceleration_errors(*positions),
        metrics.joint_errors(*joints),
        metrics.joint_velocity_errors(*joints),
        metrics.joint_acceleration_errors(*joints),
    )
    errors = {name: (float(v.sum()), len(v)) for name, v in zip(ERRORS, values)}
    reason = _reason(until, rollout, reached)
    return Score(rollout.motion, category, len(target), failed_at, reason, errors, rollout.fault)


def _reason(until: int | None, rollout: Rollout, reached: int) -> str | None:
    if until is None:
        return None
    if until == rollout.terminated_at:
        return "terminated" if rollout.fault is None else "faulty"
    return "deviated" if until < reached else "stopped"


def _check(rollout: Rollout, reference: Trajectory, robot: Robot) -> None:
    """Check that all three are of one robot, and that the rollout is in its joint order and at RATE."""
    if not rollout.robot == reference.robot == robot.name:
        raise PhumaError(
            f"rollout of {rollout.motion!r}: it is of robot {rollout.robot}, its reference of {reference.robot}, "
            f"judged on {robot.name}; all three have to be the same"
        )
    for index, (name, wanted) in enumerate(zip_longest(rollout.joint_names, robot.joint_names)):
        if name != wanted:
            raise PhumaError(
                f"rollout of {rollout.motion!r}: its joint {index} is {name or 'missing'}, that of {robot.name} is "
                f"{wanted or 'missing'}; give joints in the order of the robot's MJCF"
            )
    if rollout.fps != RATE:
        raise PhumaError(
            f"rollout of {rollout.motion!r}: it is at {rollout.fps:g} Hz; errors are per frame of 1/{RATE:g} s, so "
            f"give its states at {RATE:g} Hz"
        )
