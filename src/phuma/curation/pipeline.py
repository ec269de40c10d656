"""Curate one recording: resample, mend, smooth, find the ground, cut, measure, judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.evidence import Evidence
from phuma.contacts.ground import vote_ground
from phuma.contacts.regions import LIGHT
from phuma.contacts.stance import FEWEST
from phuma.core.clip import Clip, Measure, Verdict
from phuma.core.curation_metrics import DURATION
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion, pose_together
from phuma.core.resample import frames_at, resample
from phuma.core.series import length
from phuma.core.skeleton import N_SOLE
from phuma.core.smoothing import smooth, smooth_each
from phuma.curation.config import CONTACTS, CurateCfg
from phuma.curation.dynamic import AROUND, FrameDynamics, frame_dynamics
from phuma.curation.mending import Mending, mend
from phuma.curation.mending.speed import find_speed
from phuma.curation.paper import POSED, FrameMetrics, frame_metrics, posed_series
from phuma.errors import PhumaError

MIN_FRAMES = 4  # jerk is a third difference
PART_CLIPS = 256
"""Clips of a part of a long recording: a quarter of an hour"""
STRETCHES, STRETCH = 64, 800
"""Stretches of a long recording that vote for the height of its ground, and the frames of each"""
FLIGHTS = "flights show that it plays at "
"""How a note on a recording's speed begins"""
MARGIN = 15.0
"""Periods of its cutoff after which a filter has forgotten what was there to the last bit"""


