"""Physics of any motion of a robot: the torques and the ground forces that it would take, by inverse dynamics with
velocities and accelerations from finite differences."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from phuma.robots.inverse_dynamics import FRICTION, NEAR_GROUND, Forces, free_model, inverse_dynamics
from phuma.robots.robot import Robot
from phuma.rotations import Array


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
    robot: Robot,
    root_pos: Array,
    root_quat: Array,
    joint_pos: Array,
    fps: float,
    near_ground: float = NEAR_GROUND,
    friction: float = FRICTION,
) -> DynamicsReport:
    """Inverse dynamics along root_pos (T, 3), root_quat (T, 4) wxyz, joint_pos (T, N); the ground is z = 0."""
    model = free_model(robot)
    qpos = np.concatenate([root_pos, root_quat, joint_pos], axis=1)
    velocity, acceleration = _derivatives(model, qpos, fps)
    forces = inverse_dynamics(robot, qpos, velocity, acceleration, near_ground, friction)
    return _report(robot, forces, _jerk(joint_pos, fps))


def _derivatives(model: mujoco.MjModel, qpos: Array, fps: float) -> tuple[Array, Array]:
    """(T, V), (T, V) velocities and accelerations in MuJoCo's coordinates, by central differences; the first and the
    last frame take their neighbours' accelerations."""
    frames = len(qpos)
    steps = np.zeros((max(frames - 1, 1), model.nv))
    for t in range(frames - 1):
        mujoco.mj_differentiatePos(model, steps[t], 1 / fps, qpos[t], qpos[t + 1])
    velocity = 0.5 * (np.concatenate([steps[:1], steps])[:frames] + np.concatenate([steps, steps[-1:]])[:frames])
    if frames < 3:
        return velocity, np.zeros_like(velocity)
    inner = np.diff(steps, axis=0) * fps
    return velocity, np.concatenate([inner[:1], inner, inner[-1:]])


def _jerk(joint_pos: Array, fps: float) -> Array:
    """(T,) mean over joints of the third difference, rad/s^3; the frames at the ends take their neighbours'."""
    if len(joint_pos) < 4:
        return np.zeros(len(joint_pos))
    jerk = np.abs(np.diff(joint_pos, n=3, axis=0)).mean(axis=1) * fps**3
    return np.pad(jerk, (1, 2), mode="edge")


def _report(robot: Robot, forces: Forces, jerk: Array) -> DynamicsReport:
    ratio = (np.abs(forces.torque) / robot.torque_limit).max(axis=1)
    residual, near = forces.residual, forces.contact
    size = np.linalg.norm(residual[:, :3], axis=1)
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
