"""From raw recordings to a dataset: read, curate, retarget, measure and store, recording by recording."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from phuma.body.choice import check_body
from phuma.clip import Clip
from phuma.clipfile import save_clip
from phuma.curation import CurateCfg, curate
from phuma.dataset.builder import Progress, Runner, build
from phuma.dataset.category import GROUP_OF, categorise, category_of
from phuma.dataset.describe import ROBOT_FILES, Description
from phuma.dataset.labels import read_labels
from phuma.dataset.layout import Layout, clip_id, make_folder, recording_id
from phuma.dataset.record import Job, Row, file_sha256
from phuma.dataset.split import relative_name, split_of
from phuma.errors import ConfigError
from phuma.parallel import WorkerLimits, run_all
from phuma.retargeting import DEFAULT_METHOD, METHODS, retarget_motion
from phuma.retargeting.config import solving
from phuma.robot_file import save_robot_motion
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg, find_recordings, read_all
from phuma.sources.bvh.match import load_joint_map
from phuma.sources.registry import SUFFIXES, Recording

LIBRARIES = ("mujoco", "numba", "numpy", "scipy")


@dataclass(frozen=True)
class BuildCfg:
    """How the dataset is made."""

    robots: tuple[str, ...] = ("g1",)
    method: str = DEFAULT_METHOD
    """How motions are put on the robot: physink+collision, physink, sink+ground, sink+feasibility, sink, ik or gmr"""
    contact_speed: float | None = None
    """m/s: a foot that the human moves this fast or faster is not held to stand, though it counts as in contact"""
    mirror: bool = False
    read: ReadCfg = field(default_factory=ReadCfg)
    curate: CurateCfg = field(default_factory=CurateCfg)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"unknown method {self.method!r}; there are: {', '.join(METHODS)}")
        if self.contact_speed is not None and not self.contact_speed > 0:
            raise ConfigError(f"--contact-speed {self.contact_speed:g}; expected metres a second, above zero")
        if not self.robots or len(set(self.robots)) != len(self.robots):
            raise ConfigError(f"each robot once, at least one; got {', '.join(self.robots) or 'none'}")


@dataclass(frozen=True)
class WorkCfg:
    """How the work is done. The result does not depend on it."""

    jobs: int | None = None
    """Processes; all processors if it is not said"""
    timeout: float = 1800.0
    """Seconds after which a recording is given up"""
    memory: float = 4000.0
    """Megabytes of a worker above which its recording is given up"""

    def __post_init__(self) -> None:
        if (self.jobs is not None and self.jobs < 1) or not self.timeout > 0 or not self.memory > 0:
            raise ConfigError("--jobs is at least 1, --timeout and --memory are above zero")

    def runner(self) -> Runner:
        limits = WorkerLimits(self.timeout, self.memory)
        return lambda work, items: run_all(work, items, self.jobs or os.cpu_count() or 1, limits)


def build_dataset(
    sources: Sequence[str | Path],
    out: Path,
    cfg: BuildCfg,
    run: Runner,
    rebuild: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Description:
    """Build, or go on building, the dataset `out` from everything below `sources`."""
    description = describe(cfg)
    jobs = jobs_of(sources, out)
    return build(out, jobs, partial(produce, cfg=cfg), run, description, rebuild, progress)


def describe(cfg: BuildCfg) -> Description:
    """The configuration without anything that depends on the machine: files by what is in them, not where they are."""
    check_body(cfg.read.body)
    reading = asdict(cfg.read)
    reading["body"] = body_identity(cfg.read.body)
    reading["joint_map"] = asdict(load_joint_map(cfg.read.joint_map)) if cfg.read.joint_map else None
    robots = [_robot(name) for name in cfg.robots]
    config = {
        "read": reading,
        "curate": {**asdict(cfg.curate), "limits": asdict(cfg.curate.limits)},
        "method": cfg.method,
        "contact_speed": cfg.contact_speed,
        "mirror": cfg.mirror,
        ROBOT_FILES: {robot.name: robot_identity(robot) for robot in robots},
    }
    return Description(tuple(robot.name for robot in robots), config, tool_versions())


def tool_versions() -> dict[str, str]:
    """Of the programs that the numbers in a dataset come from."""
    return {"phuma": version("phuma"), **{name: version(name) for name in LIBRARIES}}


def body_identity(spec: str) -> str:
    """`open`, or `smplx:` and a hash of the model's files."""
    kind, _, path = spec.partition(":")
    if not path:
        return kind
    files = (
        sorted(f for f in Path(path).rglob("*") if f.suffix in (".npz", ".pkl"))
        if Path(path).is_dir()
        else [Path(path)]
    )
    digest = hashlib.sha256("".join(file_sha256(f) for f in files).encode()).hexdigest()
    return f"{kind}:{digest[:16]}"


def robot_identity(robot: Robot) -> str:
    digest = hashlib.sha256("".join(file_sha256(robot.folder / f) for f in ("model.xml", "robot.json")).encode())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=8)
def _robot(name: str) -> Robot:
    return load_robot(name)


