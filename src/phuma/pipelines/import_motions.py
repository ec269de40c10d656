"""Import robot motions that others made into a dataset: put them on the ground, cut, measure and judge them, and store
what is kept, marked as imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from phuma.contacts.robot_evidence import robot_evidence
from phuma.contacts.robot_soles import robot_contacts, robot_ground
from phuma.core.clip import Measure, Verdict
from phuma.core.curation_metrics import DURATION
from phuma.core.robot_metrics import HEIGHT_LIMIT, flags_of
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg
from phuma.curation.dynamic import FrameDynamics, frame_dynamics
from phuma.curation.pipeline import clip_spans
from phuma.dataset.builder import Progress, Runner, build, left_only_if_used
from phuma.dataset.category import GROUP_OF
from phuma.dataset.describe import ROBOT_FILES, Description, load_description
from phuma.dataset.exchange import FORMATS, READ, format_named, import_all, lerobot
from phuma.dataset.labels import LABELS_FILE, type_of_text
from phuma.dataset.layout import Layout, clip_id
from phuma.dataset.record import Job, Record, Row, load_record
from phuma.dataset.split import split_of
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.io.probe import Probe
from phuma.pipelines.build_dataset import motion_columns, named_jobs, robot_identity, stored, tool_versions
from phuma.retargeting.measure import measure
from phuma.robots import Robot, cached_robot
from phuma.sources import find_recordings
from phuma.sources.registry import recognise

SUFFIXES = {FORMATS[name].suffix for name in READ}
"""The suffixes that folders are searched for; a file that is given by name may have any."""
BENEATH = "imported/"
"""The start of every imported recording's name, so that none is mistaken for one built from a human's recording."""
CUTTING = CurateCfg()
"""The rate and the lengths of clips, which are those of people's recordings."""
JUDGING = 4
"""The version of how motions are cut and judged: what an earlier one imported is done anew. The first kept them whole
as they were, the second took every table for Unitree's, and the third judged contacts by height and speed, and clips by
contact alone."""


@dataclass(frozen=True)
class ImportCfg:
    """Say what is known about the motions."""

    robot: str = "g1"
    """Robot of the motions: g1, h1_2, or a folder with model.xml and robot.json"""
    format: str | None = None
    """Format of the files: phuma, csv, kimodo, bones-seed, mjlab, holosoma, protomotions, gmr, pbhc, locomujoco, mujoco
    or lerobot (default: each file's content decides)"""
    fps: float | None = None
    """Frame rate in Hz of files that do not state it, which are tables (default: 30; of bones-seed 120)"""
    licence: str | None = None
    """Licence of the motions, in words"""
    redistributable: str | None = None
    """Whether the licence allows redistribution: yes or no (default: not known)"""

    def __post_init__(self) -> None:
        if self.format is not None:
            chosen = format_named(self.format)
            if chosen.read is None:
                raise ConfigError(f"format {chosen.name!r} is only written; read are: {', '.join(READ)}")
            object.__setattr__(self, "format", chosen.name)
        if self.fps is not None and not 5 <= self.fps <= 1000:
            raise ConfigError(f"a frame rate of {self.fps:g}; expected between 5 and 1000 Hz")
        if self.redistributable not in (None, "yes", "no"):
            raise ConfigError(f"--redistributable {self.redistributable}; expected yes or no")

    @property
    def settings(self) -> str:
        """Return all settings that a stored motion depends on, except the robot, which is the dataset's."""
        given = {k: v for k, v in asdict(self).items() if k != "robot"}
        return json.dumps({**given, "judging": JUDGING}, sort_keys=True)


class Imported(NamedTuple):
    """Hold the records of the imported files, and the description of their dataset."""

    description: Description
    records: list[Record]


