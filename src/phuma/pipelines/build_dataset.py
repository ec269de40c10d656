"""Build a dataset from raw recordings: read, curate, retarget, measure and store, recording by recording."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from phuma.body.choice import check_body
from phuma.core.clip import Clip, Measure, Verdict
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg, curate_parts, too_short
from phuma.dataset.builder import Progress, Runner, build, left_only_if_used
from phuma.dataset.category import GROUP_OF, categorise, category_of
from phuma.dataset.describe import ROBOT_FILES, Description
from phuma.dataset.labels import read_labels, type_of_text
from phuma.dataset.layout import Layout, clip_id, make_folder, recording_id
from phuma.dataset.record import Job, Row, file_sha256
from phuma.dataset.review import BY_HAND, KEEP, REJECT, Reviewed, judgement, review_text
from phuma.dataset.split import relative_name, split_of
from phuma.errors import ConfigError
from phuma.formats.clip_file import save_clip
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.io.names import unique_name
from phuma.pipelines.files_to_clips import motions_in, with_rate
from phuma.pipelines.retarget import check_within, retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import Robot, cached_robot
from phuma.runtime.process_pool import WorkerLimits, run_all
from phuma.sources import ReadCfg, find_recordings
from phuma.sources.bvh.match import load_joint_map
from phuma.sources.registry import Recording, refuse_datasets
from phuma.sources.skipped import none_found

LIBRARIES = ("mujoco", "numba", "numpy", "scipy")


@dataclass(frozen=True)
class BuildCfg:
    """Choose how the dataset is made."""

    robots: tuple[str, ...] = ("g1",)
    method: str = DEFAULT_METHOD
    """Method: physink+dynamics, physink+collision, physink, sink+ground, sink+feasibility, sink, ik or gmr"""
    mirror: bool = False
    within: float = 1.0
    """Share of the joints' ranges, around their middle, that motions are solved within; mjlab clips to 0.9"""
    read: ReadCfg = field(default_factory=ReadCfg)
    curate: CurateCfg = field(default_factory=CurateCfg)
    review: Mapping[str, Reviewed] = field(default_factory=dict)
    """Judgements of clips by hand, which count before curation's"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", check_within(self.within, self.method))
        if not self.robots or len(set(self.robots)) != len(self.robots):
            raise ConfigError(f"each robot once, at least one; got {', '.join(self.robots) or 'none'}")


@dataclass(frozen=True)
class WorkCfg:
    """Choose how the work is done; the result does not depend on it."""

    jobs: int | None = None
    """Number of worker processes (default: one for each processor)"""
    timeout: float = 1800.0
    """Seconds after which the work on a recording is stopped and the recording counts as failed"""
    memory: float = 4000.0
    """Memory of a worker in megabytes above which its recording counts as failed"""

    def __post_init__(self) -> None:
        if (self.jobs is not None and self.jobs < 1) or not self.timeout > 0 or not self.memory > 0:
            raise ConfigError("--jobs is at least 1, --timeout and --memory are above zero")

    def runner(self) -> Runner:
        """Return a function that runs work on items in worker processes under these limits."""
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
    """Build, or go on building, the dataset `out` from everything below `sources`; where none of that can be used, a
    dataset that was not there before is none."""
    description = describe(cfg)
    jobs = jobs_of(sources, out)
    with left_only_if_used(out):
        return build(out, jobs, partial(produce, cfg=cfg), run, description, rebuild, progress)


def describe(cfg: BuildCfg) -> Description:
    """Return the configuration without anything that depends on the machine: files are named by their content."""
    check_body(cfg.read.body)
    reading = asdict(cfg.read)
    reading["body"] = body_identity(cfg.read.body)
    reading["joint_map"] = asdict(load_joint_map(cfg.read.joint_map)) if cfg.read.joint_map else None
    robots = [cached_robot(name) for name in cfg.robots]
    config = {
        "read": reading,
        "curate": {**cfg.curate.resolved, "limits": cfg.curate.limits},
        "method": cfg.method,
        "mirror": cfg.mirror,
        **({} if cfg.within == 1 else {"within": cfg.within}),  # of earlier versions' datasets nothing is said
        **({"review": hashlib.sha256(review_text(cfg.review).encode()).hexdigest()[:16]} if cfg.review else {}),
        ROBOT_FILES: {robot.name: robot_identity(robot) for robot in robots},
    }
    return Description(tuple(robot.name for robot in robots), config, tool_versions())


def tool_versions() -> dict[str, str]:
    """Return the versions of the programs that the numbers in a dataset come from."""
    return {"phuma": version("phuma"), **{name: version(name) for name in LIBRARIES}}


def body_identity(spec: str) -> str:
    """Return `open`, or `smplx:` and a hash of the model's files."""
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
    """Return a hash of the files that define a robot, and of what is locked."""
    files = "".join(file_sha256(robot.folder / f) for f in ("model.xml", "robot.json"))
    locked = "".join(f" {name} {angle:.6f}" for name, angle in robot.locked.items())
    return hashlib.sha256((files + locked).encode()).hexdigest()[:16]


