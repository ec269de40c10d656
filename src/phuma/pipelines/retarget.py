"""Turn a human's motion into a robot's: the only path from curation to retargeting."""

from __future__ import annotations

import os
from pathlib import Path

from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.names import known_name
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg, Curation, curate
from phuma.errors import ConfigError, ReadError
from phuma.pipelines.files_to_clips import all_whole_clips, whole_clips
from phuma.retargeting import DEFAULT_METHOD, METHODS, SolveCfg, retarget_motion
from phuma.retargeting.config import FAMILY, Loss
from phuma.retargeting.measure import measure
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg

Source = HumanMotion | Clip | Curation | str | os.PathLike[str]


def retarget(
    source: Source,
    robot: str | Path | Robot = "g1",
    method: str = DEFAULT_METHOD,
    contacts: str | None = None,
    mend: bool | None = None,
    preset: str = CurateCfg.preset,
    within: float = 1.0,
    read: ReadCfg | None = None,
) -> RobotMotion:
    """Retarget a recording whole, after smoothing it and finding the ground, or a curated motion as it is.

    `source` is a file, or what was read of one; a file of several people or parts is for `retarget_all`. A recording is
    curated with this `preset` before: `contacts` are found by `stance` or as in the `paper`, and `mend` mends it; a
    curated motion has its own contacts, and is what it is. Joints are solved to stay `within` a share of their range
    around its middle, for trainers that clip them to it. `read` says how a file is read. The result's `report` holds
    every metric, and warnings in `flags`.

    >>> motion = phuma.retarget("walk.bvh", robot="g1")
    >>> motion
    RobotMotion(g1, 'walk.bvh', 2.00 s, 60 frames at 30 Hz)
    >>> motion.report["metrics"]["feasibility"]
    100.0
    """
    method = check_within(within, method)
    model = robot if isinstance(robot, Robot) else load_robot(robot)
    curated = _curated(source, CurateCfg(preset=preset, contacts=contacts, mend=mend), read)
    return retarget_motion(curated.motion, curated.contact, model, method, SolveCfg(within=within))


def retarget_all(
    source: str | os.PathLike[str],
    robot: str | Path | Robot = "g1",
    method: str = DEFAULT_METHOD,
    cfg: CurateCfg | None = None,
    within: float = 1.0,
    read: ReadCfg | None = None,
) -> list[RobotMotion]:
    """Retarget everybody in a file, or in all files of a folder, whole and uncut; a file that cannot be read is an
    error.

    `phuma retarget` does the same from the command line and goes on after a bad file.

    >>> [motion.provenance.source for motion in phuma.retarget_all("recordings", method="ik")]
    ['recordings/squat.bvh', 'recordings/walk.bvh']
    """
    method = check_within(within, method)
    model = robot if isinstance(robot, Robot) else load_robot(robot)
    return [retarget(clip, model, method, within=within) for clip in all_whole_clips(source, read, cfg)]


def _curated(source: Source, cfg: CurateCfg, read: ReadCfg | None) -> Clip | Curation:
    """Return a source with its ground and its contacts."""
    if isinstance(source, HumanMotion):
        return curate(source, cfg)
    if isinstance(source, (str, os.PathLike)):
        if Path(source).is_dir():
            raise ReadError(source, "is a folder; phuma.retarget_all takes all recordings in it")
        clips = whole_clips(Path(source), read, cfg)
        if len(clips) != 1:
            raise ReadError(source, f"holds {len(clips)} motions, of several people or parts; use retarget_all")
        return clips[0]
    if cfg.contacts is not None:
        raise ConfigError(
            f"contacts={cfg.contacts!r} of a motion that has its contacts; curate the recording with "
            f"CurateCfg(contacts={cfg.contacts!r})"
        )
    return source


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
    """Return all metrics of a robot motion, also of one that others made; None where one is unknown.

    >>> metrics = phuma.robot_metrics(phuma.load_robot_motion("walk.npz"))
    >>> metrics["non_floating"], metrics["non_skating"]
    (100.0, 100.0)
    """
    model = robot if isinstance(robot, Robot) else load_robot(robot or motion.robot)
    return measure(motion, model)
