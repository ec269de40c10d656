"""Physics of any motion of a robot: the torques and the ground forces that it would take, by inverse dynamics with
velocities and accelerations from finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.robots.inverse_dynamics import FRICTION, NEAR_GROUND, Forces, derivatives, inverse_dynamics
from phuma.robots.robot import Robot


@dataclass(frozen=True, eq=False)
class DynamicsReport:
    """What a motion would take. Body weights are forces in units of the robot's weight."""

    peak_torque: float
    """largest torque of any joint in any frame, over its limit"""
    frames_over_limit: float
    """percent of frames in which some joint's torque is over its limit"""
    residual_contact: float
    """mean root residual force in frames with contact, body weights; 0 if there are none"""
    residual_flight: float
    """the same in frames without contact"""
    residual_moment: float
    """mean root residual moment over all frames, body weights x metre"""
    mean_jerk: float
    """mean over joints and frames, rad/s^3"""
    joint_torque: Array
    """(T, N) Nm"""
    torque_ratio: Array
    """(T,) largest torque over its limit"""
    residual: Array
    """(T, 6) force in the world [body weights] and moment in the root's frame [body weights x metre]"""
    ground_force: Array
    """(T,) vertical, of both feet, body weights"""
    contact: Array
    """(T,) bool: a corner of a sole is near the ground"""
    jerk: Array
    """(T,) mean over joints, rad/s^3"""


def dynamics_report(
    robot: Robot, trajectory: Trajectory, near_ground: float = NEAR_GROUND, friction: float = FRICTION
) -> DynamicsReport:
    """Return what inverse dynamics says of a trajectory with joints in the robot's order; the ground is z = 0.

    A motion is measured when it is made and shown afterwards, often as another object with the same path: the last
    reports are remembered by what the path holds.
    """
    assert trajectory.joint_names == robot.joint_names
    path = trajectory.double()
    return _remembered(robot, path.fps, len(path), path.qpos.tobytes(), near_ground, friction)


@lru_cache(maxsize=2)
def _remembered(
    robot: Robot, fps: float, frames: int, qpos: bytes, near_ground: float, friction: float
) -> DynamicsReport:
    arrays = split_qpos(np.frombuffer(qpos).reshape(frames, -1))
    path = Trajectory(robot.name, robot.joint_names, fps, *arrays)
    forces = inverse_dynamics(robot, path, derivatives(path), near_ground, friction)
    return _report(robot, forces, _jerk(path.joint_pos, fps))


def _jerk(joint_pos: Array, fps: float) -> Array:
    """(T,) mean over joints of the third difference, rad/s^3; the frames at the ends take their neighbours'."""
    if len(joint_pos) < 4:
        return np.zeros(len(joint_pos))
    jerk = np.abs(np.diff(joint_pos, n=3, axis=0)).mean(axis=1) * fps**3
    return np.pad(jerk, (1, 2), mode="edge")


def _report(robot: Robot, forces: Forces, jerk: Array) -> DynamicsReport:
    """Arrays are read-only: a report is shared by all who ask for it."""
    ratio = (np.abs(forces.torque) / robot.torque_limit).max(axis=1)
    residual, near = forces.residual, forces.contact
    size = np.linalg.norm(residual[:, :3], axis=1)
    for array in (forces.torque, ratio, residual, forces.vertical, near, jerk):
        array.flags.writeable = False
    return DynamicsReport(
        peak_torque=float(ratio.max(initial=0.0)),
        frames_over_limit=100 * float(np.mean(ratio > 1)),
        residual_contact=float(size[near].mean()) if near.any() else 0.0,
        residual_flight=float(size[~near].mean()) if not near.all() else 0.0,
        residual_moment=float(np.linalg.norm(residual[:, 3:], axis=1).mean()),
        mean_jerk=float(jerk.mean()),
        joint_torque=forces.torque,
        torque_ratio=ratio,
        residual=residual,
        ground_force=forces.vertical,
        contact=near,
        jerk=jerk,
    )
