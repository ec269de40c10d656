"""Policies of holosoma's whole-body tracking, as its inference runs them: terms in the order of their names."""

from __future__ import annotations

from phuma.learning.deploy.dialects.dialect import Dialect
from phuma.learning.deploy.dialects.texts import JSON
from phuma.learning.env.terms import observations as obs
from phuma.robots.order import depth_first

TERMS = {
    "actions": (obs.previous_action,),
    "base_ang_vel": (obs.root_angvel,),
    "dof_pos": (obs.joint_pos,),
    "dof_vel": (obs.joint_vel,),
    "motion_command": (obs.reference_joint_pos, obs.reference_joint_vel),
    "motion_ref_ori_b": (obs.anchor_rotation,),
}

DIALECT = Dialect(
    name="holosoma",
    about="holosoma's inference: terms in the order of their names, a motion and the robot's URDF inside",
    order=depth_first,
    terms=TERMS,
    observed=tuple(TERMS),
    keys={
        "joint_names": "dof_names",
        "stiffness": "kp",
        "damping": "kd",
        "action_scale": "action_scale",
        "urdf": "robot_urdf",
    },
    texts=JSON,
    motion={
        "joint_pos": lambda frames, anchor: frames.joint_pos,
        "joint_vel": lambda frames, anchor: frames.joint_vel,
        "ref_pos_xyz": lambda frames, anchor: frames.body_pos[:, anchor],
        "ref_quat_xyzw": lambda frames, anchor: frames.body_quat[:, anchor][:, [1, 2, 3, 0]],
    },
    needs_motion=True,
    fixed={"command_ranges": None, "robot_urdf_path": "robot.urdf"},
)
