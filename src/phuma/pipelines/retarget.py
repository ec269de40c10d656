"""Turn a human's motion into a robot's: the only path from curation to retargeting."""

from __future__ import annotations

from pathlib import Path

from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.names import known_name
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg, Curation, curate
from phuma.errors import ConfigError
from phuma.retargeting import DEFAULT_METHOD, METHODS, SolveCfg, retarget_motion
from phuma.retargeting.config import FAMILY, Loss
from phuma.retargeting.measure import measure
from phuma.robots import Robot, load_robot


def retarget(
    source: HumanMotion | Clip | Curation,
    robot: str | Path | Robot = "g1",
    method: str = DEFAULT_METHOD,
    contacts: str | None = None,
    mend: bool | None = None,
    preset: str = CurateCfg.preset,
    within: float = 1.0,
) -> RobotMotion:
    """Retarget a curated motion as it is, or a recording whole, after smoothing it and finding the ground.

    A recording is curated with this `preset` before: `contacts` are found by `stance` or as in the `paper`, and `mend`
    mends it; a curated motion has its own contacts, and is what it is. Joints are solved to stay `within` a share of
    their range around its middle, for trainers that clip them to it. The result's `report` holds every metric, and
    warnings in `flags`.
    """
    method = check_within(within, method)
    if contacts is not None and not isinstance(source, HumanMotion):
        raise ConfigError(
            f"contacts={contacts!r} of a motion that has its contacts; curate the recording with "
            f"CurateCfg(contacts={contacts!r})"
        )
    model = robot if isinstance(robot, Robot) else load_robot(robot)
    curated = (
        curate(source, CurateCfg(preset=preset, contacts=contacts, mend=mend))
        if isinstance(source, HumanMotion)
        else source
    )
    return retarget_motion(curated.motion, curated.contact, model, method, SolveCfg(within=within))


def check_method(method: str) -> str:
    """Return the method's own name; a ConfigError for a wrong one, before any motion is processed."""
    return known_name(method, METHODS, "method")


def check_within(within: float, method: str) -> str:
    """Return the method's own name; a ConfigError for a wrong one, and for a share of the joints' ranges that cannot
    be, or that the method does not keep."""
    method = check_method(method)
    if not 0.5 <= within <= 1:
        raise ConfigError(f"within {within:g} of the joints' ranges; expected between 0.5 and 1")
    if within < 1 and Loss.FEASIBILITY not in FAMILY.get(method, ()):
        keeping = ", ".join(name for name, losses in FAMILY.items() if Loss.FEASIBILITY in losses)
        raise ConfigError(f"method {method!r} keeps no limits that could be narrowed; these do: {keeping}")
    return method


def robot_metrics(motion: RobotMotion, robot: str | Path | Robot | None = None) -> dict[str, float | None]:
    """Return all metrics of a robot motion, also of one that others made; None where one is unknown."""
    model = robot if isinstance(robot, Robot) else load_robot(robot or motion.robot)
    return measure(motion, model)
