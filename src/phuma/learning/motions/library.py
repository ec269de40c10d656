"""The library of all motions that a policy learns from, in as little memory as they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import Strand
from phuma.sim.reference import at_control_rate, fault


@dataclass(frozen=True, eq=False)
class Performance:
    """How a robot performs a motion under physics, in single precision."""

    states: Coordinates
    """States of the T frames of the motion at control rate"""
    target: Array
    """(T - 1, N) rad, what the joints' controllers aimed at from each frame to the next"""
    feedback: Callable[[], Sequence[Strand]]
    """Function that reads the feedback along it, and along ways back to it, which takes ten times the memory of all
    else"""


def performance_of(rollout: Rollout, robot: Robot, feedback: Callable[[], Sequence[Strand]]) -> Performance:
    """Return a performance; one that was recorded without velocities or targets is an error."""
    rollout = rollout.reordered(robot.joint_names)
    if rollout.velocity is None or rollout.target is None:
        raise PhumaError("has no velocities or targets; certify it again")
    qpos, qvel, target = (v.astype(np.float32) for v in (rollout.qpos, rollout.velocity, rollout.target))
    return Performance(Coordinates(qpos, qvel), target, feedback)


@dataclass
class MotionLibrary:
    """Trajectories at control rate in single precision: 144 bytes per frame on the G1, so that 73 hours take 1.9 GB.
    What else a tracker needs of them is made for some motions at a time: see `References`."""

    robot: Robot
    names: list[str] = field(default_factory=list)
    categories: list[str | None] = field(default_factory=list)
    motions: list[Trajectory] = field(default_factory=list)
    """Trajectories at control rate, in single precision, joints in the robot's order"""
    performances: list[Performance | None] = field(default_factory=list)
    """How each motion is performed, where that is known"""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Names of motions that were left out, with the reasons"""
    lost: dict[str, dict[str, float]] = field(default_factory=dict)
    """By motion and joint, how far [degrees] a joint that is locked would have been from where it is locked"""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def frames(self) -> int:
        """Return the number of frames of all motions."""
        return sum(map(len, self.motions))

    def add(
        self, name: str, motion: Trajectory, category: str | None = None, performance: Performance | None = None
    ) -> None:
        """Add a motion with its performance if there is one, or note why it is left out."""
        if (reason := fault(motion, self.robot)) is not None:
            self.left_out.append((name, reason))
            return
        path = at_control_rate(motion.reordered(self.robot.joint_names))
        if performance is not None and (frames := len(performance.states.qpos)) != len(path):
            reason = f"has a performance of {frames} frames for {len(path)} at control rate; certify it again"
            self.left_out.append((name, reason))
            return
        self.names.append(name)
        self.categories.append(category)
        self.motions.append(path)
        self.performances.append(performance)

    def part(self, numbers: Sequence[int] | Array) -> MotionLibrary:
        """Return a library of some of the motions, each once, in this library's order."""
        own = sorted({int(n) for n in numbers})
        return MotionLibrary(
            self.robot,
            [self.names[n] for n in own],
            [self.categories[n] for n in own],
            [self.motions[n] for n in own],
            [self.performances[n] for n in own],
        )


Motion = tuple[str, Trajectory, str | None] | tuple[str, Trajectory, str | None, Performance | None]
"""Name, trajectory, category and, where it is known, performance"""


def library_of(robot: Robot, motions: Iterable[Motion]) -> MotionLibrary:
    """Return a library of motions; those that no robot can be asked to follow are left out."""
    library = MotionLibrary(robot)
    for motion in motions:
        library.add(*motion)
    if not library.names:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in library.left_out[:3]) or "there are none"
        raise PhumaError(f"no motion that a robot can be asked to follow: {reasons}")
    return library
