"""Self-collision of any motion of a robot, by MuJoCo on the robot's own collision shapes."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np

from phuma.robots.robot import Robot
from phuma.rotations import Array


@lru_cache(maxsize=8)
def _model(robot: Robot) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(robot.model_file))


def self_penetration(robot: Robot, root_pos: Array, root_quat: Array, joint_pos: Array) -> Array:
    """(T,) metres by which the robot's shapes are inside one another, at the deepest place; 0 where none touch.

    root_pos (T, 3), root_quat (T, 4) wxyz, joint_pos (T, N). MuJoCo's rules say which shapes count: not those of one
    body, of parent and child, or of pairs that the model excludes. The ground does not count.
    """
    model = _model(robot)
    data = mujoco.MjData(model)
    out = np.zeros(len(joint_pos))
    for t in range(len(joint_pos)):
        data.qpos[:3], data.qpos[3:7], data.qpos[7:] = root_pos[t], root_quat[t], joint_pos[t]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        own = (model.geom_bodyid[data.contact.geom] > 0).all(axis=1)  # body 0 is the world, with whatever floor it has
        out[t] = max(0.0, -data.contact.dist[own].min(initial=0.0))
    return out
