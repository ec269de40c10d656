"""Write a motion with all that a policy needs to follow it, for a deployment without phuma: `.npz` without pickle.
docs/formats/policy.md is the specification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from phuma.core.rotations import Array
from phuma.io.atomic import save_npz
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand

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
    }
    for group in task.coming:
        assert group.coming is not None
        arrays[group.name] = references.features[group.name]
        arrays[f"{group.name}_rows"] = references.coming(group.coming, frames)
    names = (*OF_STATE, *OF_BODIES) if task.whole else OF_STATE
    save_npz(path, arrays | {name: getattr(state, name) for name in names})