def jobs_of(sources: Sequence[str | Path], out: Path) -> list[Job]:
    """Every recording below the sources once, with its name and its label."""
    # Sorted, since of two folders of one name the second has its number behind it.
    jobs = named_jobs(find_recordings(sorted(map(str, sources)), leave_out=out))
    if not jobs:
        wanted = ", ".join(sorted(SUFFIXES))
        raise ConfigError(f"no recordings below {', '.join(map(str, sources))}; looked for {wanted}")
    return jobs


def named_jobs(recordings: Sequence[Recording], beneath: str = "") -> list[Job]:
    """Each file once; names begin with `beneath`."""
    labels = lru_cache(maxsize=None)(read_labels)
    jobs: dict[str, Job] = {}
    seen: set[Path] = set()
    for recording in recordings:
        if recording.path.resolve() in seen:
            continue  # by another way: a folder within a folder, a link
        seen.add(recording.path.resolve())
        source, relative = _place(recording)
        name, n = f"{source}/{relative}", 1
        while name in jobs:
            n += 1
            name = f"{source}~{n}/{relative}"  # another folder of the same name
        label = labels(recording.folder).text_of(relative)
        full = beneath + name
        jobs[name] = Job(recording.path, full, name.split("/")[0], relative, recording_id(full), label)
    return list(jobs.values())


def _place(recording: Recording) -> tuple[str, str]:
    """Names of the source folder and of the path below it."""
    folder = recording.folder.resolve().name or "root"
    return relative_name(_tame(folder)), relative_name(_tame(recording.path.relative_to(recording.folder).as_posix()))


def _tame(path: str) -> str:
    """A path below a folder without parts that lead out of it where a backslash separates, or that name a drive,
    and without bytes that are no Unicode."""
    path = re.sub("[\ud800-\udfff]", "\ufffd", path)
    parts = [part if part.strip(".") else "_" for part in path.replace("\\", "/").split("/")]
    return "/".join([parts[0] + "_" * parts[0].endswith(":"), *parts[1:]])


def produce(job: Job, layout: Layout, cfg: BuildCfg) -> list[Row]:
    """Do one recording: its curated whole and its clips on every robot go to disk, what is known of them comes back."""
    rows: list[Row] = []
    for person, motion in enumerate(read_all(job.path, cfg.read)):
        # By its name, not by where it lies: nothing in a dataset depends on the machine.
        motion = replace(motion, provenance=replace(motion.provenance, source=job.name))
        curation = curate(motion, cfg.curate)
        human = layout.recording(job.id, person)
        save_clip(human, Clip(curation.motion, curation.contact, curation.verdict, curation.ground))
        about = {
            "person": person,
            "human_file": human.relative_to(layout.root).as_posix(),
            "human_sha256": file_sha256(human),
        }
        for clip in curation.clips:
            images = [clip, clip.mirror()] if cfg.mirror and clip.verdict.kept else [clip]
            rows += [row for image in images for row in _clip_rows(job, layout, cfg, image, about)]
    return rows


def _clip_rows(job: Job, layout: Layout, cfg: BuildCfg, clip: Clip, about: Row) -> list[Row]:
    """A clip on every robot."""
    source = clip.motion.provenance
    guess = categorise(clip.motion, clip.contact)
    category = category_of(job.label, guess)
    name = clip_id(job.id, about["person"], clip.start, source.mirrored)
    row: Row = {
        **about,
        "clip": name,
        "kept": clip.verdict.kept,
        "reasons": list(clip.verdict.reasons),
        "recording": job.name,
        "source": job.source,
        "format": source.format,
        "mirrored": source.mirrored,
        "start": round(clip.start, 6),
        "end": round(clip.end, 6),
        "fps": clip.motion.fps,
        "frames": len(clip.motion),
        "split": split_of(job.relative),
        "category": category,
        "category_group": GROUP_OF[category],
        "category_guess": guess,
        "label": job.label,
        "licence": source.licence,
        "redistributable": source.redistributable,
        "notes": list(source.notes),
        "imported": False,
        **{m.name: m.value for m in clip.verdict.measures},
        **{f"{m.name}_limit": m.limit for m in clip.verdict.measures},
    }
    rows = []
    for robot in map(_robot, cfg.robots):
        rows.append({**row, "robot": robot.name})
        if clip.verdict.kept:
            motion = retarget_motion(clip.motion, clip.contact, robot, cfg.method, solving(cfg.contact_speed))
            rows[-1] |= stored(layout, job.id, name, motion)
    return rows


def stored(layout: Layout, recording: str, name: str, motion: RobotMotion) -> Row:
    """Write a robot's motion; returns what the manifest says of it."""
    path = layout.clip(motion.robot, recording, name)
    make_folder(path.parent)
    save_robot_motion(path, motion)
    report: Any = motion.report
    return {
        "file": path.relative_to(layout.root).as_posix(),
        "sha256": file_sha256(path),
        "method": report["method"],
        "flags": list(report["flags"]),
        "scale": report.get("scale"),
        "steps": report.get("steps"),
        **{name: value for name, value in report["metrics"].items() if name != "frames"},
    }
