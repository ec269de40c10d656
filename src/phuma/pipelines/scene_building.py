"""Build the scene of a clip and the robots that perform it: measure every frame and mark its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phuma.contacts.performed import performed_motion
from phuma.core.clip import Clip, Measure
from phuma.core.foot_contacts import in_contact
from phuma.core.human_motion import HumanMotion
from phuma.core.performed_motion import PerformedMotion
from phuma.core.provenance import Provenance
from phuma.core.robot_metrics import FIVE, ROBOT
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.core.skeleton import REGIONS
from phuma.curation import CurateCfg, Curation, curate
from phuma.curation.config import PRESETS
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.frames import causes, clip_frames
from phuma.curation.paper import FrameMetrics
from phuma.dataset.dataset import Dataset, Entry
from phuma.dataset.describe import load_description
from phuma.dataset.exchange.imported import Columns, imported
from phuma.dataset.layout import Layout
from phuma.errors import ConfigError, PhumaError
from phuma.formats.clip_file import is_clip, load_clip
from phuma.formats.robot_motion_file import is_robot_motion, load_robot_motion
from phuma.formats.rollout_file import FORMAT as ROLLOUT
from phuma.formats.rollout_file import is_rollout, load_rollout
from phuma.io.probe import Probe
from phuma.pipelines.curation_tracks import human_tracks
from phuma.pipelines.files_to_clips import people_in
from phuma.pipelines.recorded_tracks import TORQUE, recorded_tracks
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.retargeting.measure import RobotFrames, robot_frames
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg
from phuma.sources.film import FORMAT as FILM
from phuma.viewer.formatting import typed
from phuma.viewer.show import Kind, Lane, Performer, Show, Track

DEFAULT_ROBOT = "g1"
STORED = "stored"
MOST = 6
"""The number of robots that can be shown together, at most."""


def perform(clip: Clip, robot: Robot, method: str = DEFAULT_METHOD) -> Performer:
    """Return a robot that performs a clip, retargeted by a method."""
    motion = retarget(clip, robot, method)
    return performer(f"{robot.name}:{method}", f"{robot.name} by {method}", motion, robot)


def performer(name: str, title: str, motion: RobotMotion, robot: Robot) -> Performer:
    """Return a robot's motion with what is wrong in each frame."""
    motion = motion.reordered(robot.joint_names)
    frames = robot_frames(motion, robot)
    lanes, tracks = robot_series(frames)
    if isinstance(motion, PerformedMotion):  # what its motors did is recorded or unknown: it does not follow from poses
        tracks = (*recorded_tracks(motion, robot), *(track for track in tracks if track.label != TORQUE.label))
    scores = motion.report.get("metrics", {})
    return Performer(
        name, title, robot, motion, frames.over, frames.slips, tracks,
        {metric.replace("_", "-"): scores[metric] for metric in FIVE if metric in scores},
        tuple(motion.report.get("flags", ())), lanes=lanes, far=frames.feet_far,
    )  # fmt: skip


def robot_series(frames: RobotFrames) -> tuple[tuple[Lane, ...], tuple[Track, ...]]:
    """Return the series that the robot's metrics use: booleans as lanes, numbers as tracks."""
    lanes, tracks = [], []
    for series in (series for metric in ROBOT for series in metric.series):
        values = getattr(frames, series.name)
        if values is None:
            continue
        if values.dtype == bool:
            kind: Kind = "far" if values is frames.feet_far else "violation"
            lanes.append(Lane(series.label, kind, values if values.ndim == 1 else np.any(values, axis=1)))
        else:
            value = series.factor * (values if values.ndim == 1 else _largest(values))
            tracks.append(Track(series.label, series.unit, value, () if series.limit is None else (series.limit,)))
    return tuple(lanes), tuple(tracks)


