"""Build the MJCF that a simulator needs: the robot on a floor, with motors, without shapes that are for the eye
alone."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_spec

CONTROL_RATE = 50.0
"""Control rate in Hz"""
MOST_ITERATIONS = 10
"""Iterations of the solver per physics step: each control step starts cold, and one iteration diverges"""


@lru_cache(maxsize=8)
def simulation_model(robot: Robot, substeps: int) -> mujoco.MjModel:
    """Return the robot with all its collision shapes on a floor, and a contact sensor for every body but feet and
    hands. The model is shared by all callers: whoever changes it takes a copy."""
    spec = robot_spec(robot)
    for geom in list(spec.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[1, 0.005, 0.0001])
    add_missing_bodies(spec, robot)
    return compiled(spec, robot, substeps)


def compiled(spec: mujoco.MjSpec, robot: Robot, substeps: int) -> mujoco.MjModel:
    """Return a robot on a floor as a model to simulate: with motors, contact sensors and options of ours, and none of
    its own sensors and actuators."""
    for unused in [*spec.sensors, *spec.actuators]:
        spec.delete(unused)
    add_motors(spec, robot)
    for body in quiet_bodies(robot):
        add_contact_sensor(spec, body)
    spec.option.timestep = 1 / (CONTROL_RATE * substeps)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    spec.option.iterations = MOST_ITERATIONS
    return spec.compile()


class PassiveJoints(NamedTuple):
    """What the joints of a model do to a motion without a controller; arrays are in the robot's order."""

    armature: Array
    """(N,) kg m^2, inertia of the rotors, seen at the joints"""
    friction_loss: Array
    """(N,) N m, dry friction"""
    passive_damping: Array
    """(N,) N m s/rad, beside the controllers'"""


def passive_joints(robot: Robot) -> PassiveJoints:
    """Return what the simulated joints do by themselves."""
    model = simulation_model(robot, 1)
    dofs = np.array([int(model.joint(name).dofadr[0]) for name in robot.joint_names])
    return PassiveJoints(model.dof_armature[dofs], model.dof_frictionloss[dofs], model.dof_damping[dofs])


def add_missing_bodies(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Add the bodies that the robot has and its model file has not: without mass, fixed to those that carry them."""
    for name, parent, pos in zip(robot.body_names, robot.parents, robot.body_pos):
        if spec.body(name) is None:
            spec.body(robot.body_names[parent]).add_body(name=name, pos=pos)


def end_bodies(robot: Robot) -> tuple[str, ...]:
    """Return the key bodies that are feet or hands: those of the soles and of the wrists."""
    hands = [robot.keypoint_body[robot.keypoints.index(f"{side}_wrist")] for side in ("left", "right")]
    ends = [robot.body_names[int(b)] for b in (*robot.sole_body[::2], *hands)]
    return tuple(name for name in robot.key_bodies if name in ends)


def quiet_bodies(robot: Robot) -> tuple[str, ...]:
    """Return the bodies that should touch nothing."""
    return tuple(name for name in robot.body_names if name not in end_bodies(robot))


def add_contact_sensor(spec: mujoco.MjSpec, body: str) -> None:
    """Add a sensor of the net contact force on a body, 3 numbers in the world."""
    sensor = spec.add_sensor(
        type=mujoco.mjtSensor.mjSENS_CONTACT, objtype=mujoco.mjtObj.mjOBJ_BODY, objname=body, name=f"contact_{body}"
    )
    sensor.intprm[:3] = [1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), 3, 1]


def add_motors(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Add a position controller per joint, in their order:  tau = clip(kp (target - q) - kd q', -limit, limit)."""
    if not robot.stiffness.all():
        without = robot.joint_names[int(robot.stiffness.argmin())]
        raise ConfigError(
            f"robot {robot.name}: joint {without} has no stiffness; give every motor a kp in its model.xml"
        )
    for name, kp, kd, limit in zip(robot.joint_names, robot.stiffness, robot.damping, robot.torque_limit):
        motor = spec.add_actuator(
            name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, forcelimited=True, forcerange=[-limit, limit]
        )
        motor.set_to_position(kp=kp, kv=kd)
