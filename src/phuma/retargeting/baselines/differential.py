"""Differential inverse kinematics on a MuJoCo model (mink), what both baselines stand on.

A step solves  min_d |W (J d + e)|^2 + damping |d|^2  subject to the joint limits, as a quadratic programme. The solver
is daqp (MIT): mink's default, quadprog, is GPL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import mink
import mujoco
import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.retargeting.limits import joint_bounds
from phuma.retargeting.metrics import MARGIN
from phuma.robots.kinematics import local_body_poses
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_spec

SOLVER = "daqp"
FIRST_DAMPING = 1e-6
LAST_DAMPING = 1e4


class Frame(NamedTuple):
    """A frame fixed to a robot's body, parallel to the body's own."""

    name: str
    body: str
    offset: Array
    """(3,) in the body's frame, metres"""


def shared_bodies(robot: Robot) -> tuple[Array, Array]:
    """(B, 3), (B, 4) wxyz: the robot's bodies in the shared pose, root at the origin."""
    pos, matrix = local_body_poses(robot, robot.shared_pose[None])
    return pos[0], rot.from_matrix(matrix[0])


def model_with(robot: Robot, frames: Sequence[Frame]) -> mujoco.MjModel:
    """The robot's model with a site at each frame and the limits that the baseline is told."""
    spec = robot_spec(robot)
    for frame in frames:
        spec.body(frame.body).add_site(name=frame.name, pos=np.asarray(frame.offset, dtype=float))
    model = spec.compile()
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in robot.joint_names]
    model.jnt_range[joints] = np.stack(joint_bounds(robot, MARGIN), axis=1)
    return model


class PointsTask(mink.Task):
    """Sites at given positions: e = x - x_target (3 P,), J = dx / dq, all points alike.

    mink's own frame task measures a distance in the moving frame along a screw, which equals the distance in the world
    only where the rotations agree; here no rotation is asked for.
    """

    def __init__(self, model: mujoco.MjModel, sites: Sequence[str]) -> None:
        super().__init__(cost=np.ones(3 * len(sites)))
        self.sites = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, name) for name in sites]
        self.target = np.zeros((len(self.sites), 3))

    def compute_error(self, configuration: mink.Configuration) -> Array:
        return (configuration.data.site_xpos[self.sites] - self.target).ravel()

    def compute_jacobian(self, configuration: mink.Configuration) -> Array:
        jacobian = np.empty((3 * len(self.sites), configuration.nv))
        for k, site in enumerate(self.sites):
            rows = jacobian[3 * k : 3 * k + 3]
            mujoco.mj_jacSite(configuration.model, configuration.data, rows, None, site)
        return jacobian


def settle(
    configuration: mink.Configuration,
    tasks: Sequence[mink.Task],
    limits: Sequence[mink.Limit],
    tolerance: float = 1e-4,
    steps: int = 100,
) -> int:
    """Solve to convergence from where `configuration` is (Levenberg-Marquardt): until a step lowers the cost by less
    than `tolerance` of it. A step that raises the cost is taken back and damped more. Returns the number of steps."""
    damping, cost = FIRST_DAMPING, _cost(configuration, tasks)
    for count in range(1, steps + 1):
        before = configuration.q.copy()
        move = mink.solve_ik(configuration, tasks, 1.0, SOLVER, damping, limits=limits)
        configuration.integrate_inplace(move, 1.0)
        after = _cost(configuration, tasks)
        if after <= cost:
            if cost - after <= tolerance * cost:
                return count
            cost, damping = after, max(damping / 10, FIRST_DAMPING)
            continue
        configuration.update(before)
        damping = max(100 * damping, 1e-3)
        if damping > LAST_DAMPING:
            return count
    return steps


def _cost(configuration: mink.Configuration, tasks: Sequence[mink.Task]) -> float:
    errors = (task.cost * task.compute_error(configuration) for task in tasks)
    return float(sum(e @ e for e in errors))


def started(robot: Robot, model: mujoco.MjModel, root_pos: Array, root_quat: Array) -> mink.Configuration:
    """The default pose at root_pos (3,), root_quat (4,) wxyz."""
    pose = np.clip(robot.default_pose, *joint_bounds(robot, MARGIN))
    return mink.Configuration(model, q=np.concatenate([root_pos, root_quat, pose]))


def within_limits(robot: Robot, fps: float, qpos: Array) -> Trajectory:
    """Return the trajectory of MuJoCo's coordinates (T, 7 + N). The quadratic programme keeps the joint limits within
    rounding; this keeps them exactly."""
    root_pos, root_quat, joint_pos = split_qpos(qpos)
    joint_pos = np.clip(joint_pos, *joint_bounds(robot, MARGIN))
    return Trajectory(robot.name, robot.joint_names, fps, root_pos, root_quat, joint_pos)