@dataclass(frozen=True, eq=False)
class Curation:
    """A recording after curation.

    >>> curation = phuma.curate(phuma.generate("walk", 6.0).motion)
    >>> [(clip.start, clip.verdict.kept) for clip in curation.clips]
    [(0.0, True), (3.5, True)]
    """

    motion: HumanMotion
    """The whole recording at the clips' frame rate, smoothed, with the ground at z = 0"""
    ground: float
    """Height of the ground in the recording's own frame, metres"""
    contact: FootContacts
    frames: FrameMetrics | FrameDynamics
    """Quantities that the preset judges, frame by frame"""
    cfg: CurateCfg
    spans: Sequence[tuple[int, int]]
    """First and past-the-last frame of each clip"""
    mending: Mending | None = None
    """What was mended; None where nothing was to be"""

    def __repr__(self) -> str:
        kept = sum(c.verdict.kept for c in self.clips)
        return f"Curation({self.motion!r}, {kept} of {len(self.clips)} clips kept, ground at {self.ground:.3f} m)"

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """Return all clips, kept or not, in order of time."""
        return tuple(self._clip(first, last) for first, last in self.spans)

    def _clip(self, first: int, last: int) -> Clip:
        if (first, last) == (0, len(self.motion)):
            return self.whole
        return Clip(
            motion=self.motion.frames(first, last),
            contact=self.contact.frames(first, last),
            verdict=self._judge(first, last),
            ground=self.ground,
        )

    def _judge(self, first: int, last: int) -> Verdict:
        measures = self.frames.judge(first, last, self.cfg.limits).measures
        if self.mending is not None:
            measures += self.mending.measures(first, last)
        seconds = (last - first) / self.motion.fps
        if seconds < self.cfg.min_seconds:
            measures += (Measure(DURATION, seconds, self.cfg.min_seconds),)
        return Verdict(measures)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the recording as one piece, uncut."""
        return self.whole.verdict

    @cached_property
    def whole(self) -> Clip:
        """Return the recording as one clip, uncut."""
        return Clip(self.motion, self.contact, self._judge(0, len(self.motion)), self.ground)


def clip_spans(frames: int, fps: float, cfg: CurateCfg) -> list[tuple[int, int]]:
    """Return the first and the past-the-last frame of each clip: full ones, and what remains at the end if it is long
    enough."""
    length, stride = round(cfg.clip_seconds * fps), round((cfg.clip_seconds - cfg.overlap_seconds) * fps)
    shortest = max(MIN_FRAMES, round(cfg.min_seconds * fps))
    spans = [(first, min(first + length, frames)) for first in range(0, frames, stride)]
    # A recording too short for a clip is one rejected clip, so that it is accounted for.
    return [(first, last) for first, last in spans if last - first >= shortest] or [(0, frames)]


def too_short(motion: HumanMotion, cfg: CurateCfg) -> Measure | None:
    """Return the measure that rejects a recording which is too short for a clip, whatever is in it; else None.

    None too where its speed is looked for, as only its forces tell how long it is, and where it cannot be curated.
    """
    frames = frames_at(motion, cfg.rate)
    if cfg.retime or frames < MIN_FRAMES or frames / cfg.rate >= cfg.min_seconds:
        return None
    return Measure(DURATION, frames / cfg.rate, cfg.min_seconds)


def curate(motion: HumanMotion, cfg: CurateCfg | None = None) -> Curation:
    """Judge a recording: every clip of it gets a verdict with every metric.

    Returns a Curation: `motion` (30 Hz, smoothed, ground at z = 0), `contact.ratio` (T, 4), `frames` with what the
    preset looks at as arrays over time, `clips` with their verdicts, and `verdict` on the recording as one piece.

    >>> curation = phuma.curate(phuma.read("walk.bvh"))
    >>> curation.contact.ratio.shape
    (60, 4)
    >>> [clip.verdict.reasons for clip in curation.clips]
    [()]
    """
    cfg = cfg or CurateCfg()
    evidence, note = evidence_of(resample(motion, cfg.rate), cfg), ""
    if cfg.mends or cfg.retime:
        evidence, note = timed(motion, evidence, cfg)
    frames = len(evidence.recorded)
    return _curated(evidence, cfg, clip_spans(frames, cfg.rate, cfg), note)


def curate_parts(motion: HumanMotion, cfg: CurateCfg | None = None) -> Iterator[Curation]:
    """Yield the curation of a recording: one, or where it has more than PART_CLIPS clips, one for each part of so many.

    So memory stays flat however long a recording is. Clips are those of `curate`: each part has what counts around its
    clips, is smoothed with as much of its neighbours as a filter can feel, and all stand on one ground, for which
    STRETCHES of the recording vote. Each part is mended by itself, and its speed is not looked at.
    """
    cfg = cfg or CurateCfg()
    total = frames_at(motion, cfg.rate)
    spans = clip_spans(total, cfg.rate, cfg)
    if len(spans) <= PART_CLIPS:
        yield curate(motion, cfg)
        return
    around = round(AROUND * cfg.rate)
    margin = round(MARGIN / min(cfg.root_cutoff, cfg.rotation_cutoff) * cfg.rate)
    ground = _vote(motion, cfg, margin) if cfg.ground is None else cfg.ground
    for at in range(0, len(spans), PART_CLIPS):
        own = spans[at : at + PART_CLIPS]
        first, last = own[0][0], total if own[-1] == spans[-1] else own[-1][1]
        first, last = max(0, first - around), min(total, last + around)
        begin, end = max(0, first - margin), min(total, last + margin)
        wide = _curated(evidence_of(resample(motion, cfg.rate, begin, end), cfg, ground), cfg, ())
        yield Curation(
            motion=wide.motion.frames(first - begin, last - begin),
            ground=wide.ground,
            contact=wide.contact.frames(first - begin, last - begin),
            frames=wide.frames.frames(first - begin, last - begin),
            cfg=cfg,
            spans=[(a - first, b - first) for a, b in own],
            mending=None if wide.mending is None else wide.mending.frames(first - begin, last - begin),
        )


def _vote(motion: HumanMotion, cfg: CurateCfg, margin: int) -> float:
    """Return the height of the ground in m by the vote of stretches that lie evenly over a recording."""
    total = frames_at(motion, cfg.rate)
    starts = np.linspace(0, total - STRETCH, min(STRETCHES, total // STRETCH)).astype(int)
    heights = np.empty((len(starts), STRETCH, N_SOLE), dtype=np.float32)
    for voted, first in zip(heights, starts.tolist()):
        begin, end = max(0, first - margin), min(total, first + STRETCH + margin)
        wide = smooth(resample(motion, cfg.rate, begin, end), cfg.root_cutoff, cfg.rotation_cutoff)
        voted[:] = wide.frames(first - begin, first - begin + STRETCH).sole_heights()
    return vote_ground(heights, cfg.band)


def evidence_of(recorded: HumanMotion, cfg: CurateCfg, voted: float | None = None) -> Evidence:
    """Return the evidence of a recording at the clips' rate: smoothed, with the heights of its soles.

    Of a part of a recording, `voted` is the height of the ground that the whole has voted for.
    """
    if len(recorded) < MIN_FRAMES:
        raise PhumaError(f"{len(recorded)} frames at {cfg.rate:g} Hz; curation needs at least {MIN_FRAMES}")
    motion, light = _smoothed(recorded, cfg)
    heights = np.empty((len(motion), N_SOLE), dtype=np.float32)
    for here in blocks_of(len(motion)):
        heights[here] = motion.frames(here.start, here.stop).sole_heights()
    return Evidence(recorded, motion, heights, cfg.band, cfg.ground, voted, light)


def _smoothed(recorded: HumanMotion, cfg: CurateCfg) -> tuple[HumanMotion, HumanMotion | None]:
    """Return a recording smoothed as clips are, and for forces if these are looked at; posed, if it is short."""
    of_clips = (cfg.root_cutoff, cfg.rotation_cutoff)
    if not (cfg.mends or cfg.retime or cfg.preset == "dynamic" or cfg.estimator == "stance"):
        return smooth(recorded, *of_clips), None
    motion, light = smooth_each(recorded, [of_clips, (LIGHT * recorded.fps,) * 2])
    pose_together([recorded, motion, light])
    return motion, light


def timed(motion: HumanMotion, evidence: Evidence, cfg: CurateCfg) -> tuple[Evidence, str]:
    """Return the evidence of a recording, at its own speed if `cfg` asks for that, and a note of what flights show."""
    speed = find_speed(evidence.support, cfg.rate) if len(evidence.recorded) >= FEWEST else 1.0
    if speed == 1.0:
        return evidence, ""
    shown = f"{FLIGHTS}{'twice' if speed == 2.0 else 'half'} its speed"
    if not cfg.retime:
        return evidence, f"{shown}; --fps auto mends that"
    origin, fps = motion.provenance, motion.fps / speed
    own = replace(motion, fps=fps, provenance=replace(origin, start=origin.start * speed))
    return evidence_of(resample(own, cfg.rate), cfg), f"{shown}: its rate is {fps:g} Hz, not {motion.fps:g}"


def _curated(evidence: Evidence, cfg: CurateCfg, spans: Sequence[tuple[int, int]], note: str = "") -> Curation:
    """Mend what is off, find what stands, and measure what the preset judges; the provenance gets the note."""
    mending, contact, notes = None, None, [note]
    if cfg.mends:
        evidence, stands, mending = mend(evidence, partial(evidence_of, cfg=cfg))
        contact = stands if cfg.estimator == "stance" else None
        notes.append(mending.note)
    if contact is None:
        contact = CONTACTS[cfg.estimator](evidence)
    motion = with_notes(evidence.motion, notes).shifted(np.array([0.0, 0.0, -evidence.ground]))
    frames: FrameMetrics | FrameDynamics
    if cfg.preset == "dynamic":
        frames = dynamics_of(evidence)
    else:
        posed = np.zeros((len(POSED), len(motion)))
        for here in blocks_of(len(motion)):
            posed[:, here] = posed_series(evidence.motion.frames(here.start, here.stop))
        frames = frame_metrics(motion, contact.paper, posed)
    return Curation(motion, evidence.ground, contact, frames, cfg, spans, mending)


def with_notes(motion: HumanMotion, notes: Sequence[str]) -> HumanMotion:
    """Return a motion with what is not empty of these notes in its provenance."""
    if not any(notes):
        return motion
    origin = motion.provenance
    return motion.told(replace(origin, notes=(*origin.notes, *filter(None, notes))))


def dynamics_of(evidence: Evidence) -> FrameDynamics:
    """Return what preset `dynamic` judges; its floor is where loaded soles are, not the vote of all of them."""
    away = length(evidence.recorded.root_pos - evidence.light.root_pos)
    of = evidence.support
    return frame_dynamics(of.force, of.soles, of.floor, away, evidence.recorded.fps, of.trusted)
