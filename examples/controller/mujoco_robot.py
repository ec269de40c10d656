"""MuJoCo as the robot: it measures what a robot measures, and its motors do what they are sent."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import mujoco
import numpy as np
import rotations as rot
from controller import Command
from policy import State


def fix(spec: mujoco.MjSpec, compiled: mujoco.MjModel, joint: mujoco.MjsJoint, angle: float) -> None:
    """Take a hinge out of a model, at an angle; its body has no other one."""
    if angle:
        body, own = joint.parent, compiled.joint(joint.name)
        place, turn = compiled.body(body.name), rot.about(own.axis, angle)
        body.pos = place.pos + rot.turned(place.quat, own.pos - rot.turned(turn, own.pos))
        body.alt.type, body.quat = mujoco.mjtOrientation.mjORIENTATION_QUAT, rot.multiply(place.quat, turn)
    spec.delete(joint)


class MujocoRobot:
    """A robot by any model file of it, joints by name, its own actuators off; steps of `dt` seconds. Joints that the
    policy does not move are fixed, at the angles of `locked` or at zero."""

    def __init__(
        self,
        model: Path,
        joints: Sequence[str],
        torque_limit: np.ndarray,
        armature: np.ndarray,
        dt: float = 0.002,
        locked: Mapping[str, float] = {},
    ) -> None:
        spec = mujoco.MjSpec.from_file(str(model))
        for unused in [*spec.actuators, *spec.sensors, *spec.keys]:
            spec.delete(unused)
        compiled = spec.compile()
        for joint in list(spec.joints):
            if joint.type != mujoco.mjtJoint.mjJNT_FREE and joint.name not in joints:
                fix(spec, compiled, joint, locked.get(joint.name, 0.0))
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        if not any(geom.type == plane for geom in spec.worldbody.geoms):
            spec.worldbody.add_geom(type=plane, size=[0, 0, 1])
        for name, most in zip(joints, torque_limit):
            motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.forcelimited, motor.forcerange = True, [-most, most]
            motor.set_to_position(kp=1.0, kv=1.0)
        spec.option.timestep, spec.option.integrator = dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.place = np.array([self.model.joint(name).qposadr[0] for name in joints])
        self.speed = self.place - 1
        rotors = self.model.dof_armature  # a file that has none would shake under gains that were made for them
        rotors[self.speed] = np.where(rotors[self.speed] > 0, rotors[self.speed], armature)
        mujoco.mj_setConst(self.model, self.data)

    def put(self, root_pos, root_quat, q, root_linvel=(0, 0, 0), root_angvel=(0, 0, 0), dq=0.0) -> None:
        """Put the robot somewhere."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:3], self.data.qpos[3:7], self.data.qpos[self.place] = root_pos, root_quat, q
        self.data.qvel[:3], self.data.qvel[3:6], self.data.qvel[self.speed] = root_linvel, root_angvel, dq
        mujoco.mj_forward(self.model, self.data)

    def put_on_floor(self, q: np.ndarray, facing: np.ndarray) -> None:
        """Put the robot upright on the floor in a pose, by bisection of its height."""
        low, high = 0.0, 3.0
        for _ in range(20):
            middle = (low + high) / 2
            self.put([0, 0, middle], facing, q)
            touching = (self.model.geom_bodyid[self.data.contact.geom] == 0).any()
            low, high = (middle, high) if touching else (low, middle)

    @property
    def time(self) -> float:
        """Return the robot's own time in s."""
        return self.data.time

    def read(self) -> State:
        """Return what the robot measures."""
        data = self.data
        return State(data.qpos[3:7].copy(), data.qvel[3:6].copy(), data.qpos[self.place], data.qvel[self.speed])

    def write(self, command: Command) -> None:
        """Send the motors a command, which they obey until the next one."""
        self.model.actuator_gainprm[:, 0] = 1.0
        self.model.actuator_biasprm[:, 1], self.model.actuator_biasprm[:, 2] = -command.kp, -command.kd
        self.data.ctrl[:] = command.kp * command.q + command.kd * command.dq + command.tau

    def advance(self) -> None:
        """Let one motor step go by."""
        mujoco.mj_step(self.model, self.data)
