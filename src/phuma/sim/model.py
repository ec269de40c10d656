"""Build the MJCF that a simulator needs: the robot on a floor, with motors, without shapes that are for the eye
alone."""

from __future__ import annotations

from functools import lru_cache

import mujoco

from phuma.errors import ConfigError
from phuma.robots.robot import Robot

CONTROL_RATE = 50.0
"""Control rate in Hz"""
MOST_ITERATIONS = 10
"""Iterations of the solver per physics step: each control step starts cold, and one iteration diverges"""


@lru_cache(maxsize=8)
def simulation_model(robot: Robot, substeps: int) -> mujoco.MjModel:
    """Return the robot with all its collision shapes on a floor, and a contact sensor for every body but feet and
    hands. The model is shared by all callers: whoever changes it takes a copy."""
    spec = mujoco.MjSpec.from_file(str(robot.model_file))
    for geom in list(spec.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[1, 0.005, 0.0001])
    add_missing_bodies(spec, robot)
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
