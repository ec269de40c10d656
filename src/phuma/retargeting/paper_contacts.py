"""Measure a robot motion by the second ruler: the contacts by height of the paper, which count low swing feet too."""

from __future__ import annotations

from typing import Any

from phuma.core.foot_contacts import in_contact
from phuma.core.robot_motion import RobotMotion
from phuma.retargeting import metrics
from phuma.retargeting.costs import SOLES
from phuma.retargeting.measure import places
from phuma.robots.robot import Robot


def by_paper_contacts(motion: RobotMotion, robot: Robot) -> dict[str, Any]:
    """Return the three metrics of contacts by `contact_paper`, under the names that they have by `contact`, and the
    counts that they are of."""
    motion = motion.reordered(robot.joint_names)
    soles, contact, fps = places(motion, robot)[:, SOLES : SOLES + 4], motion.contact_paper, motion.fps
    return {
        "non_floating": metrics.non_floating(soles[..., 2], contact),
        "non_penetration": metrics.non_penetration(soles[..., 2], contact),
        "non_skating": metrics.non_skating(soles, contact, fps),
        "contact_samples": int(in_contact(contact).sum()),
        "step_samples": len(metrics.slip_speeds(soles, contact, fps)),
    }
