"""Curation of one recording: resample, smooth, find the ground, cut, measure, judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phuma.clip import Clip, Measure, Verdict
from phuma.contact import FootContacts
from phuma.curation.config import CurateCfg, Limits
from phuma.curation.ground import contact_ratios, vote_ground
from phuma.curation.metrics import contact_score, root_jerk, support_distance
from phuma.curation.resample import resample
from phuma.curation.smooth import smooth
from phuma.errors import PhumaError
from phuma.motion import HumanMotion
from phuma.rotations import Array
from phuma.skeleton import INDEX, N_SOLE

SUPPORT = [INDEX[j] for j in ("left_foot", "right_foot", "left_ankle", "right_ankle")]
BLOCK = 2048  # frames posed at a time: memory stays flat however long the recording is
MIN_FRAMES = 4  # jerk is a third difference


@dataclass(frozen=True, eq=False)
class FrameMetrics:
    """What the filters look at, frame by frame, over a whole recording."""

    root_jerk: Array
    """(T - 3,) m/s^3"""
    contact_score: Array
    """(T,) 0 to 1"""
    pelvis_height: Array
    """(T,) m"""
    pelvis_support: Array
    """(T,) m from the base of support"""
    spine_support: Array
    """(T,) m from the base of support"""

    def __repr__(self) -> str:
        return f"FrameMetrics({len(self.contact_score)} frames)"

    def judge(self, first: int, last: int, limits: Limits) -> Verdict:
        """The verdict on frames first to last - 1."""
        clip = slice(first, last)
        jerk = self.root_jerk[first : last - 3]
        return Verdict(
            (
                Measure("root_jerk", float(jerk.mean()), limits.root_jerk, "below", " m/s^3"),
                Measure("contact_score", float(self.contact_score[clip].mean()), limits.contact_score, "above"),
                Measure("pelvis_min", float(self.pelvis_height[clip].min()), limits.pelvis_min, "above", " m"),
                Measure("pelvis_max", float(self.pelvis_height[clip].max()), limits.pelvis_max, "below", " m"),
                Measure(
                    "pelvis_support", float(self.pelvis_support[clip].mean()), limits.pelvis_support, "below", " m"
                ),
                Measure("spine_support", float(self.spine_support[clip].mean()), limits.spine_support, "below", " m"),
            )
        )


@dataclass(frozen=True, eq=False)
class Curation:
    """A recording after curation."""

    motion: HumanMotion
    """Whole, at the clips' rate, smoothed, with the ground at z = 0"""
    ground: float
    """Height of the ground in the recording's own frame, metres"""
    contact: FootContacts
    frames: FrameMetrics
    cfg: CurateCfg

    def __repr__(self) -> str:
        kept = sum(c.verdict.kept for c in self.clips)
        return f"Curation({self.motion!r}, {kept} of {len(self.clips)} clips kept, ground at {self.ground:.3f} m)"

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """All clips, kept or not, in order of time."""
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
        verdict = self.frames.judge(first, last, self.cfg.limits)
        seconds = (last - first) / self.motion.fps
        if seconds >= self.cfg.min_seconds:
            return verdict
        return Verdict((*verdict.measures, Measure("duration", seconds, self.cfg.min_seconds, "above", " s")))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the recording as one piece, uncut."""
        return self._judge(0, len(self.motion))


def clip_spans(frames: int, fps: float, cfg: CurateCfg) -> list[tuple[int, int]]:
    """First and past-the-last frame of each clip: full ones, and what remains at the end if it is long enough."""
    length, stride = round(cfg.clip_seconds * fps), round((cfg.clip_seconds - cfg.overlap_seconds) * fps)
    shortest = max(MIN_FRAMES, round(cfg.min_seconds * fps))
    spans = [(first, min(first + length, frames)) for first in range(0, frames, stride)]
    # A recording too short for a clip is one rejected clip, so that it is accounted for.
    return [(first, last) for first, last in spans if last - first >= shortest] or [(0, frames)]


def curate(motion: HumanMotion, cfg: CurateCfg | None = None) -> Curation:
    """Judge a recording: every clip of it gets a verdict with every metric.

    Returns a Curation: `motion` (30 Hz, smoothed, ground at z = 0), `contact.ratio` (T, 4), `frames` with each metric
    as an array over time, `clips` with their verdicts, and `verdict` on the recording as one piece.

        curation = phuma.curate(phuma.read("walk.bvh"))
        curation.frames.pelvis_support
        [clip.verdict.reasons for clip in curation.clips]
    """
    cfg = cfg or CurateCfg()
    motion = resample(motion, cfg.rate)
    if len(motion) < MIN_FRAMES:
        raise PhumaError(f"{len(motion)} frames at {cfg.rate:g} Hz; curation needs at least {MIN_FRAMES}")
    motion = smooth(motion, cfg.root_cutoff, cfg.rotation_cutoff)
    heights = np.empty((len(motion), N_SOLE), dtype=np.float32)
    pelvis_support = np.empty(len(motion))
    spine_support = np.empty(len(motion))
    for first in range(0, len(motion), BLOCK):
        block = motion.frames(first, min(first + BLOCK, len(motion)))
        here = slice(first, first + len(block))
        heights[here] = block.sole_heights()
        base = block.pose.position[:, SUPPORT, :2]
        pelvis_support[here] = support_distance(block.root_pos[:, :2], base)
        spine_support[here] = support_distance(block.body.lumbar_position(block.pose)[:, :2], base)
    ground = vote_ground(heights, cfg.band) if cfg.ground is None else cfg.ground
    motion = motion.shifted(np.array([0.0, 0.0, -ground]))
    contact = contact_ratios(heights - np.float32(ground), cfg.band)
    frames = FrameMetrics(
        root_jerk=root_jerk(motion.root_pos, motion.fps),
        contact_score=contact_score(contact),
        pelvis_height=motion.root_pos[:, 2],
        pelvis_support=pelvis_support,
        spine_support=spine_support,
    )
    return Curation(motion, ground, FootContacts(contact, motion.fps), frames, cfg)
