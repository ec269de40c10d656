"""What a notebook calls that needs more than one stage."""

from __future__ import annotations

from pathlib import Path

from phuma.clip import Clip
from phuma.curation import CurateCfg, curate
from phuma.motion import HumanMotion
from phuma.retargeting import DEFAULT_METHOD, retarget_motion
from phuma.retargeting.measure import measure
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot, load_robot


def retarget(source: HumanMotion | Clip, robot: str | Path | Robot = "g1", method: str = DEFAULT_METHOD) -> RobotMotion:
    """Put a motion on a robot: a curated clip as it is, or a recording whole, after smoothing and the ground vote.

    The result's `report` holds every metric, and `flags` what to beware of.
    """
    model = robot if isinstance(robot, Robot) else load_robot(robot)
    if isinstance(source, Clip):
        return retarget_motion(source.motion, source.contact, model, method)
    curation = curate(source, CurateCfg())
    return retarget_motion(curation.motion, curation.contact, model, method)


def robot_metrics(motion: RobotMotion, robot: str | Path | Robot | None = None) -> dict[str, float]:
    """All metrics of a robot motion, also of one that others made."""
    model = robot if isinstance(robot, Robot) else load_robot(robot or motion.robot)
    return measure(motion, model)