def jobs_of(sources: Sequence[str | Path], out: Path) -> list[Job]:
    """Return a job for every recording below the sources, each once, with its name and its label."""
    refuse_datasets(sources)
    # Sorted, since of two folders with the same name the second one gets a number.
    jobs = named_jobs(find_recordings(sorted(map(str, sources)), leave_out=out))
    if not jobs:
        raise none_found(sources, out)
    return jobs


def named_jobs(recordings: Sequence[Recording], beneath: str = "") -> list[Job]:
    """Return a job for each file, once; names begin with `beneath`."""
    labels = lru_cache(maxsize=None)(read_labels)
    jobs: list[Job] = []
    taken: set[str] = set()
    seen: set[str] = set()
    name_of = lru_cache(maxsize=None)(_folder_name)
    for recording in recordings:
        real = os.path.realpath(recording.path)
        if real in seen:
            continue  # reached twice: through a folder within a folder, or a link
        seen.add(real)
        source = name_of(recording.folder)
        relative = relative_name(_safe_path(recording.path.relative_to(recording.folder).as_posix()))
        # Another folder of the same name has a number; upper and lower case differ, as files of both are there.
        name = unique_name(source, taken, f"/{relative}", key=str)
        label = labels(recording.folder).text_of(relative)
        full = beneath + name
        jobs.append(Job(recording.path, full, name.split("/")[0], relative, recording_id(full), label))
    return jobs


def _folder_name(folder: Path) -> str:
    """Return the name of a source folder."""
    return relative_name(_safe_path(folder.resolve().name or "root"))


def _safe_path(path: str) -> str:
    """Return a path that is safe on every system: no `..`, no drive, no bytes that are not Unicode."""
    path = re.sub("[\ud800-\udfff]", "\ufffd", path)
    parts = [part if part.strip(".") else "_" for part in path.replace("\\", "/").split("/")]
    return "/".join([parts[0] + "_" * parts[0].endswith(":"), *parts[1:]])


def produce(job: Job, layout: Layout, cfg: BuildCfg) -> list[Row]:
    """Process one recording: write its curated whole and its clips on every robot, and return their manifest rows.

    Of somebody whose motion is too short for a clip there is a row that says so, and nothing is written.
    """
    rows: list[Row] = []
    numbers, settings = count(), with_rate(cfg.curate, cfg.read)
    # By its name, not by its path: nothing in a dataset depends on the machine.
    for person, motion in enumerate(motions_in(job.path, cfg.read, source=job.name)):
        if lacking := too_short(motion, settings):
            rows += _short_rows(job, cfg, motion, lacking, {"person": person})
            continue
        for part in curate_parts(motion, settings):
            human = layout.recording(job.id, next(numbers))
            save_clip(human, part.whole)
            about = {
                "person": person,
                "human_file": human.relative_to(layout.root).as_posix(),
                "human_sha256": file_sha256(human),
            }
            for clip in part.clips:
                kept = _judged(cfg, clip_id(job.id, person, clip.start), clip).kept
                images = [clip, clip.mirror()] if cfg.mirror and kept else [clip]
                rows += [row for image in images for row in _clip_rows(job, layout, cfg, image, about)]
    return rows


