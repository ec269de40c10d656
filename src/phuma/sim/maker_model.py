"""The maker's own model file of a robot, with our controllers in place of its actuators.

Joints are matched by name: one that is locked is welded at its angle, one that the robot has not, as of fingers, is
fixed at zero. Rotor inertias are the robot's where the file has none: the controllers' gains were chosen with them, and
without them joints shake.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.robots.robot import Robot
from phuma.robots.untrusted import check_folder_model
from phuma.robots.welding import weld
from phuma.sim.model import compiled
from phuma.sim.mujoco_cpu import MujocoSimulation


@lru_cache(maxsize=2)
def maker_model(path: Path, robot: Robot, substeps: int) -> mujoco.MjModel:
    """Return the robot of a model file on its own floor, or on ours where it has none; every fault of the file is a
    ReadError. The model is shared by all callers: whoever changes it takes a copy."""
    check_folder_model(path)
    spec = mujoco.MjSpec.from_file(str(path))
    _check_names(path, spec, robot)
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    if not any(geom.type == plane for geom in spec.worldbody.geoms):
        spec.worldbody.add_geom(type=plane, size=[0, 0, 1], friction=[1, 0.005, 0.0001])
    try:
        _fix_joints(spec, robot)
        model = compiled(spec, robot, substeps)
    except ValueError as e:
        raise ReadError(path, f"MuJoCo cannot compile it with our controllers: {e}") from None
    if model.nq != 7 + robot.n_joints or model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
        raise ReadError(path, "is not one robot on a floor: expected a free joint and then hinges")
    columns = 6 + joint_columns(model, robot)
    model.dof_armature[columns] = np.where(model.dof_armature[columns] > 0, model.dof_armature[columns], robot.armature)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _fix_joints(spec: Any, robot: Robot) -> None:
    """Leave a file no joints but the robot's: those that it has locked are where they are locked, others at zero."""
    for key in list(spec.keys):  # poses of all joints that were there
        spec.delete(key)
    if locked := {name: angle for name, angle in robot.locked.items() if spec.joint(name) is not None}:
        weld(spec, locked)
    for joint in list(spec.joints):
        if joint.type != mujoco.mjtJoint.mjJNT_FREE and joint.name not in robot.joint_names:
            spec.delete(joint)


def _check_names(path: Path, spec: Any, robot: Robot) -> None:
    """Check that all joints and bodies of the robot are in a file."""
    for kind, wanted, found in (
        ("joint", robot.joint_names, {joint.name for joint in spec.joints}),
        ("body", robot.body_names, {body.name for body in spec.bodies}),
    ):
        if missing := [name for name in wanted if name not in found]:
            raise ReadError(path, f"has no {kind} {missing[0]!r}, which {robot.name} has; is it of another robot?")


def joint_columns(model: mujoco.MjModel, robot: Robot) -> Array:
    """Return (N,) where the robot's joints are among the model's, in the robot's order."""
    return np.array([model.joint(name).qposadr[0] - 7 for name in robot.joint_names])


class MakerSimulation(MujocoSimulation):
    """A simulation by a model that may have the robot's joints in another order."""

    def __init__(self, robot: Robot, num_envs: int, substeps: int, model: mujoco.MjModel) -> None:
        super().__init__(robot, num_envs, substeps, model=model)
        joints = joint_columns(model, robot)
        self._theirs = np.arange(self._now.shape[1])
        for first in (1 + 7, 1 + model.nq + 6):
            self._theirs[first + joints] = first + np.arange(len(joints))
        self._ours = np.argsort(self._theirs)

    def bare(self, start: Array, target: Array) -> None:
        super().bare(np.ascontiguousarray(start[:, self._theirs]), target)
        self._path[:] = self._path[:, :, self._ours]
