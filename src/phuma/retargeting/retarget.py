"""From a human's motion on the ground to a robot's, by any method, with a report."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.names import known_name
from phuma.core.robot_metrics import flags_of
from phuma.core.robot_motion import RobotMotion
from phuma.retargeting.baselines import BASELINES, baseline
from phuma.retargeting.config import DEFAULT_METHOD, FAMILY, SolveCfg
from phuma.retargeting.measure import human_scores, measure
from phuma.retargeting.paper_contacts import by_paper_contacts
from phuma.retargeting.physink import Solution, solve
from phuma.retargeting.target import Target, make_target
from phuma.robots.robot import Robot

METHODS = (*BASELINES, *FAMILY)
NOT_SETTLED = "solver: it stopped before it had settled"
WEAKENED = "solver: forces that the ground cannot give are left, as mending them would have cost too much fidelity"


def retarget_motion(
    motion: HumanMotion, contact: FootContacts, robot: Robot, method: str = DEFAULT_METHOD, cfg: SolveCfg | None = None
) -> RobotMotion:
    """`motion` stands on z = 0 and has contacts, as curation leaves it. A hard motion is flagged, never an error."""
    method = known_name(method, METHODS, "method")
    target = make_target(motion, contact, robot)
    began = time.process_time()
    solution = _solve(motion, contact, target, robot, method, cfg or SolveCfg())
    seconds = time.process_time() - began
    out = RobotMotion.of(
        solution.trajectory,
        contact=contact.ratio,
        human_joints=target.motion.pose.position,
        provenance=motion.provenance,
        contact_used=solution.stance,
        contact_paper=contact.paper,
    ).as_written()
    scores = measure(out, robot) | human_scores(motion, contact.ratio)
    report: dict[str, Any] = {
        "method": method,
        "scale": target.scale,
        "steps": solution.steps,
        "flags": _solver_flags(solution) + flags_of(scores),
        "metrics": scores,
        "by_paper_contacts": by_paper_contacts(out, robot),
    }
    return replace(out, report=report, solve_seconds=seconds)


def _solve(
    motion: HumanMotion, contact: FootContacts, target: Target, robot: Robot, method: str, cfg: SolveCfg
) -> Solution:
    if method in FAMILY:
        return solve(target, contact.ratio, robot, FAMILY[method], cfg)
    nothing_held = np.zeros_like(contact.ratio)
    return Solution(baseline(method)(motion, contact, robot), nothing_held, 0, True)


def _solver_flags(solution: Solution) -> list[str]:
    return ([] if solution.converged else [NOT_SETTLED]) + ([WEAKENED] if solution.weakened else [])
