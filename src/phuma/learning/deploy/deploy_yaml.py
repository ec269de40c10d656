"""The deploy.yaml that unitree_rl_mjlab reads beside a policy: gains, actions and observations of a tracking policy."""

from __future__ import annotations

import json
from collections.abc import Sequence

from phuma.learning.deploy.dialects.dialect import Dialect
from phuma.learning.deploy.policy import PolicyInfo


def deploy_yaml(info: PolicyInfo, dialect: Dialect) -> str:
    """Return the text; joints are in the order of the robot's motors, which is that of its MJCF."""
    lines = [
        f"joint_ids_map: {json.dumps(list(range(info.n_joints)))}",
        f"step_dt: {1 / info.control_rate}",
        f"stiffness: {_numbers(info.stiffness)}",
        f"damping: {_numbers(info.damping)}",
        f"default_joint_pos: {_numbers(info.default_pose)}",
        "commands: {}",
        "actions:",
        "  JointPositionAction:",
        "    clip: null",
        "    joint_names: [.*]",
        f"    scale: {_numbers(info.action_scale)}",
        f"    offset: {_numbers(info.default_pose)}",
        "    joint_ids: null",
        "observations:",
    ]
    for name in dialect.observed:
        size = sum(term.size(info) for term in dialect.terms[name])
        params = "{command_name: motion}" if "motion" in dialect.deploy_terms[name] else "{}"
        lines += [
            f"  {dialect.deploy_terms[name]}:",
            f"    params: {params}",
            "    clip: null",
            f"    scale: {_numbers([1.0] * size)}",
            "    history_length: 1",
        ]
    return "\n".join(lines) + "\n"


def _numbers(values: Sequence[float]) -> str:
    return json.dumps([float(value) for value in values])
