"""Policies of mjlab, and of unitree_rl_mjlab, which reads a deploy.yaml beside them."""

from __future__ import annotations

from phuma.learning.deploy.dialects.beyondmimic import KEYS, MOTION, OBSERVED, TERMS
from phuma.learning.deploy.dialects.dialect import Dialect
from phuma.learning.deploy.dialects.texts import COMMAS
from phuma.robots.order import depth_first

DIALECT = Dialect(
    name="mjlab",
    about="mjlab: joints in MuJoCo's order; with a deploy.yaml and without a motion, unitree_rl_mjlab",
    order=depth_first,
    terms=TERMS,
    observed=OBSERVED,
    keys=KEYS,
    texts=COMMAS,
    motion=MOTION,
    needs_motion=False,
    plain_terms={
        "observation_terms_scale": 1.0,
        "observation_terms_flatten_history_dim": True,
        "observation_terms_history_length": 0,
        "observation_terms_clip": (float("-inf"), float("inf")),
    },
    deploy_terms={
        "command": "motion_command",
        "motion_anchor_ori_b": "motion_anchor_ori_b",
        "base_ang_vel": "base_ang_vel",
        "joint_pos": "joint_pos_rel",
        "joint_vel": "joint_vel_rel",
        "actions": "last_action",
    },
)
