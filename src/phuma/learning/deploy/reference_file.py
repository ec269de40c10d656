"""Write a motion with all that a policy needs to follow it, for a deployment without phuma: `.npz` without pickle.
docs/formats/policy.md is the specification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from phuma.core.rotations import IDENTITY, Array, multiply
from phuma.io.atomic import save_npz
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand
from phuma.robots.folder import free_robot
from phuma.robots.robot import Robot

FORMAT, VERSION = "phuma-reference", 2
OF_STATE = ("root_pos", "root_quat", "root_linvel", "root_angvel", "joint_pos", "joint_vel")
OF_BODIES = ("body_pos", "body_quat")
"""For a policy that observes all bodies, in the order of its description's `key_bodies`"""


def save_reference(path: str | Path, library: MotionLibrary, number: int, info: PolicyInfo) -> None:
    """Write one of the library's motions for this policy, whole or not at all."""
    info.check(library.robot)
    task = info.task
    library = replace(library, robot=task.tracked(library.robot))
    references = expand(library, [number], task)
    state, frames = references.state, np.arange(len(references))
    anchor = library.robot.key_bodies.index(library.robot.anchor_body)
    arrays: dict[str, Array | str] = {
        "format": FORMAT,
        "version": np.array(VERSION),
        "motion": library.names[number],
        "robot": library.robot.name,
        "joint_names": np.array(info.joint_names),
        "fps": np.array(info.control_rate),
        "anchor_quat": state.body_quat[:, anchor],
        "base": references.base,
        "base_name": info.base,
        **robot_facts(library.robot),
    }
    for group in task.coming:
        assert group.coming is not None
        arrays[group.name] = references.features[group.name]
        arrays[f"{group.name}_rows"] = references.coming(group.coming, frames)
    if references.law is not None:
        arrays |= {f"law_{name}": _single(values) for name, values in references.law.strands.arrays().items()}
    names = (*OF_STATE, *OF_BODIES) if task.whole else OF_STATE
    save_npz(path, arrays | {name: getattr(state, name) for name in names})


def _single(values: Array) -> Array:
    return values.astype(np.float32) if values.dtype == float else values


def robot_facts(robot: Robot) -> dict[str, Array]:
    """Return what a controller has to know of the robot beside the policy's metadata: limits and rotors of its joints,
    where and how stiffly those are held that are locked, and the way from its root's rotation to its anchor's,

        q_anchor = q_root prod_i (rest_i R(axis_i, joint_i)) rest_last,   R(axis, angle) a rotation about an axis.
    """
    body, chain = robot.body_names.index(robot.anchor_body), []
    while body > 0:
        chain.append(body)
        body = int(robot.parents[body])
    joints: list[int] = []
    rest = [IDENTITY]
    for body in reversed(chain):
        rest[-1] = multiply(rest[-1], robot.body_quat[body])
        for joint in np.flatnonzero(robot.joint_body == body).tolist():
            joints.append(joint)
            rest.append(IDENTITY)
    free = free_robot(robot)
    held = free.joint_index(robot.locked)
    return {
        "locked_joints": np.array([free.joint_names[joint] for joint in held], dtype=str),
        "locked_pos": np.array([robot.locked[free.joint_names[joint]] for joint in held], dtype=np.float32),
        "locked_stiffness": free.stiffness[held].astype(np.float32),
        "locked_damping": free.damping[held].astype(np.float32),
        "joint_lower": robot.lower.astype(np.float32),
        "joint_upper": robot.upper.astype(np.float32),
        "armature": robot.armature.astype(np.float32),
        "anchor_joints": np.array(joints, dtype=np.int64),
        "anchor_axes": robot.joint_axis[joints].astype(np.float32).reshape(-1, 3),
        "anchor_rest": np.array(rest, dtype=np.float32),
    }
