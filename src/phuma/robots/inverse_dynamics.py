"""The forces that a given motion of a robot takes.

    M(q) a + c(q, v) = [r; tau] + sum_i J_i(q)^T f_i

Forces f_i act at those corners of the soles that are near the ground, within the friction cone; tau are the joints'
torques, and r, at the root, is what is left over: no motor acts there, so a motion that physics allows has r = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model

NEAR_GROUND = 0.02
"""metres above the ground up to which a corner can bear: what a foot yields and a recording errs"""
FRICTION = 0.8
TORQUE_SHARE = 1e-2
"""Of the root's residual: forces are chosen to take up the residual, and only then to spare the motors"""
EDGES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


@dataclass(frozen=True, eq=False)
class Forces:
    """Body weights are forces in units of the robot's weight."""

    torque: Array
    """(T, N) Nm"""
    residual: Array
    """(T, 6) force in the world [body weights] and moment in the root's frame [body weights x metre]"""
    vertical: Array
    """(T,) of both feet, body weights"""
    contact: Array
    """(T,) bool: a corner of a sole is near the ground"""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """How fast a robot moves along a trajectory, in MuJoCo's coordinates (T, 6 + N): the root's linear ones in the
    world, its angular ones in its own frame, the joints'."""

    velocity: Array
    """(T, 6 + N) m/s, rad/s"""
    acceleration: Array
    """(T, 6 + N) m/s^2, rad/s^2"""

    @property
    def root_linvel(self) -> Array:
        """(T, 3) m/s in the world"""
        return self.velocity[:, :3]

    @property
    def root_angvel(self) -> Array:
        """(T, 3) rad/s in the root's frame, as a gyroscope there has it"""
        return self.velocity[:, 3:6]

    @property
    def joint_vel(self) -> Array:
        """(T, N) rad/s"""
        return self.velocity[:, 6:]


def derivatives(trajectory: Trajectory) -> Derivatives:
    """Return velocities and accelerations along a trajectory, by central differences; the first and the last frame have
    the accelerations of their neighbours."""
    path, fps = trajectory.double(), trajectory.fps
    if len(path) < 2:
        still = np.zeros((len(path), 6 + len(path.joint_names)))
        return Derivatives(still, still)
    turn = rot.to_rotvec(rot.multiply(rot.conjugate(path.root_quat[:-1]), path.root_quat[1:]))
    step = np.concatenate([np.diff(path.root_pos, axis=0), turn, np.diff(path.joint_pos, axis=0)], axis=1) * fps
    velocity = 0.5 * (np.concatenate([step[:1], step]) + np.concatenate([step, step[-1:]]))
    if len(step) < 2:
        return Derivatives(velocity, np.zeros_like(velocity))
    inner = np.diff(step, axis=0) * fps
    return Derivatives(velocity, np.concatenate([inner[:1], inner, inner[-1:]]))


def inverse_dynamics(
    robot: Robot,
    trajectory: Trajectory,
    rates: Derivatives,
    near_ground: float = NEAR_GROUND,
    friction: float = FRICTION,
) -> Forces:
    """Return the forces along a trajectory with these velocities and accelerations; the ground is z = 0."""
    assert trajectory.joint_names == robot.joint_names
    qpos, velocity, acceleration = trajectory.qpos, rates.velocity, rates.acceleration
    model = free_model(robot)
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
    return Forces(force[:, 6:], force[:, :6] / weight, vertical, near)


@lru_cache(maxsize=8)
def free_model(robot: Robot) -> mujoco.MjModel:
    """The robot without contacts and joint limits: forces of either are what is to be found, not given."""
    model = robot_model(robot)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return model


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
    from scipy.optimize import nnls  # takes half a second to load: not for `--help`

    share = np.ones(len(force))
    share[6:] = TORQUE_SHARE
    return nnls(share[:, None] * columns, share * force, maxiter=100 * columns.shape[1])[0]