@dataclass(frozen=True, eq=False)
class Piece:
    """Hold a motion to be shown, before it is decided which robots perform it."""

    title: str
    clip: Clip | None
    """The human's clip; None where only a robot's motion is known"""
    motion: RobotMotion | None = None
    """The robot's motion that is stored with the clip; None where there is none"""
    measures: tuple[Measure, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    lanes: tuple[Lane, ...] = ()
    path: Path | None = None
    """The file to give to `phuma share` or `phuma render`; None where there is none"""
    frames: FrameMetrics | FrameDynamics | None = None
    """What curation measured in every frame; None to measure the clip itself"""
    performance: Callable[[], Rollout] | None = None
    """Reads the performance of the stored motion under physics; None where there is none"""
    presets: Mapping[str, Callable[[], Clip]] = field(default_factory=dict)
    """Curates the recording by other presets, by their names; none where only a clip is known"""

    @property
    def span(self) -> tuple[float, float]:
        """Return the start and the end of the motion in its recording, s."""
        if self.clip is not None:
            return self.clip.start, self.clip.end
        start = self.motion.provenance.start if self.motion is not None else 0.0
        return start, start + (self.motion.duration if self.motion is not None else 0.0)


def pieces_of(
    path: Path,
    read_cfg: ReadCfg | None = None,
    curate_cfg: CurateCfg | None = None,
    robots: Sequence[Robot] = (),
) -> list[Piece]:
    """Return what a file of motion holds: a robot's motion or rollout, a clip, or the people of a recording, uncut.

    A rollout of a robot that is not built in needs that robot among `robots`.
    """
    probe = Probe(path)
    if is_rollout(probe):
        rollout = load_rollout(path)
        named = {robot.name: robot for robot in robots}
        done = rollout_motion(rollout, named.get(rollout.robot) or load_robot(rollout.robot))
        return [Piece(path.name, None, done, facts=(("of", rollout.motion), *_origin(done.provenance)), path=path)]
    if is_robot_motion(probe):
        entry = stored_entry(path)
        if entry is not None:
            return [replace(piece_of_entry(entry), path=path)]
        motion = load_robot_motion(path)
        return [Piece(path.name, None, motion, facts=_origin(motion.provenance), path=path)]
    if is_clip(probe):
        clip = load_clip(path)
        return [Piece(path.name, clip, None, clip.verdict.measures, _origin(clip.motion.provenance), path=path)]
    curations = list(people_in(path, read_cfg, curate_cfg))
    several = {c.motion.provenance.format for c in curations} != {FILM}
    what = "person" if several else "part"  # a film is of one person, who may come and go
    names = [f"{path.name}, {what} {k + 1}" if len(curations) > 1 else path.name for k in range(len(curations))]
    cfg = curate_cfg or CurateCfg()
    others = [replace(cfg, preset=name, contacts=None, mend=None) for name in PRESETS if name != cfg.preset]
    return [
        replace(
            _recording(name, curation, path),
            presets={other.preset: partial(_curated_again, path, k, read_cfg, other) for other in others},
        )
        for k, (name, curation) in enumerate(zip(names, curations))
    ]


def _curated_again(path: Path, person: int, read_cfg: ReadCfg | None, cfg: CurateCfg) -> Clip:
    """Return a person of a recording, whole, curated by other settings."""
    return list(people_in(path, read_cfg, cfg))[person].whole


def piece_of(source: RobotMotion | Rollout | Clip | HumanMotion, robots: Sequence[Robot] = ()) -> Piece:
    """Return a motion that is in memory, as `pieces_of` returns that of a file; a person's is curated."""
    if isinstance(source, HumanMotion):
        return _recording(source.provenance.source, curate(source), None)
    if isinstance(source, Clip):
        origin = source.motion.provenance
        return Piece(origin.source, source, None, source.verdict.measures, _origin(origin))
    if isinstance(source, Rollout):
        named = {robot.name: robot for robot in robots}
        source = rollout_motion(source, named.get(source.robot) or load_robot(source.robot))
    return Piece(source.provenance.source, None, source, facts=_origin(source.provenance))


def rollout_motion(rollout: Rollout, robot: Robot) -> PerformedMotion:
    """Return a rollout as a motion with all that was recorded; a termination becomes a flag."""
    if missing := set(robot.joint_names) - set(rollout.joint_names):
        raise PhumaError(f"rollout of {rollout.motion!r}: no joint {min(missing)}, which {robot.name} has")
    path = rollout.reordered(robot.joint_names)
    columns = Columns(path.root_pos, path.root_quat, path.joint_pos, ("root_pos", "root_quat", "joint_pos"))
    imported(Path(rollout.motion), ROLLOUT, robot, rollout.fps, columns, "wxyz")  # refuses what can be no motion
    motion = performed_motion(path, robot, Provenance(rollout.motion, ROLLOUT))
    flags: tuple[str, ...] = ()
    if rollout.terminated_at is not None:
        flags = (f"terminated at {rollout.terminated_at / rollout.fps:.1f} s",)
    if rollout.fault is not None:
        flags = (*flags, f"the policy is faulty: {rollout.fault}")
    return replace(motion, report={"method": rollout.report.get("way") or "policy", "flags": flags})


def _recording(name: str, curation: Curation, path: Path | None) -> Piece:
    whole = curation.whole
    lost = np.ones(len(whole.motion), dtype=bool)
    for clip in curation.clips:
        if clip.verdict.kept:
            first = round((clip.start - whole.start) * whole.motion.fps)
            lost[first : first + len(clip.motion)] = False
    facts = _origin(curation.motion.provenance)
    lanes = (Lane("in no clip that is kept", "reason", lost),) if lost.any() else ()
    return Piece(name, whole, None, whole.verdict.measures, facts, lanes, path, curation.frames)


def piece_of_entry(entry: Entry) -> Piece:
    """Return a clip of a dataset, with the measures that its row states."""
    row = entry.row
    if not row["human_file"] and not row["file"]:
        raise ConfigError(f"{entry.id} is not stored, as it was rejected: {'; '.join(row['reasons'])}")
    clip = entry.human() if row["human_file"] else None
    measures = [] if clip is None else [
        Measure(m.metric, row[m.name], row[f"{m.name}_limit"])
        for m in clip.verdict.measures if None not in (row.get(m.name), row.get(f"{m.name}_limit"))
    ]  # fmt: skip
    named = [(name, row[name]) for name in ("category", "split", "label", "source", "format", "licence")]
    facts = [(name, str(value)) for name, value in [*named, ("clip", entry.id)] if value]
    facts += [*certificate_facts(row), *(("note", note) for note in row["notes"] or ())]
    motion, path = (entry.motion(), entry.path) if row["file"] else (None, None)
    performance = entry.performance if row["certified_file"] else None
    return Piece(row["recording"], clip, motion, tuple(measures), tuple(facts), (), path, performance=performance)


def certificate_facts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what came of performing a clip under physics; nothing where that was not tried."""
    if row["certified"] is None:
        return []
    if not row["certified"]:
        return [("not certified", row["certified_reason"] or "for no known reason")]
    error, starts, pushes = (row[f"certified_{name}"] for name in ("error_mm", "robust_starts", "robust_pushes"))
    said = [f"{error:.1f} mm on average"] * (error is not None) + [f"by {row['certified_way']}"]
    said += [f"under its gains {starts:.0f} % from other starts"] * (starts is not None)
    said += [f"{pushes:.0f} % with pushes"] * (pushes is not None)
    return [("certified", ", ".join(["within 15 cm", *said]))]


def stored_entry(path: Path) -> Entry | None:
    """Return the dataset's clip whose robot motion is in this file; None outside of a finished dataset."""
    file = path.resolve()
    for root in file.parents:
        layout = Layout(root)
        if layout.description.is_file() and file.is_relative_to(layout.clips):
            finished = load_description(root).finished
            return Dataset(root).entry_of_file(file.relative_to(root).as_posix()) if finished else None
    return None


def stored_performer(motion: RobotMotion, robot: Robot) -> Performer:
    """Return a robot with its stored motion."""
    method = motion.report.get("method")
    return performer(f"{robot.name}:{STORED}", f"{robot.name}{f' by {method}' if method else ''}", motion, robot)


def performers_of(piece: Piece, robots: Sequence[Robot], methods: Sequence[str]) -> list[Performer]:
    """Return each robot by each method; without methods, by its stored motion or else the default method."""
    stored = piece.motion
    out = []
    for robot in robots or [load_robot(DEFAULT_ROBOT if stored is None else stored.robot)]:
        if stored is not None and stored.robot == robot.name and not methods:
            out.append(stored_performer(stored, robot))
        elif piece.clip is not None:
            out += [perform(piece.clip, robot, method) for method in methods or [DEFAULT_METHOD]]
        else:
            raise ConfigError(
                f"{piece.title} holds the motion of a {stored.robot if stored else 'robot'} alone; to put it on "
                "another or to compare methods, give the recording or its clip"
            )
    return out


def show_of(piece: Piece, performers: Sequence[Performer]) -> Show:
    """Return a piece with its performers; without a human, contacts are those of the first robot that is no ghost."""
    clip = piece.clip
    marked = [p for p in performers if not p.ghost]
    if clip is not None:
        fps, contact = clip.motion.fps, clip.contact.ratio
    elif performers:
        motion = (marked or performers)[0].motion
        fps, contact = motion.fps, motion.contact
    else:
        raise ConfigError(f"{piece.title}: choose a robot, no human is known")
    lanes = _contact_lanes(contact)
    tracks: tuple[Track, ...] = ()
    if clip is not None:
        frames = piece.frames or clip_frames(clip.motion, clip.contact, piece.measures)
        bad = causes(frames, piece.measures)
        lanes += [Lane(m.metric.label, "reason", bad[m.name]) for m in piece.measures if not m.passed]
        tracks = human_tracks(frames, piece.measures)
    for p, of in zip(marked, _short_names(marked)):
        lanes += [replace(lane, label=of + lane.label) for lane in p.lanes if lane.holds.any()]
    reasons = tuple(str(m) for m in piece.measures if not m.passed)
    start, end = piece.span
    return Show(
        piece.title, f"{start:.1f} to {end:.1f} s", fps, None if clip is None else clip.motion, contact,
        tuple(performers), (*lanes, *piece.lanes), tracks, piece.measures, not reasons if piece.measures else None,
        reasons, piece.facts, None if piece.path is None else typed(piece.path),
    )  # fmt: skip


def _short_names(performers: Sequence[Performer]) -> list[str]:
    """Return prefixes for the names of lanes that distinguish performers: the robot, or the robot and the method."""
    if len(performers) < 2:
        return [""] * len(performers)
    robots = [p.robot.name for p in performers]
    return [f"{p.robot.name if len(set(robots)) == len(robots) else p.id}: " for p in performers]


def _origin(provenance: Provenance) -> tuple[tuple[str, str], ...]:
    facts = [("source", provenance.source), ("format", provenance.format), ("licence", provenance.licence)]
    return (*facts, *(("note", note) for note in provenance.notes))


def _contact_lanes(contact: Array) -> list[Lane]:
    stands = in_contact(contact)
    lanes = [Lane(region.replace("_", " "), "contact", stands[:, r]) for r, region in enumerate(REGIONS)]
    flight = np.logical_not(stands.any(axis=1))
    return [*lanes, Lane("no sole at the ground", "flight", flight)] if flight.any() else lanes


def _largest(values: Array) -> Array:
    """Return (T,) the largest finite value in each frame; nan where there is none."""
    some = np.isfinite(values).any(axis=1)
    return np.where(some, np.max(np.where(np.isfinite(values), values, -np.inf), axis=1), np.nan)