def _short_rows(job: Job, cfg: BuildCfg, motion: HumanMotion, lacking: Measure, about: Row) -> list[Row]:
    """Return the manifest rows, one per robot, of a motion that is too short for a clip."""
    frames = round(lacking.value * cfg.curate.rate)
    row = _row(job, motion.provenance, Verdict((lacking,)), frames, cfg.curate.rate, about)
    if category := type_of_text(job.label) if job.label else None:
        row |= {"category": category, "category_group": GROUP_OF[category]}
    return [{**row, "robot": cached_robot(name).name} for name in cfg.robots]


def _clip_rows(job: Job, layout: Layout, cfg: BuildCfg, clip: Clip, about: Row) -> list[Row]:
    """Return the manifest rows of a clip, one per robot, and write the robots' motions if the clip is kept."""
    guess = categorise(clip.motion, clip.contact)
    source = clip.motion.provenance
    name = clip_id(job.id, about["person"], source.start, source.mirrored)
    kept, reasons, label, notes = _judged(cfg, name, clip)
    category = category_of(label or job.label, guess)
    row: Row = {
        **_row(job, source, clip.verdict, len(clip.motion), clip.motion.fps, about),
        "kept": kept,
        "reasons": reasons,
        "category": category,
        "category_group": GROUP_OF[category],
        "category_guess": guess,
        "label": label or job.label,
        "notes": [*source.notes, *notes],
    }
    rows = []
    for robot in map(cached_robot, cfg.robots):
        rows.append({**row, "robot": robot.name})
        if kept:
            rows[-1] |= stored(layout, job.id, name, retarget(clip, robot, cfg.method, within=cfg.within))
    return rows


class Judged(NamedTuple):
    """The verdict on a clip that counts."""

    kept: bool
    reasons: list[str]
    label: str
    """The label that was given by hand; empty for none"""
    notes: list[str]


def _judged(cfg: BuildCfg, name: str, clip: Clip) -> Judged:
    """Return the verdict by hand where there is one, else curation's."""
    verdict, label = judgement(cfg.review, name)
    reasons = list(clip.verdict.reasons)
    if verdict == KEEP and reasons:
        return Judged(True, [], label, [f"kept by hand, though {'; '.join(reasons)}"])
    if verdict == REJECT:
        return Judged(False, [*reasons, BY_HAND], label, [])
    return Judged(clip.verdict.kept, reasons, label, [])


def _row(job: Job, source: Provenance, verdict: Verdict, frames: int, fps: float, about: Row) -> Row:
    """Return what the manifest says of a clip before it is put on a robot, but for its category."""
    return {
        **about,
        "clip": clip_id(job.id, about["person"], source.start, source.mirrored),
        "kept": verdict.kept,
        "reasons": list(verdict.reasons),
        "recording": job.name,
        "source": job.source,
        "format": source.format,
        "mirrored": source.mirrored,
        "start": round(source.start, 6),
        "end": round(source.start + frames / fps, 6),
        "fps": fps,
        "frames": frames,
        "split": split_of(job.relative),
        "label": job.label,
        "licence": source.licence,
        "redistributable": source.redistributable,
        "notes": list(source.notes),
        "imported": False,
        **{m.name: m.value for m in verdict.measures},
        **{f"{m.name}_limit": m.limit for m in verdict.measures},
    }


def stored(layout: Layout, recording: str, name: str, motion: RobotMotion) -> Row:
    """Write a robot's motion and return its columns of the manifest."""
    path = layout.clip(motion.robot, recording, name)
    make_folder(path.parent)
    save_robot_motion(path, motion)
    return {"file": path.relative_to(layout.root).as_posix(), "sha256": file_sha256(path), **motion_columns(motion)}


def motion_columns(motion: RobotMotion) -> Row:
    """Return the columns of the manifest that say how a robot's motion was made and how good it is."""
    report: Any = motion.report
    return {
        "method": report["method"],
        "flags": list(report["flags"]),
        "scale": report.get("scale"),
        "steps": report.get("steps"),
        **{name: value for name, value in report["metrics"].items() if name != "frames"},
    }
