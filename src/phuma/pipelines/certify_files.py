"""Certify what is in files: robot motions as they are, clips and recordings once they are on a robot."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg
from phuma.errors import PhumaError, ReadError
from phuma.formats.clip_file import is_clip, load_clip
from phuma.formats.robot_motion_file import is_robot_motion, load_robot_motion
from phuma.formats.rollout_file import save_rollout
from phuma.io.names import part_name
from phuma.io.probe import Probe
from phuma.pipelines.certify import Certificate, CertifyCfg, certify
from phuma.pipelines.files_to_clips import Outcome, outcome_of, parts_in
from phuma.pipelines.retarget import retarget
from phuma.robots import Robot
from phuma.robots.locked_motion import LOCKED, told_locked_motion
from phuma.sources import ReadCfg
from phuma.sources.registry import Recording

Row = dict[str, Any]
SHOWN = 3


class Performed(NamedTuple):
    """A motion of a file, and what came of performing it."""

    name: str
    motion: RobotMotion
    certificate: Certificate


def motions_in(
    path: Path, robot: Robot, read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None
) -> list[RobotMotion]:
    """Return the robot's motions in a file: a stored one, a clip's, or those of the clips that curation keeps."""
    probe = Probe(path)
    if is_robot_motion(probe):
        try:
            return [told_locked_motion(load_robot_motion(path), robot)]
        except ReadError:
            raise
        except PhumaError as e:
            raise ReadError(path, str(e)) from None
    if is_clip(probe):
        return [retarget(load_clip(path), robot)]
    clips = [clip for _, part in parts_in(path, read_cfg, curate_cfg) for clip in part.clips]
    kept = [clip for clip in clips if clip.verdict.kept]
    if not kept:
        reasons = dict.fromkeys(reason for clip in clips for reason in clip.verdict.reasons)
        raise ReadError(path, f"curation keeps none of its {len(clips)} clips: {'; '.join(list(reasons)[:SHOWN])}")
    return [retarget(clip, robot) for clip in kept]


def perform_file(
    path: Path,
    name: str,
    robot: Robot,
    cfg: CertifyCfg,
    read_cfg: ReadCfg | None = None,
    curate_cfg: CurateCfg | None = None,
    threads: int = 1,
    most: int | None = None,
    others: Collection[str] = (),
) -> Iterator[Performed]:
    """Yield what came of each motion in a file, of `most` of them at most; none is called as one of the `others` is."""
    motions = motions_in(path, robot, read_cfg, curate_cfg)
    for k, motion in enumerate(motions[:most]):
        own = part_name(name, k, others) if len(motions) > 1 else name
        yield Performed(own, motion, certify(motion, robot, cfg.effort, cfg.gains, cfg.bundle, threads, own))


def certify_file(
    file: Recording,
    out: Path,
    robot: Robot,
    cfg: CertifyCfg,
    read_cfg: ReadCfg | None = None,
    curate_cfg: CurateCfg | None = None,
    threads: int = 1,
    others: Collection[str] = (),
) -> Outcome:
    """Certify a file: its performances are written below `out`, and each motion is a row."""

    def work() -> list[Row]:
        done = perform_file(file.path, file.name, robot, cfg, read_cfg, curate_cfg, threads, others=others)
        return [row_of(str(file.path), performed, out) for performed in done]

    return outcome_of(file.path, work)


def row_of(source: str, performed: Performed, out: Path) -> Row:
    """Write a performance and return its row."""
    found, path = performed.certificate, out / f"{performed.name}.npz"
    start = performed.motion.provenance.start
    told = [note for note in performed.motion.provenance.notes if note.startswith(LOCKED)]
    if found.performance is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_rollout(path, found.performance)
    return {
        "clip": performed.name, "robot": performed.motion.robot,
        "source": source, "start": start, "end": start + performed.motion.duration,
        "file": None if found.performance is None else path.relative_to(out).as_posix(),
        **found.values, "cpu_seconds": round(found.seconds, 2),
        **({"locked": told[0]} if told else {}),
    }  # fmt: skip
