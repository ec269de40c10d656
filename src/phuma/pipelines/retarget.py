"""Turn a human's motion into a robot's: the only path from curation to retargeting."""

from __future__ import annotations

from pathlib import Path

from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.curation import Curation, curate
from phuma.errors import ConfigError
from phuma.retargeting import DEFAULT_METHOD, METHODS, retarget_motion
from phuma.retargeting.config import solving
from phuma.retargeting.measure import measure
from phuma.robots import Robot, load_robot


def retarget(
    source: HumanMotion | Clip | Curation,
    robot: str | Path | Robot = "g1",
    method: str = DEFAULT_METHOD,
    contact_speed: float | None = None,
) -> RobotMotion:
    """Retarget a curated motion as it is, or a recording whole, after smoothing it and finding the ground.

    A foot that the human moves at `contact_speed` m/s or faster is not held in place, although it counts as in contact;
    None holds all feet. The result's `report` holds every metric, and warnings in `flags`.
    """
    model = robot if isinstance(robot, Robot) else load_robot(robot)
    curated = curate(source) if isinstance(source, HumanMotion) else source
    return retarget_motion(curated.motion, curated.contact, model, method, solving(contact_speed))


def check_method(method: str, contact_speed: float | None) -> None:
    """Raise a ConfigError for a wrong method or contact speed before any motion is processed."""
    if method not in METHODS:
        raise ConfigError(f"unknown method {method!r}; there are: {', '.join(METHODS)}")
    if contact_speed is not None and not contact_speed > 0:
        raise ConfigError(f"--contact-speed {contact_speed:g}; expected metres per second, above zero")


def robot_metrics(motion: RobotMotion, robot: str | Path | Robot | None = None) -> dict[str, float | None]:
    """Return all metrics of a robot motion, also of one that others made; None where one is unknown."""
    model = robot if isinstance(robot, Robot) else load_robot(robot or motion.robot)
    return measure(motion, model)
