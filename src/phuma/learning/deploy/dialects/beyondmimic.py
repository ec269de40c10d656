"""Policies of whole_body_tracking (BeyondMimic), as its motion_tracking_controller runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from phuma.core.rotations import Array
from phuma.learning.deploy.dialects.dialect import Dialect
from phuma.learning.deploy.dialects.texts import COMMAS
from phuma.learning.env.observation import ObservationTerm
from phuma.learning.env.terms import observations as obs
from phuma.robots.order import breadth_first
from phuma.sim.state import State

TERMS: Mapping[str, tuple[ObservationTerm, ...]] = {
    "command": (obs.reference_joint_pos, obs.reference_joint_vel),
    "motion_anchor_pos_b": (obs.anchor_position,),
    "motion_anchor_ori_b": (obs.anchor_rotation,),
    "base_lin_vel": (obs.sensed_root_linvel,),
    "base_ang_vel": (obs.root_angvel,),
    "joint_pos": (obs.joint_pos,),
    "joint_vel": (obs.joint_vel,),
    "actions": (obs.previous_action,),
}
OBSERVED = ("command", "motion_anchor_ori_b", "base_ang_vel", "joint_pos", "joint_vel", "actions")
KEYS = {
    "run": "run_path",
    "joint_names": "joint_names",
    "stiffness": "joint_stiffness",
    "damping": "joint_damping",
    "default_pose": "default_joint_pos",
    "commands": "command_names",
    "observations": "observation_names",
    "action_scale": "action_scale",
    "anchor_body": "anchor_body_name",
    "key_bodies": "body_names",
}
MOTION: Mapping[str, Callable[[State, int], Array]] = {
    "joint_pos": lambda frames, anchor: frames.joint_pos,
    "joint_vel": lambda frames, anchor: frames.joint_vel,
    "body_pos_w": lambda frames, anchor: frames.body_pos,
    "body_quat_w": lambda frames, anchor: frames.body_quat,
    "body_lin_vel_w": lambda frames, anchor: frames.body_linvel,
    "body_ang_vel_w": lambda frames, anchor: frames.body_angvel,
}

DIALECT = Dialect(
    name="beyondmimic",
    about="whole_body_tracking and its motion_tracking_controller: joints in IsaacLab's order, a motion inside",
    order=breadth_first,
    terms=TERMS,
    observed=OBSERVED,
    keys=KEYS,
    texts=COMMAS,
    motion=MOTION,
    needs_motion=True,
)
