"""Motions of a robot whose joints are free, on the same robot with some of them locked, and the other way round.

A clip is told what it loses by that: how far a locked joint would have been from the angle that it is locked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError
from phuma.robots.folder import free_robot
from phuma.robots.locking import leg_joints
from phuma.robots.robot import Robot

MUCH = 30.0
"""Degrees from which on a clip uses a locked joint so much that it should be told"""

LOCKED = "locked joints would have moved"
"""The start of the note that says what a clip loses"""
REMEDY = "leave that free, or retarget the recording, so that other joints make up for it, with --robot"

AnyMotion = TypeVar("AnyMotion", bound=Trajectory)


def is_of_free(name: str, robot: Robot) -> bool:
    """Return whether a name is that of this robot with its locked joints free."""
    return bool(robot.locked) and name == robot.folder.name


def lost_by_locking(motion: Trajectory, robot: Robot) -> dict[str, float]:
    """Return how far, in degrees, each locked joint would have been at most from where it is locked; none of a motion
    that has no such joints."""
    return {
        name: float(np.degrees(np.abs(motion.joint_pos[:, motion.joint_names.index(name)] - angle).max(initial=0.0)))
        for name, angle in robot.locked.items()
        if name in motion.joint_names
    }


def locked_motion(motion: AnyMotion, robot: Robot) -> AnyMotion:
    """Return a motion of the free robot on the one whose joints are locked, which are left out; any other as it is.

    A joint of the legs that moves carries the robot: without it the feet would be elsewhere, so that is an error.
    """
    if not is_of_free(motion.robot, robot):
        return motion
    legs = leg_joints(free_robot(robot))
    used = {name: angle for name, angle in lost_by_locking(motion, robot).items() if name in legs and angle > 1}
    if used:
        raise PhumaError(
            f"was made with {', '.join(used)} free, which carry the robot; retarget its recording with --robot "
            f"{robot.name}"
        )
    return replace(motion.reordered(robot.joint_names), robot=robot.name)


def told_locked_motion(motion: RobotMotion, robot: Robot) -> RobotMotion:
    """Return what `locked_motion` does, with a note in its provenance that says what it loses, and what to do."""
    moved = locked_motion(motion, robot)
    if moved is motion:
        return motion
    lost = lost_by_locking(motion, robot)
    note = f"{LOCKED}: {loss_words(lost) or 'none'}"
    if much := [name for name, angle in lost.items() if angle >= MUCH]:
        note += f"; the motion needs {', '.join(much)}: {REMEDY} {robot.name}"
    return replace(moved, provenance=replace(moved.provenance, notes=(*moved.provenance.notes, note)))


def unlocked_motion(motion: RobotMotion, robot: Robot) -> RobotMotion:
    """Return a motion of a robot whose joints are locked on the free one, with the locked joints at their angles."""
    free, frames = free_robot(robot), len(motion)
    motion = motion.reordered(robot.joint_names)
    own, joints = free.joint_index(robot.joint_names), np.zeros((frames, free.n_joints))
    joints[:, free.joint_index(robot.locked)] = list(robot.locked.values())
    joints[:, own] = motion.joint_pos
    if not isinstance(motion, PerformedMotion):
        return replace(motion, robot=free.name, joint_names=free.joint_names, joint_pos=joints)
    velocity, torque = motion.velocity, motion.torque
    if velocity is not None:
        velocity = np.zeros((frames, 6 + free.n_joints))
        velocity[:, [*range(6), *(6 + own)]] = motion.velocity
    if torque is not None:
        torque = np.zeros((frames, free.n_joints))
        torque[:, own] = motion.torque
    return replace(
        motion, robot=free.name, joint_names=free.joint_names, joint_pos=joints, velocity=velocity, torque=torque
    )


def loss_words(lost: Mapping[str, float], least: float = 0.5) -> str:
    """Return the joints that are used by at least so many degrees, most first: `left_wrist_roll_joint 41°`."""
    most = sorted((name for name in lost if lost[name] >= least), key=lambda name: -lost[name])
    return ", ".join(f"{name} {lost[name]:.0f}°" for name in most)
