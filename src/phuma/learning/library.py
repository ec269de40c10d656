"""All motions that a policy learns from, in as little memory as they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from phuma import rotations as rot
from phuma.errors import PhumaError
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array

SHORTEST = 0.5  # s
TOO_FAST = 2.0
"""Times a joint's speed limit: no retargeted motion comes near it, a jump between two frames goes far beyond"""
ROOT_SPEED, ROOT_TURN = 12.0, 30.0  # m/s, rad/s: faster than any runner, than any somersault


@dataclass
class MotionLibrary:
    """Roots and joints of motions at control rate in single precision: 144 bytes a frame on the G1, so that 73 hours
    take 1.9 GB. What else a tracker needs of them is made for some motions at a time: see `References`."""

    robot: Robot
    names: list[str] = field(default_factory=list)
    categories: list[str | None] = field(default_factory=list)
    motions: list[Array] = field(default_factory=list)
    """(T, 7 + N) each: root position, root quaternion wxyz, joints"""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Names and reasons"""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def frames(self) -> int:
        return sum(map(len, self.motions))

    def add(self, name: str, motion: RobotMotion, category: str | None = None) -> None:
        """Take a motion in, or note why not."""
        if (reason := fault(motion, self.robot)) is not None:
            self.left_out.append((name, reason))
            return
        self.names.append(name)
        self.categories.append(category)
        self.motions.append(at_control_rate(motion.reordered(self.robot.joint_names)))

    def part(self, numbers: Sequence[int] | Array) -> MotionLibrary:
        """Some of the motions, each once, in the library's order."""
        own = sorted({int(n) for n in numbers})
        return MotionLibrary(
            self.robot, [self.names[n] for n in own], [self.categories[n] for n in own], [self.motions[n] for n in own]
        )


def library_of(robot: Robot, motions: Iterable[tuple[str, RobotMotion, str | None]]) -> MotionLibrary:
    """Of names, motions and categories; those that no robot can be asked to follow are left out."""
    library = MotionLibrary(robot)
    for name, motion, category in motions:
        library.add(name, motion, category)
    if not library.names:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in library.left_out[:3]) or "there are none"
        raise PhumaError(f"no motion that a robot can be asked to follow: {reasons}")
    return library


def at_control_rate(motion: RobotMotion) -> Array:
    """(T, 7 + N) float32, from the first frame to the last, by cubic splines: speeds are continuous, so that a tracker
    is not asked to jerk at every frame of the recording."""
    quat = rot.continuous(motion.root_quat)
    values = np.concatenate([motion.root_pos, quat, motion.joint_pos], axis=1)
    last = (len(motion) - 1) / motion.fps
    time = np.arange(int(last * CONTROL_RATE + 1e-9) + 1) / CONTROL_RATE
    if motion.fps != CONTROL_RATE:
        from scipy.interpolate import CubicSpline  # takes a while to load: not for `--help`

        values = CubicSpline(np.arange(len(motion)) / motion.fps, values)(time)
    values[:, 3:7] = rot.normalize(values[:, 3:7])
    return values.astype(np.float32)


def fault(motion: RobotMotion, robot: Robot) -> str | None:
    """Why no robot can be asked to follow this motion; None if one can."""
    if motion.robot != robot.name:
        return f"is of robot {motion.robot}, not {robot.name}"
    for name in robot.joint_names:
        if name not in motion.joint_names:
            return f"has no joint {name}"
    if motion.duration < SHORTEST:
        return f"lasts {motion.duration:.2f} s; at least {SHORTEST} s are needed"
    motion = motion.reordered(robot.joint_names)
    speed = np.abs(np.diff(motion.joint_pos, axis=0)) * motion.fps
    over = speed / (TOO_FAST * robot.velocity_limit)
    if over.max() > 1:
        frame, joint = np.unravel_index(int(over.argmax()), over.shape)
        return (
            f"jumps at {frame / motion.fps:.2f} s: {robot.joint_names[joint]} turns at "
            f"{speed[frame, joint]:.0f} rad/s, more than twice its limit of {robot.velocity_limit[joint]:g}"
        )
    travel = np.linalg.norm(np.diff(motion.root_pos, axis=0), axis=1) * motion.fps
    if travel.max() > ROOT_SPEED:
        found = f"jumps at {travel.argmax() / motion.fps:.2f} s: the root moves at {travel.max():.0f} m/s"
        return f"{found}, more than {ROOT_SPEED:g}"
    steps = rot.multiply(rot.conjugate(motion.root_quat[:-1]), motion.root_quat[1:])
    turn = np.linalg.norm(rot.to_rotvec(steps), axis=1) * motion.fps
    if turn.max() > ROOT_TURN:
        found = f"jumps at {turn.argmax() / motion.fps:.2f} s: the root turns at {turn.max():.0f} rad/s"
        return f"{found}, more than {ROOT_TURN:g}"
    return None
