"""A robot posed, by MuJoCo and by the equation of `Robot`; what tests of robots share."""

from __future__ import annotations

import mujoco
import numpy as np

from phuma.core import rotations as rot
from phuma.robots import Robot

NAMES = ("g1", "h1_2")


def compiled(robot: Robot):
    return mujoco.MjModel.from_xml_path(str(robot.model_file))


def posed(model, joints, height: float = 0.0):
    """The model's data at these joint angles, its root level at the given height."""
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[3:7], data.qpos[7:] = (0, 0, height), rot.IDENTITY, joints
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return data


def forward(robot: Robot, joints) -> tuple[np.ndarray, np.ndarray]:
    """Body positions (B, 3) and rotations (B, 4) wxyz with the root at the origin, by the equation of `Robot`."""
    pos, quat = np.zeros((robot.n_bodies, 3)), np.tile(rot.IDENTITY, (robot.n_bodies, 1))
    for b in range(robot.n_bodies):
        if (a := robot.parents[b]) >= 0:
            pos[b] = pos[a] + rot.rotate(quat[a], robot.body_pos[b])
            quat[b] = rot.multiply(quat[a], robot.body_quat[b])
        for j in np.flatnonzero(robot.joint_body == b):
            step = rot.from_rotvec(joints[j] * robot.joint_axis[j])
            anchor = robot.joint_anchor[j]
            pos[b] += rot.rotate(quat[b], anchor - rot.rotate(step, anchor))
            quat[b] = rot.multiply(quat[b], step)
    return pos, quat


def points(robot: Robot, joints, body, offset) -> np.ndarray:
    pos, quat = forward(robot, joints)
    return pos[body] + rot.rotate(quat[body], offset)


def other(name: str) -> str:
    return name.replace("left", "#").replace("right", "left").replace("#", "right")


def swap(names: tuple[str, ...]) -> list[int]:
    return [names.index(other(n)) for n in names]


def some_poses(robot: Robot, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(robot.lower, robot.upper, (count, robot.n_joints))


def half_extent(model, data, geom: int) -> np.ndarray:
    """(3,) of a geom in the world, exact for the shapes used here."""
    matrix, size = data.geom_xmat[geom].reshape(3, 3), model.geom_size[geom]
    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.full(3, size[0])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return size[0] + np.abs(matrix[:, 2]) * size[1]
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return size[0] * np.sqrt(np.maximum(0, 1 - matrix[:, 2] ** 2)) + np.abs(matrix[:, 2]) * size[1]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.sqrt((matrix**2) @ size**2)
    assert kind == mujoco.mjtGeom.mjGEOM_BOX
    return np.abs(matrix) @ size
