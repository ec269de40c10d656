"""From a clip and the robots that perform it to what is looked at: every frame measured, faults marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from phuma.clip import Clip, Measure
from phuma.clipfile import is_clip, load_clip
from phuma.curation import CurateCfg, Curation, curate
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.frames import causes, clip_frames
from phuma.curation.paper import FrameMetrics
from phuma.dataset.dataset import Dataset, Entry
from phuma.dataset.describe import load_description
from phuma.dataset.formats.imported import Columns, imported
from phuma.dataset.layout import Layout
from phuma.errors import ConfigError, PhumaError
from phuma.files.probe import Probe
from phuma.motion import Provenance
from phuma.retargeting import DEFAULT_METHOD, FIVE, retarget_motion
from phuma.retargeting import metrics as limits
from phuma.retargeting.frames import robot_frames
from phuma.robot_file import is_robot_motion, load_robot_motion
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot, load_robot
from phuma.rollout import Rollout
from phuma.rollout_file import FORMAT as ROLLOUT
from phuma.rollout_file import is_rollout, load_rollout
from phuma.rotations import Array
from phuma.skeleton import REGIONS
from phuma.sources import ReadCfg, read_all
from phuma.tracks import human_tracks
from phuma.view.show import Lane, Performer, Show, Track

IN_CONTACT = limits.IN_CONTACT
DEFAULT_ROBOT = "g1"
STORED = "stored"
MOST = 6
"""robots that can be looked at together"""


def perform(clip: Clip, robot: Robot, method: str = DEFAULT_METHOD) -> Performer:
    """Put a clip on a robot."""
    motion = retarget_motion(clip.motion, clip.contact, robot, method)
    return performer(f"{robot.name}:{method}", f"{robot.name} by {method}", motion, robot)


def performer(name: str, title: str, motion: RobotMotion, robot: Robot) -> Performer:
    """A robot's motion with what is wrong in which frame."""
    motion = motion.reordered(robot.joint_names)
    frames = robot_frames(motion, robot)
    stands = motion.contact > IN_CONTACT
    tracks = [] if frames.position_error is None or frames.direction_error is None else [
        Track("position error", "cm", 100 * frames.position_error, (100 * limits.POSITION_LIMIT,)),
        Track("direction error", "deg", frames.direction_error, (limits.DIRECTION_LIMIT,)),
    ]  # fmt: skip
    tracks += [
        Track("joint use", "% of range", frames.joint_use, (100 * limits.MARGIN,)),
        Track("torque", "% of limit", frames.torque_use, (100.0,)),
        Track("slip of standing soles", "cm/s", 100 * _largest(frames.slip), (100 * limits.SLIP_LIMIT,)),
        Track("standing soles off the ground", "mm",
              1000 * _largest(np.where(stands, np.abs(frames.height), np.nan)), (1000 * limits.HEIGHT_LIMIT,)),
    ]  # fmt: skip
    scores = motion.report.get("metrics", {})
    return Performer(
        name, title, robot, motion, frames.over, frames.slips, tuple(tracks),
        {metric.replace("_", "-"): scores[metric] for metric in FIVE if metric in scores},
        tuple(motion.report.get("flags", ())),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Piece:
    """A motion to be looked at, before it is decided who performs it."""

    title: str
    clip: Clip | None
    """The human's; None where only a robot's motion is known"""
    motion: RobotMotion | None = None
    """A robot's that is stored with it"""
    measures: tuple[Measure, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    lanes: tuple[Lane, ...] = ()
    path: Path | None = None
    """A file to give to `phuma share` or `phuma render`"""
    frames: FrameMetrics | FrameDynamics | None = None
    """What curation looked at; None: what can be told from the clip itself"""

    @property
    def span(self) -> tuple[float, float]:
        """Seconds in its recording."""
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
    """What any file of motion holds: a robot's motion or rollout, a clip, or a recording's people, each whole. A
    rollout of a robot that is not built in needs it among `robots`."""
    probe = Probe(path)
    if is_rollout(probe):
        rollout = load_rollout(path)
        named = {robot.name: robot for robot in robots}
        motion = rollout_motion(rollout, named.get(rollout.robot) or load_robot(rollout.robot))
        return [Piece(path.name, None, motion, facts=(("of", rollout.motion), *_origin(motion.provenance)), path=path)]
    if is_robot_motion(probe):
        entry = stored_entry(path)
        if entry is not None:
            return [piece_of_entry(entry)]
        motion = load_robot_motion(path)
        return [Piece(path.name, None, motion, facts=_origin(motion.provenance), path=path)]
    if is_clip(probe):
        clip = load_clip(path)
        return [Piece(path.name, clip, None, clip.verdict.measures, _origin(clip.motion.provenance), path=path)]
    curations = [curate(motion, curate_cfg) for motion in read_all(path, read_cfg)]
    names = [f"{path.name}, person {k + 1}" if len(curations) > 1 else path.name for k in range(len(curations))]
    return [_recording(name, curation, path) for name, curation in zip(names, curations)]


def rollout_motion(rollout: Rollout, robot: Robot) -> RobotMotion:
    """What a robot did, as a motion; contacts are judged by its own soles. Where it ended is a flag."""
    if missing := set(robot.joint_names) - set(rollout.joint_names):
        raise PhumaError(f"rollout of {rollout.motion!r}: no joint {min(missing)}, which {robot.name} has")
    joints = rollout.joint_pos[:, [rollout.joint_names.index(name) for name in robot.joint_names]]
    columns = Columns(rollout.root_pos, rollout.root_quat, joints, ("root_pos", "root_quat", "joint_pos"))
    motion = imported(Path(rollout.motion), ROLLOUT, robot, rollout.rate, columns, "wxyz")
    flags = () if rollout.terminated_at is None else (f"terminated at {rollout.terminated_at / rollout.rate:.1f} s",)
    return replace(motion, report={"method": "policy", "flags": flags})


def _recording(name: str, curation: Curation, path: Path) -> Piece:
    whole = Clip(curation.motion, curation.contact, curation.verdict, curation.ground)
    lost = np.ones(len(whole.motion), dtype=bool)
    for clip in curation.clips:
        if clip.verdict.kept:
            first = round((clip.start - whole.start) * whole.motion.fps)
            lost[first : first + len(clip.motion)] = False
    facts = _origin(curation.motion.provenance)
    lanes = (Lane("in no clip that is kept", "reason", lost),) if lost.any() else ()
    return Piece(name, whole, None, whole.verdict.measures, facts, lanes, path, curation.frames)


def piece_of_entry(entry: Entry) -> Piece:
    """A clip of a dataset, with its own verdict."""
    row = entry.row
    clip = entry.human() if row["human_file"] else None
    measures = [] if clip is None else [
        Measure(m.name, row[m.name], row[f"{m.name}_limit"], m.bound, m.unit)
        for m in clip.verdict.measures if row.get(m.name) is not None
    ]  # fmt: skip
    named = [(name, row[name]) for name in ("category", "split", "label", "source", "format", "licence")]
    facts = [(name, str(value)) for name, value in [*named, ("clip", entry.id)] if value]
    facts += [("note", note) for note in row["notes"] or ()]
    motion, path = (entry.motion(), entry.path) if row["file"] else (None, None)
    return Piece(row["recording"], clip, motion, tuple(measures), tuple(facts), (), path)


def stored_entry(path: Path) -> Entry | None:
    """The clip of a dataset whose robot's motion this file is. One that is still being built knows no clip yet."""
    file = path.resolve()
    for root in file.parents:
        layout = Layout(root)
        if layout.description.is_file() and file.is_relative_to(layout.clips):
            finished = load_description(root).finished
            return Dataset(root).entry_of_file(file.relative_to(root).as_posix()) if finished else None
    return None


def stored_performer(motion: RobotMotion, robot: Robot) -> Performer:
    """A robot's motion as it is."""
    method = motion.report.get("method")
    return performer(f"{robot.name}:{STORED}", f"{robot.name}{f' by {method}' if method else ''}", motion, robot)


def performers_of(piece: Piece, robots: Sequence[Robot], methods: Sequence[str]) -> list[Performer]:
    """Each robot by each method. Without methods, the robot's motion that is stored, or the default method's."""
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
    """A piece and its performers together. Without a human, the contacts of the first robot that is no
    ghost are shown."""
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
        frames = piece.frames or clip_frames(clip.motion, clip.contact)
        lanes += [Lane(name.replace("_", " "), "reason", bad) for name, bad in causes(frames, piece.measures).items()]
        tracks = human_tracks(frames, piece.measures)
    for p, of in zip(marked, _short_names(marked)):
        faults = {"joint beyond its limit": np.any(p.over, axis=1), "standing sole slides": np.any(p.slips, axis=1)}
        lanes += [Lane(of + name, "violation", bad) for name, bad in faults.items() if bad.any()]
    reasons = tuple(str(m) for m in piece.measures if not m.passed)
    start, end = piece.span
    return Show(
        piece.title, f"{start:.1f} to {end:.1f} s", fps, None if clip is None else clip.motion, contact,
        tuple(performers), (*lanes, *piece.lanes), tracks, piece.measures, not reasons if piece.measures else None,
        reasons, piece.facts, None if piece.path is None else str(piece.path),
    )  # fmt: skip


def _short_names(performers: Sequence[Performer]) -> list[str]:
    """What tells performers apart, for the front of a lane's name: the robot, or the robot and the method."""
    if len(performers) < 2:
        return [""] * len(performers)
    robots = [p.robot.name for p in performers]
    return [f"{p.robot.name if len(set(robots)) == len(robots) else p.id}: " for p in performers]


def _origin(provenance: Provenance) -> tuple[tuple[str, str], ...]:
    facts = [("source", provenance.source), ("format", provenance.format), ("licence", provenance.licence)]
    return (*facts, *(("note", note) for note in provenance.notes))


def _contact_lanes(contact: Array) -> list[Lane]:
    stands = contact > IN_CONTACT
    lanes = [Lane(region.replace("_", " "), "contact", stands[:, r]) for r, region in enumerate(REGIONS)]
    flight = np.logical_not(stands.any(axis=1))
    return [*lanes, Lane("no sole at the ground", "flight", flight)] if flight.any() else lanes


def _largest(values: Array) -> Array:
    """(T,) over the soles; nan where there is none."""
    some = np.isfinite(values).any(axis=1)
    return np.where(some, np.max(np.where(np.isfinite(values), values, -np.inf), axis=1), np.nan)
