"""What it costs to be elsewhere than the reference: squares of small deviations x in the coordinates of `tangent`.

    x' Q x + r u' u,   Q = Q_pose + Q_velocity + Q_bodies

Each term is the square of something with its weight, made linear at the reference, so Q is known before anything moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot


@dataclass(frozen=True)
class CostCfg:
    """Weights of the terms."""

    root: float = 20.0
    """Weight of the root's position (1/m^2) and rotation (1/rad^2)"""
    joints: float = 2.0
    """Weight of joint angles, 1/rad^2"""
    root_linvel: float = 1.0
    root_angvel: float = 0.3
    joint_vel: float = 0.01
    bodies: float = 140.0
    """Weight of the positions of key bodies, 1/m^2 each"""
    feet: float = 40.0
    """Weight that the feet have beside that of all key bodies"""
    offset: float = 6.0
    """Weight r of the offsets of motor targets from the base, 1/rad^2"""
    end: float = 5.0
    """Factor on the cost of the last frame, after which nothing is known"""


def pose_cost(cfg: CostCfg, joints: int) -> Array:
    """Return (V, V):  w_root |dp|^2 + w_root |dR|^2 + w_joints |dq|^2."""
    return np.diag([cfg.root] * 6 + [cfg.joints] * joints)


def velocity_cost(cfg: CostCfg, joints: int) -> Array:
    """Return (V, V):  w_linvel |dv|^2 + w_angvel |dw|^2 + w_joint_vel |dq'|^2."""
    return np.diag([cfg.root_linvel] * 3 + [cfg.root_angvel] * 3 + [cfg.joint_vel] * joints)


def body_cost(cfg: CostCfg, model: mujoco.MjModel, data: mujoco.MjData, robot: Robot, qpos: Array) -> Array:
    """Return (V, V):  sum_b w_b |J_b dq|^2  with the Jacobians J_b of the key bodies' positions at the pose `qpos`."""
    data.qpos = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    feet = {robot.body_names[int(b)] for b in robot.sole_body}
    jacobian, rows = np.empty((3, model.nv)), []
    for name in robot.key_bodies:
        mujoco.mj_jacBody(model, data, jacobian, None, model.body(name).id)
        rows.append(np.sqrt(cfg.bodies + cfg.feet * (name in feet)) * jacobian)
    all_rows = np.concatenate(rows)
    return all_rows.T @ all_rows


def deviation_costs(cfg: CostCfg, model: mujoco.MjModel, robot: Robot, qpos: Array) -> Array:
    """Return (T, 2V, 2V) Q of the frames of a reference at positions (T, 7 + N)."""
    nv, joints, data = model.nv, robot.n_joints, mujoco.MjData(model)
    out = np.zeros((len(qpos), 2 * nv, 2 * nv))
    out[:, :nv, :nv], out[:, nv:, nv:] = pose_cost(cfg, joints), velocity_cost(cfg, joints)
    for t, pose in enumerate(qpos):
        out[t, :nv, :nv] += body_cost(cfg, model, data, robot, pose)
    return out
