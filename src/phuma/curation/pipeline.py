"""Curate one recording: resample, mend, smooth, find the ground, cut, measure, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from phuma.contacts.blocks import blocks_of
from phuma.contacts.evidence import Evidence
from phuma.contacts.stance import FEWEST
from phuma.core.clip import Clip, Measure, Verdict
from phuma.core.curation_metrics import DURATION
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.skeleton import N_SOLE
from phuma.core.smoothing import smooth
from phuma.curation.config import CONTACTS, CurateCfg
from phuma.curation.dynamic import FrameDynamics, frame_dynamics
from phuma.curation.mending import Mending, mend
from phuma.curation.mending.speed import find_speed
from phuma.curation.paper import FrameMetrics, frame_metrics, posed_series
from phuma.curation.resample import resample
from phuma.errors import PhumaError

MIN_FRAMES = 4  # jerk is a third difference


@dataclass(frozen=True, eq=False)
class Curation:
    """A recording after curation."""

    motion: HumanMotion
    """The whole recording at the clips' frame rate, smoothed, with the ground at z = 0"""
    ground: float
    """Height of the ground in the recording's own frame, metres"""
    contact: FootContacts
    frames: FrameMetrics | FrameDynamics
    """Quantities that the preset judges, frame by frame"""
    cfg: CurateCfg
    mending: Mending | None = None
    """What was mended; None where nothing was to be"""

    def __repr__(self) -> str:
        kept = sum(c.verdict.kept for c in self.clips)
        return f"Curation({self.motion!r}, {kept} of {len(self.clips)} clips kept, ground at {self.ground:.3f} m)"

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """Return all clips, kept or not, in order of time."""
        spans = clip_spans(len(self.motion), self.motion.fps, self.cfg)
        return tuple(
            Clip(
                motion=self.motion.frames(first, last),
                contact=self.contact.frames(first, last),
                verdict=self._judge(first, last),
                ground=self.ground,
            )
            for first, last in spans
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
        return self._judge(0, len(self.motion))

    @property
    def whole(self) -> Clip:
        """Return the recording as one clip, uncut."""
        return Clip(self.motion, self.contact, self.verdict, self.ground)


def clip_spans(frames: int, fps: float, cfg: CurateCfg) -> list[tuple[int, int]]:
    """Return the first and the past-the-last frame of each clip: full ones, and what remains at the end if it is long
    enough."""
    length, stride = round(cfg.clip_seconds * fps), round((cfg.clip_seconds - cfg.overlap_seconds) * fps)
    shortest = max(MIN_FRAMES, round(cfg.min_seconds * fps))
    spans = [(first, min(first + length, frames)) for first in range(0, frames, stride)]
    # A recording too short for a clip is one rejected clip, so that it is accounted for.
    return [(first, last) for first, last in spans if last - first >= shortest] or [(0, frames)]


def curate(motion: HumanMotion, cfg: CurateCfg | None = None) -> Curation:
    """Judge a recording: every clip of it gets a verdict with every metric.

    Returns a Curation: `motion` (30 Hz, smoothed, ground at z = 0), `contact.ratio` (T, 4), `frames` with what the
    preset looks at as arrays over time, `clips` with their verdicts, and `verdict` on the recording as one piece.

        curation = phuma.curate(phuma.read("walk.bvh"))
        curation.frames.pelvis_support
        [clip.verdict.reasons for clip in curation.clips]
    """
    cfg = cfg or CurateCfg()
    recorded = resample(motion, cfg.rate)
    if len(recorded) < MIN_FRAMES:
        raise PhumaError(f"{len(recorded)} frames at {cfg.rate:g} Hz; curation needs at least {MIN_FRAMES}")
    evidence, notes = evidence_of(recorded, cfg), [""]
    mending, contact = None, None
    if cfg.mends or cfg.retime:
        evidence, notes[0] = timed(motion, evidence, cfg)
    if cfg.mends:
        evidence, stands, mending = mend(evidence, partial(evidence_of, cfg=cfg))
        contact = stands if cfg.estimator == "stance" else None
        notes.append(mending.note)
    if contact is None:
        contact = CONTACTS[cfg.estimator](evidence)
    motion = with_notes(evidence.motion.shifted(np.array([0.0, 0.0, -evidence.ground])), notes)
    frames: FrameMetrics | FrameDynamics
    if cfg.preset == "dynamic":
        frames = dynamics_of(evidence)
    else:
        posed = [posed_series(motion.frames(here.start, here.stop)) for here in blocks_of(len(motion))]
        frames = frame_metrics(motion, contact.paper, np.concatenate(posed, axis=1))
    return Curation(motion, evidence.ground, contact, frames, cfg, mending)


def timed(motion: HumanMotion, evidence: Evidence, cfg: CurateCfg) -> tuple[Evidence, str]:
    """Return the evidence of a recording, at its own speed if `cfg` asks for that, and a note of what flights show."""
    speed = find_speed(evidence.support, cfg.rate) if len(evidence.recorded) >= FEWEST else 1.0
    if speed == 1.0:
        return evidence, ""
    shown = f"flights show that it plays at {'twice' if speed == 2.0 else 'half'} its speed"
    if not cfg.retime:
        return evidence, f"{shown}; --fps auto mends that"
    origin, fps = motion.provenance, motion.fps / speed
    own = replace(motion, fps=fps, provenance=replace(origin, start=origin.start * speed))
    return evidence_of(resample(own, cfg.rate), cfg), f"{shown}: its rate is {fps:g} Hz, not {motion.fps:g}"


def with_notes(motion: HumanMotion, notes: Sequence[str]) -> HumanMotion:
    """Return a motion with what is not empty of these notes in its provenance."""
    origin = motion.provenance
    return replace(motion, provenance=replace(origin, notes=(*origin.notes, *filter(None, notes))))


def evidence_of(recorded: HumanMotion, cfg: CurateCfg) -> Evidence:
    """Return the evidence of a recording at the clips' frame rate: smoothed, with the heights of its soles."""
    motion = smooth(recorded, cfg.root_cutoff, cfg.rotation_cutoff)
    heights = np.empty((len(motion), N_SOLE), dtype=np.float32)
    for here in blocks_of(len(motion)):
        heights[here] = motion.frames(here.start, here.stop).sole_heights()
    return Evidence(recorded, motion, heights, cfg.band, cfg.ground)


def dynamics_of(evidence: Evidence) -> FrameDynamics:
    """Return what preset `dynamic` judges; its floor is where loaded soles are, not the vote of all of them."""
    away = np.linalg.norm(evidence.recorded.root_pos - evidence.light.root_pos, axis=1)
    of = evidence.support
    return frame_dynamics(of.force, of.soles, of.floor, away, evidence.recorded.fps, of.trusted)
