"""A robot's model as MuJoCo compiles it, with the joints that are locked welded at their angles.

A joint j turns its body by S_j(q) behind the body's place B in its parent:  T = T_a B S_1(q_1) ... S_n(q_n).  Welded at
c_j it is part of that place,  B <- B S_j(c_j),  and a joint i before it on the same body turns in the frame behind it,
S_i <- S_j(c_j)^-1 S_i S_j(c_j).  Bodies, masses and shapes stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.robots.model import load_mujoco
from phuma.robots.robot import Robot


def robot_model(robot: Robot) -> Any:
    """Return the robot's compiled model, without a floor."""
    mujoco = load_mujoco()
    if robot.locked:
        return robot_spec(robot).compile()
    return mujoco.MjModel.from_xml_path(str(robot.model_file))


def robot_spec(robot: Robot) -> Any:
    """Return the robot's model to be edited and compiled."""
    spec = load_mujoco().MjSpec.from_file(str(robot.model_file))
    if robot.locked:
        weld(spec, robot.locked)
    return spec


def weld(spec: Any, locked: Mapping[str, float]) -> None:
    """Take joints out of a model, each at an angle [rad]. Shapes that may touch go on doing so."""
    for key in list(spec.keys):
        spec.delete(key)  # its angles are of all joints
    spec.compiler.fusestatic = False
    free = spec.compile()
    places = _places(free, locked)
    _delete_users(spec, locked)
    for name in locked:
        spec.delete(spec.joint(name))
    for b, (pos, quat, joints) in places.items():
        _put(spec, spec.body(free.body(b).name), pos, quat)
        for j, (anchor, axis) in joints.items():
            joint = spec.joint(free.joint(j).name)
            if joint.frame is not None:
                joint.set_frame(joint.parent.add_frame())
            joint.pos, joint.axis = anchor, axis
    _keep_pairs(spec, free)


def _places(free: Any, locked: Mapping[str, float]) -> dict[int, tuple[Any, Any, dict[int, tuple[Any, Any]]]]:
    """Return, by body, its place in its parent with the locked joints in it, and anchors and axes of its other ones."""
    out: dict[int, tuple[Any, Any, dict[int, tuple[Any, Any]]]] = {}
    for j in sorted(free.joint(name).id for name in locked):
        b, axis, anchor = int(free.jnt_bodyid[j]), free.jnt_axis[j], free.jnt_pos[j]
        pos, quat, others = out.get(b, (free.body_pos[b].copy(), free.body_quat[b].copy(), {}))
        angle = locked[free.joint(j).name] - free.qpos0[free.jnt_qposadr[j]]
        turn = rot.from_rotvec(angle * axis)
        shift, back = anchor - rot.rotate(turn, anchor), rot.conjugate(turn)
        for i in range(int(free.body_jntadr[b]), j):
            if free.joint(i).name not in locked:
                at, along = others.get(i, (free.jnt_pos[i], free.jnt_axis[i]))
                others[i] = rot.rotate(back, at - shift), rot.rotate(back, along)
        out[b] = pos + rot.rotate(quat, shift), rot.multiply(quat, turn), others
    return out


def _put(spec: Any, body: Any, pos: Any, quat: Any) -> None:
    """Place a body in its parent, whatever words its element has for that."""
    if body.frame is not None:
        body.set_frame(body.parent.add_frame())
    body.alt.type = load_mujoco().mjtOrientation.mjORIENTATION_QUAT
    body.pos, body.quat = pos, quat


def _delete_users(spec: Any, locked: Mapping[str, float]) -> None:
    """Delete motors and sensors of the locked joints."""
    mujoco = load_mujoco()
    on_joint = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    gone = [a.name for a in spec.actuators if a.trntype in on_joint and a.target in locked]
    sensed = {mujoco.mjtObj.mjOBJ_JOINT: locked, mujoco.mjtObj.mjOBJ_ACTUATOR: gone}
    for sensor in list(spec.sensors):
        if sensor.objname in sensed.get(sensor.objtype, ()):
            spec.delete(sensor)
    for actuator in list(spec.actuators):
        if actuator.trntype in on_joint and actuator.target in locked:
            spec.delete(actuator)


def _keep_pairs(spec: Any, free: Any) -> None:
    """Name the pairs of shapes that may touch while their joint is free, and that MuJoCo leaves out once it is welded
    as it takes welded bodies for one, whose parent and children may not touch it."""
    welded = spec.compile()
    family = _related(welded) & ~_related(free)
    for a, b in np.argwhere(np.triu(family & ~np.equal.outer(welded.body_weldid, welded.body_weldid))):
        if _excluded(free, int(a), int(b)):
            continue
        for first in _touching(spec.body(free.body(int(a)).name)):
            for second in _touching(spec.body(free.body(int(b)).name)):
                if (first.contype & second.conaffinity) | (second.contype & first.conaffinity):
                    spec.add_pair(geomname1=first.name, geomname2=second.name)


def _related(model: Any) -> Any:
    """(B, B) bool: bodies that MuJoCo takes for parent and child."""
    own = model.body_weldid
    parent = own[model.body_parentid[own]]
    child = np.equal.outer(own, parent) & (own[:, None] > 0)
    return child | child.T


def _excluded(model: Any, a: int, b: int) -> bool:
    return bool({(a << 16) + b, (b << 16) + a} & {int(s) for s in model.exclude_signature})


def _touching(body: Any) -> list[Any]:
    """Return a body's shapes that may touch others, each with a name."""
    out = [geom for geom in body.geoms if geom.contype or geom.conaffinity]
    for k, geom in enumerate(out):
        geom.name = geom.name or f"{body.name}/shape{k}"
    return out