def import_motions(
    sources: Sequence[str | Path],
    out: Path,
    cfg: ImportCfg,
    run: Runner,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Imported:
    """Add everything below `sources` to the dataset `out`, which is created if there is none and something can be
    used."""
    description = describe(out, cached_robot(cfg.robot))
    jobs = jobs_of(sources, out, cfg)
    with left_only_if_used(out):
        done = build(out, jobs, partial(produce, cfg=cfg), run, description, progress=progress)
        return Imported(done, [load_record(Layout(out).record(job.id)) for job in jobs])


def describe(out: Path, robot: Robot) -> Description:
    """Return the dataset's own description, or a new one in which only the robot is set."""
    files = {robot.name: robot_identity(robot)}
    if not Layout(out).description.exists():
        return Description((robot.name,), {ROBOT_FILES: files}, tool_versions(), importing=True)
    before = load_description(out)
    if robot.name not in before.robots:
        raise ConfigError(
            f"{out} is a dataset of {', '.join(before.robots)}, not of {robot.name}; choose another --out"
        )
    if before.config.get(ROBOT_FILES, {}).get(robot.name) != files[robot.name]:
        raise ConfigError(f"{out} was made with another model of {robot.name}; choose another --out")
    if not before.finished and not before.importing:
        raise ConfigError(f"{out} is not finished: run the same `phuma build` again, then import")
    return replace(before, importing=True)


def jobs_of(sources: Sequence[str | Path], out: Path, cfg: ImportCfg) -> list[Job]:
    """Return a job for every candidate file below the sources, each once."""
    found = find_recordings(sorted(map(str, sources)), out, SUFFIXES)
    motions = [f for f in found if f.path.name != LABELS_FILE and not lerobot.is_metadata(f.path)]
    jobs = named_jobs(motions, BENEATH)
    if not jobs:
        wanted = ", ".join(sorted(SUFFIXES))
        raise ConfigError(f"no robot motions below {', '.join(map(str, sources))}; looked for {wanted}")
    return [replace(job, settings=cfg.settings) for job in jobs]


def produce(job: Job, layout: Layout, cfg: ImportCfg) -> list[Row]:
    """Import one file: write the clips of it that are kept, and return the manifest rows of all."""
    robot, rows = cached_robot(cfg.robot), []
    motions = read_motions(job, robot, cfg)
    for number, read in enumerate(motions):
        split = split_of(job.relative if len(motions) == 1 else f"{job.relative}/{number}")
        motion, frames = grounded(read.resampled(CUTTING.rate), robot)
        for first, last in clip_spans(len(motion), motion.fps, CUTTING):
            start = motion.provenance.start + first / motion.fps
            clip, verdict = motion.frames(slice(first, last)), verdict_on(motion, frames, first, last)
            rows.append({**_clip_row(job, layout, robot, clip, start, verdict), "split": split})
    return rows


def grounded(motion: RobotMotion, robot: Robot) -> tuple[RobotMotion, FrameDynamics | None]:
    """Return a whole recording on the ground with its contacts, and what preset `dynamic` judges of it; None of one
    that is too short to be judged by anything else."""
    motion = on_ground(motion, robot)
    short = motion.duration < CUTTING.min_seconds
    evidence = None if short else robot_evidence(robot, motion)
    contact = robot_contacts(robot, motion, evidence)
    motion = replace(motion, contact=contact.ratio, contact_paper=contact.paper)
    if evidence is None:
        return motion, None
    of = evidence.support
    return motion, frame_dynamics(of.force, of.soles, of.floor, evidence.away, motion.fps, of.trusted)


def on_ground(motion: RobotMotion, robot: Robot) -> RobotMotion:
    """Return a whole recording with the ground at z = 0; a note says what was done.

    The ground is where the vote of the soles finds it. One that is at z = 0 to within what neither floats nor
    penetrates is left there, so that what stands on z = 0 stays as it is.
    """
    ground = robot_ground(robot, motion)
    note = "no sole ever faces the ground, which is taken to be at z = 0" if ground is None else (
        f"the ground is at {round(ground, 3) + 0.0:.3f} m by the vote of the robot's soles"
    )  # fmt: skip
    if ground is not None and abs(ground) > HEIGHT_LIMIT:
        motion = replace(motion, root_pos=motion.root_pos - [0.0, 0.0, ground])
        note += "; the motion was shifted to have it at z = 0"
    origin = replace(motion.provenance, notes=(*motion.provenance.notes, note))
    return replace(motion, provenance=origin)


def verdict_on(motion: RobotMotion, frames: FrameDynamics | None, first: int, last: int) -> Verdict:
    """Return the verdict on frames first to last - 1 of a recording: by the forces that they take, as preset `dynamic`
    judges people, or by length where the recording is too short for that."""
    if frames is None:
        return Verdict((Measure(DURATION, motion.duration, CUTTING.min_seconds),))
    return frames.judge(first, last, CUTTING.limits)


def _clip_row(job: Job, layout: Layout, robot: Robot, motion: RobotMotion, start: float, verdict: Verdict) -> Row:
    """Return the manifest row of a clip that begins `start` seconds into its recording, and write it if it is kept."""
    origin = replace(motion.provenance, start=start)
    motion = replace(motion, provenance=origin).as_written()
    scores = measure(motion, robot)
    motion = replace(motion, report={"method": "imported", "flags": flags_of(scores), "metrics": scores})
    name = clip_id(job.id, 0, start)
    category = type_of_text(job.label) if job.label else type_of_text(Path(job.relative).stem)
    row: Row = {
        "clip": name,
        "robot": robot.name,
        "kept": verdict.kept,
        "reasons": list(verdict.reasons),
        "recording": job.name,
        "source": job.source,
        "format": origin.format,
        "person": 0,
        "mirrored": False,
        "start": round(start, 6),
        "end": round(start + motion.duration, 6),
        "fps": motion.fps,
        "frames": len(motion),
        "category": category,
        "category_group": GROUP_OF[category] if category else None,
        "label": job.label,
        "licence": origin.licence,
        "redistributable": origin.redistributable,
        "notes": list(origin.notes),
        "imported": True,
        **{m.name: m.value for m in verdict.measures},
        **{f"{m.name}_limit": m.limit for m in verdict.measures},
    }
    return row | (stored(layout, job.id, name, motion) if verdict.kept else motion_columns(motion))


def read_motions(job: Job, robot: Robot, cfg: ImportCfg) -> list[RobotMotion]:
    """Read the motions of a file and add what the user knows about them; they are named after the job, so that no path
    is stored."""
    try:
        motions = import_all(job.path, robot, cfg.format)
    except ReadError as e:
        raise (e if cfg.format is not None else _of_a_person(job.path) or e) from None
    return [_described(motion, job, cfg) for motion in motions]


def _of_a_person(path: Path) -> ReadError | None:
    """Return the error that a file holds a person's motion, if it does."""
    try:
        layout = recognise(Probe(path)).FORMAT
    except PhumaError:
        return None
    told = f"is a person's recording ({layout}), not a robot's motion; run: phuma retarget"
    return ReadError(path, f"{told} {quote(str(path))} --robot NAME --out FOLDER")


def _described(motion: RobotMotion, job: Job, cfg: ImportCfg) -> RobotMotion:
    """Return a motion with what the user knows about it."""
    origin = replace(motion.provenance, source=job.name)
    if cfg.licence is not None:
        origin = replace(origin, licence=cfg.licence)
    if cfg.redistributable is not None:
        origin = replace(origin, redistributable=cfg.redistributable == "yes")
    if cfg.fps is not None and not format_named(origin.format).tells_rate:
        notes = tuple(n for n in origin.notes if not n.startswith("rate assumed"))
        origin = replace(origin, notes=(f"rate given: {cfg.fps:g} Hz", *notes))
        motion = replace(motion, fps=cfg.fps)
    return replace(motion, provenance=origin)
