"""A robot as a URDF: its bodies, joints and limits, without shapes."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import mujoco
import numpy as np

from phuma.core.rotations import Array, to_matrix
from phuma.errors import ConfigError
from phuma.robots.robot import Robot


def urdf_text(robot: Robot) -> str:
    """Return the URDF; a joint that does not turn about its body's origin, or shares it, cannot be said in one."""
    if np.abs(robot.joint_anchor).max() > 1e-9 or len(set(robot.joint_body.tolist())) != robot.n_joints:
        raise ConfigError(f"robot {robot.name} has joints off their bodies' origins, which no URDF can say")
    model = mujoco.MjModel.from_xml_path(str(robot.model_file))
    joint_of = {int(body): number for number, body in enumerate(robot.joint_body)}
    root = ET.Element("robot", name=robot.name)
    for number, name in enumerate(robot.body_names):
        _add_link(root, name, model.body(name))
        if robot.parents[number] >= 0:
            _add_joint(root, robot, number, joint_of.get(number))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _add_link(root: ET.Element, name: str, body: Any) -> None:
    inertial = ET.SubElement(ET.SubElement(root, "link", name=name), "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(body.ipos), rpy=_numbers(_roll_pitch_yaw(body.iquat)))
    ET.SubElement(inertial, "mass", value=_numbers(body.mass))
    own = dict(zip(("ixx", "iyy", "izz"), map(str, body.inertia.tolist())))
    ET.SubElement(inertial, "inertia", {**own, "ixy": "0", "ixz": "0", "iyz": "0"})


def _add_joint(root: ET.Element, robot: Robot, body: int, joint: int | None) -> None:
    """Add the joint between a body and its parent, which is fixed if no joint of the robot's is there."""
    name = robot.body_names[body] if joint is None else robot.joint_names[joint]
    out = ET.SubElement(root, "joint", name=name, type="fixed" if joint is None else "revolute")
    turned = _numbers(_roll_pitch_yaw(robot.body_quat[body]))
    ET.SubElement(out, "origin", xyz=_numbers(robot.body_pos[body]), rpy=turned)
    ET.SubElement(out, "parent", link=robot.body_names[robot.parents[body]])
    ET.SubElement(out, "child", link=robot.body_names[body])
    if joint is not None:
        names = {"lower": "lower", "upper": "upper", "effort": "torque_limit", "velocity": "velocity_limit"}
        ET.SubElement(out, "axis", xyz=_numbers(robot.joint_axis[joint]))
        ET.SubElement(out, "limit", {key: str(float(getattr(robot, own)[joint])) for key, own in names.items()})


def _roll_pitch_yaw(quat: Array) -> Array:
    """Return (3,) rad: rotations about the fixed axes x, then y, then z, of wxyz."""
    m = to_matrix(np.asarray(quat, dtype=float))
    return np.array([np.arctan2(m[2, 1], m[2, 2]), -np.arcsin(np.clip(m[2, 0], -1, 1)), np.arctan2(m[1, 0], m[0, 0])])


def _numbers(values: Array) -> str:
    return " ".join(str(float(value)) for value in np.atleast_1d(values))
