"""Self-collision of any motion of a robot, by MuJoCo on the robot's own collision shapes."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model


@lru_cache(maxsize=8)
def _model(robot: Robot) -> mujoco.MjModel:
    return robot_model(robot)


def self_penetration(robot: Robot, trajectory: Trajectory) -> Array:
    """(T,) metres by which the robot's shapes are inside one another, at the deepest place; 0 where none touch.

    MuJoCo's rules say which shapes count: not those of one body, of parent and child, or of pairs that the model
    excludes. The ground does not count.
    """
    assert trajectory.joint_names == robot.joint_names
    model = _model(robot)
    data = mujoco.MjData(model)
    out = np.zeros(len(trajectory))
    for t, qpos in enumerate(trajectory.qpos):
        data.qpos = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        own = (model.geom_bodyid[data.contact.geom] > 0).all(axis=1)  # body 0 is the world, with whatever floor it has
        out[t] = max(0.0, -data.contact.dist[own].min(initial=0.0))
    return out
