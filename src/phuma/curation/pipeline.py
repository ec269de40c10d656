"""Curation of one recording: resample, smooth, find the ground, cut, measure, judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phuma.clip import Clip, Measure, Verdict
from phuma.contact import FootContacts
from phuma.curation.config import CurateCfg, DynamicLimits, Limits
from phuma.curation.dynamic import LOADED, FrameDynamics, frame_dynamics
from phuma.curation.force import GroundForce, ground_force
from phuma.curation.ground import contact_ratios, vote_ground
from phuma.curation.metrics import contact_score, root_jerk, support_distance
from phuma.curation.paper import FrameMetrics
from phuma.curation.resample import resample
from phuma.curation.smooth import smooth
from phuma.curation.soles import Soles, corner_points
from phuma.errors import PhumaError
from phuma.motion import HumanMotion
from phuma.rotations import Array
from phuma.skeleton import INDEX, N_SOLE

SUPPORT = [INDEX[j] for j in ("left_foot", "right_foot", "left_ankle", "right_ankle")]
BLOCK = 2048  # frames posed at a time: memory stays flat however long the recording is
MIN_FRAMES = 4  # jerk is a third difference
LIGHT = 0.3
"""of the frame rate, 9 Hz: where motion is cut off before accelerations are taken, so that a runner's bounce stays"""
EDGE = 0.1
"""s at either end of a recording in which the filter makes up the acceleration"""


@dataclass(frozen=True, eq=False)
class Curation:
    """A recording after curation."""

    motion: HumanMotion
    """Whole, at the clips' rate, smoothed, with the ground at z = 0"""
    ground: float
    """Height of the ground in the recording's own frame, metres"""
    contact: FootContacts
    frames: FrameMetrics | FrameDynamics
    """What the preset looks at, frame by frame"""
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
        limits = self.cfg.limits
        if isinstance(self.frames, FrameDynamics):
            assert isinstance(limits, DynamicLimits)
            verdict = self.frames.judge(first, last, limits)
        else:
            assert isinstance(limits, Limits)
            verdict = self.frames.judge(first, last, limits)
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
    motion = smooth(recorded, cfg.root_cutoff, cfg.rotation_cutoff)
    by_forces = isinstance(cfg.limits, DynamicLimits)
    heights = np.empty((len(motion), N_SOLE), dtype=np.float32)
    support = np.zeros((2, len(motion)))
    for first in range(0, len(motion), BLOCK):
        block = motion.frames(first, min(first + BLOCK, len(motion)))
        here = slice(first, first + len(block))
        heights[here] = block.sole_heights()
        if not by_forces:
            support[:, here] = support_distances(block)
    ground = vote_ground(heights, cfg.band) if cfg.ground is None else cfg.ground
    motion = motion.shifted(np.array([0.0, 0.0, -ground]))
    contact = contact_ratios(heights - np.float32(ground), cfg.band)
    frames: FrameMetrics | FrameDynamics
    if by_forces:
        frames = dynamics_of(recorded, cfg)
        contact *= frames.regions  # what swings low is near the ground too, and would be held
    else:
        frames = FrameMetrics(
            root_jerk=root_jerk(motion.root_pos, motion.fps),
            contact_score=contact_score(contact),
            pelvis_height=motion.root_pos[:, 2],
            pelvis_support=support[0],
            spine_support=support[1],
        )
    return Curation(motion, ground, FootContacts(contact, motion.fps), frames, cfg)


def support_distances(motion: HumanMotion) -> Array:
    """(2, T) m, of the pelvis and of spine1 from the base of support."""
    base = motion.pose.position[:, SUPPORT, :2]
    lumbar = motion.body.lumbar_position(motion.pose)
    return np.stack([support_distance(point[:, :2], base) for point in (motion.root_pos, lumbar)])


def dynamics_of(recorded: HumanMotion, cfg: CurateCfg) -> FrameDynamics:
    """What preset `dynamic` looks at, of a recording at the clips' rate.

    Its floor is where loaded soles are: the vote of `ground` counts all soles and lies above that by centimetres.
    """
    fps = recorded.fps
    motion = smooth(recorded, LIGHT * fps, LIGHT * fps)
    force, soles = forces_and_soles(motion)
    trusted = np.ones(len(motion), dtype=bool)
    edge = round(EDGE * fps)
    trusted[:edge] = trusted[len(motion) - edge :] = False
    loaded = trusted & (force.vertical > LOADED)
    floor = cfg.ground
    if floor is None:
        floor = vote_ground(soles.lowest[loaded] if loaded.any() else soles.lowest, cfg.band)
    away = np.linalg.norm(recorded.root_pos - motion.root_pos, axis=1)
    return frame_dynamics(force, soles, floor, away, fps, trusted)


def forces_and_soles(motion: HumanMotion) -> tuple[GroundForce, Soles]:
    """Posed in blocks, each with its neighbours' frames, as accelerations need them."""
    corners = corner_points(motion.body)
    forces, places = [], []
    for first in range(0, len(motion), BLOCK):
        last = min(first + BLOCK, len(motion))
        begin = max(0, first - 2)
        block = motion.frames(begin, min(last + 1, len(motion)))
        own = slice(first - begin, last - begin)
        forces.append(ground_force(block.pose, block.fps).frames(own))
        places.append(block.sole_positions(corners)[own])
    return GroundForce.joined(forces), Soles.of(np.concatenate(places), motion.fps)
