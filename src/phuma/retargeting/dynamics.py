"""Physics of any motion of a robot: the torques and the ground forces that it would take, by inverse dynamics.

    M(q) a + c(q, v) = [r; tau] + sum_i J_i(q)^T f_i

with v and a from finite differences. Forces f_i act at those corners of the soles that are near the ground, within the
friction cone; tau are the joints' torques, and r, at the root, is what is left over: no motor acts there, so a motion
that physics allows has r = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
from scipy.optimize import nnls

from phuma.robots.robot import Robot
from phuma.rotations import Array

NEAR_GROUND = 0.02
"""metres above the ground up to which a corner can bear: what a foot yields and a recording errs"""
FRICTION = 0.8
TORQUE_SHARE = 1e-2
"""Of the root's residual: forces are chosen to take up the residual, and only then to spare the motors"""
EDGES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


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
    model = _model(robot)
    qpos = np.concatenate([root_pos, root_quat, joint_pos], axis=1)
    velocity, acceleration = _derivatives(model, qpos, fps)
    weight = float(model.body_subtreemass[1] * np.linalg.norm(model.opt.gravity))
    unit = np.concatenate([np.full(6, weight), robot.torque_limit])
    feet = robot.sole_body[::2] + 1  # MuJoCo counts the world as body 0
    force, near = np.empty((len(qpos), 6 + robot.n_joints)), np.zeros(len(qpos), dtype=bool)
    vertical = np.zeros(len(qpos))
    data = mujoco.MjData(model)
    for t in range(len(qpos)):
        data.qpos, data.qvel, data.qacc = qpos[t], velocity[t], acceleration[t]
        mujoco.mj_inverse(model, data)
        force[t] = data.qfrc_inverse
        columns = _ground_columns(model, data, feet, robot.sole_corners, near_ground, friction)
        if columns is not None:
            near[t] = True
            push = _bear(columns / unit[:, None], force[t] / unit)
            force[t] -= columns @ push
            vertical[t] = push.sum() / weight
    return _report(robot, force, weight, near, vertical, _jerk(joint_pos, fps))


@lru_cache(maxsize=8)
def _model(robot: Robot) -> mujoco.MjModel:
    """The robot without contacts and joint limits: forces of either are what is to be found, not given."""
    model = mujoco.MjModel.from_xml_path(str(robot.model_file))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return model


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


def _ground_columns(
    model: mujoco.MjModel, data: mujoco.MjData, feet: Array, corners: Array, near_ground: float, friction: float
) -> Array | None:
    """(V, C) what each unit force along an edge of a friction pyramid does to the coordinates; None in the air.

    At a corner x of foot b the Jacobian is  J = J_b - [x - x_b] x W_b,  with J_b and W_b of the foot's frame."""
    out = []
    for body, local in zip(feet, corners):
        arm = local @ data.xmat[body].reshape(3, 3).T
        arm = arm[data.xpos[body, 2] + arm[:, 2] < near_ground]
        if not len(arm):
            continue
        place, turn = np.empty((3, model.nv)), np.empty((3, model.nv))
        mujoco.mj_jacBody(model, data, place, turn, int(body))
        jacobian = place - _skew(arm) @ turn
        normal = jacobian[:, 2:3]
        out.append((normal + friction * EDGES @ jacobian[:, :2]).reshape(-1, model.nv))
    return np.concatenate(out).T if out else None


def _skew(v: Array) -> Array:
    """(A, 3, 3) with  _skew(v) w = v x w."""
    out = np.zeros((len(v), 3, 3))
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = v[:, 0], v[:, 1], v[:, 2]
    return out - out.swapaxes(1, 2)


def _bear(columns: Array, force: Array) -> Array:
    """(C,) forces p >= 0 that minimise  |r|^2 + share^2 |tau / limit|^2  with  [r; tau] = force - columns p."""
    share = np.ones(len(force))
    share[6:] = TORQUE_SHARE
    return nnls(share[:, None] * columns, share * force, maxiter=100 * columns.shape[1])[0]


def _jerk(joint_pos: Array, fps: float) -> Array:
    """(T,) mean over joints of the third difference, rad/s^3; the frames at the ends take their neighbours'."""
    if len(joint_pos) < 4:
        return np.zeros(len(joint_pos))
    jerk = np.abs(np.diff(joint_pos, n=3, axis=0)).mean(axis=1) * fps**3
    return np.pad(jerk, (1, 2), mode="edge")


def _report(robot: Robot, force: Array, weight: float, near: Array, vertical: Array, jerk: Array) -> DynamicsReport:
    ratio = (np.abs(force[:, 6:]) / robot.torque_limit).max(axis=1)
    residual = force[:, :6] / weight
    size = np.linalg.norm(residual[:, :3], axis=1)
    return DynamicsReport(
        peak_torque=float(ratio.max(initial=0.0)),
        frames_over_limit=100 * float(np.mean(ratio > 1)),
        residual_contact=float(size[near].mean()) if near.any() else 0.0,
        residual_flight=float(size[~near].mean()) if not near.all() else 0.0,
        residual_moment=float(np.linalg.norm(residual[:, 3:], axis=1).mean()),
        mean_jerk=float(jerk.mean()),
        joint_torque=force[:, 6:],
        torque_ratio=ratio,
        residual=residual,
        ground_force=vertical,
        contact=near,
        jerk=jerk,
    )
