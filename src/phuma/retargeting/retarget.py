"""From a human's motion on the ground to a robot's, by any method, with a report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from phuma.contact import FootContacts
from phuma.errors import ConfigError
from phuma.motion import HumanMotion
from phuma.retargeting.config import DEFAULT_METHOD, FAMILY, SolveCfg
from phuma.retargeting.measure import FIVE, human_scores, measure
from phuma.retargeting.physink import Solution, solve
from phuma.retargeting.rivals import RIVALS, rival
from phuma.retargeting.target import Target, make_target, standing
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot

METHODS = (*RIVALS, *FAMILY)
POOR = 80.0  # percent: a metric below is flagged


def retarget_motion(
    motion: HumanMotion, contact: FootContacts, robot: Robot, method: str = DEFAULT_METHOD, cfg: SolveCfg | None = None
) -> RobotMotion:
    """`motion` stands on z = 0 and has contacts, as curation leaves it. A hard motion is flagged, never an error."""
    if method not in METHODS:
        raise ConfigError(f"unknown method {method!r}; there are: {', '.join(METHODS)}")
    target = make_target(motion, contact, robot)
    began = time.process_time()
    solution = _solve(motion, contact, target, robot, method, cfg or SolveCfg())
    seconds = time.process_time() - began
    out = RobotMotion(
        robot=robot.name,
        joint_names=robot.joint_names,
        fps=motion.fps,
        root_pos=solution.root_pos,
        root_quat=solution.root_quat,
        joint_pos=solution.joint_pos,
        contact=contact.ratio,
        human_joints=target.motion.pose.position,
        provenance=motion.provenance,
        contact_used=solution.stance,
    ).as_written()
    scores = measure(out, robot) | human_scores(motion, contact.ratio)
    report: dict[str, Any] = {
        "method": method,
        "scale": target.scale,
        "steps": solution.steps,
        "flags": flags(scores, solution.converged),
        "metrics": scores,
    }
    return replace(out, report=report, solve_seconds=seconds)


def _solve(
    motion: HumanMotion, contact: FootContacts, target: Target, robot: Robot, method: str, cfg: SolveCfg
) -> Solution:
    if method in FAMILY:
        return solve(target, standing(motion, contact, cfg.contact_speed), robot, FAMILY[method], cfg)
    path = rival(method)(motion, contact, robot)
    nothing_held = np.zeros_like(contact.ratio)
    return Solution(path.root_pos, path.root_quat, path.joint_pos, nothing_held, 0, True)


def flags(scores: Mapping[str, float], converged: bool) -> list[str]:
    """What somebody should know before using this motion, in words; empty when all is well."""
    poor = [f"{name} {scores[name]:.1f} %" for name in FIVE if scores.get(name, 100.0) < POOR]
    return ([] if converged else ["the solver stopped before it had settled"]) + poor
