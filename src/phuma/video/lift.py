"""Lift landmarks of a film to the motion of the person in the world.

A stretch of film is one least-squares problem: the pose of the open body in every frame, its lengths, which way is up
and where the ground is (`fit.py`). A long one is solved in windows, after these numbers were found from parts of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.errors import ConfigError, PhumaError
from phuma.video.beginning import begin, guessed_stature, sides_mended
from phuma.video.fit import Level, Problem, State
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import SEEN, marker_positions
from phuma.video.pinhole import Camera, angles_of, up_of
from phuma.video.posing import Rig
from phuma.video.standing import fit_standing
from phuma.video.stretches import SHORTEST, Stretch, frames_of, stretches_of
from phuma.video.terms import Shared
from phuma.video.windows import solved

FOCAL = 1.0
"""Focal length that is guessed, over the longer side of the picture: phones have 0.8, other cameras more"""
LEVEL_PITCH, LEVEL_ROLL = np.radians(12.0), np.radians(2.5)
"""How far cameras usually look up or down, and are turned"""
KNOWN = np.radians(0.05)
STATURE_WIDTH = 1e-3  # a film does not show stature


@dataclass(frozen=True)
class LiftCfg:
    """What is known of person and camera."""

    stature: float | None = None
    """Height of the person in m; guessed from the network's own measure and the average if it is not given"""
    focal: float | None = None
    """Focal length in px of the picture; the longer side of it if it is not given"""
    camera: tuple[float, float] | None = None
    """Degrees by which the camera looks up and by which it is turned clockwise; found if it is not given"""

    def __post_init__(self) -> None:
        if self.stature is not None and not 0.6 <= self.stature <= 2.5:
            raise ConfigError(f"--stature {self.stature:g}: expected metres, between 0.6 and 2.5")
        if self.focal is not None and not (np.isfinite(self.focal) and self.focal > 0):
            raise ConfigError(f"--focal {self.focal:g}: expected pixels, more than 0")
        if self.camera is not None and not (abs(self.camera[0]) < 85 and abs(self.camera[1]) <= 180):
            given = f"{self.camera[0]:g},{self.camera[1]:g}"
            raise ConfigError(f"--camera {given}: expected degrees, a pitch within 85 and a roll within 180")


@dataclass(frozen=True, eq=False)
class Lifted:
    """A motion that was lifted from a stretch of film."""

    motion: HumanMotion
    """z-up, the ground at 0; it begins above the origin, x is the way the camera looks; the provenance says when in the
    film it starts"""
    camera: Camera
    """In the world of the motion"""
    notes: tuple[str, ...]
    """What was guessed, with its number and the flag that sets it; the provenance has them too"""
    reprojection: Array
    """(T,) px, mean distance of the body's landmarks from those in the picture, by their visibility"""


def lift(
    landmarks: Landmarks,
    cfg: LiftCfg | None = None,
    source: str = "film",
    spans: Sequence[tuple[int, int]] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[Lifted]:
    """Return the motions of the person in a film: one for each stretch in which the person is seen.

    Gaps of up to 0.3 s are bridged; a longer one ends a stretch. `spans` are the frames that can be used, first and
    past the last of each; by default all. All stretches have the stature that is given or guessed, and each its own
    gravity and ground. `progress` is told how many frames are done, of how many.
    """
    cfg = cfg or LiftCfg()
    stretches = stretches_of(landmarks, spans)
    if not stretches:
        raise PhumaError(
            f"{source}: nobody is seen for {SHORTEST:g} s in {len(landmarks) / landmarks.fps:.1f} s of film; "
            "film one person as a whole, at least 150 px high"
        )
    most = max(stretches, key=lambda s: len(s.landmarks))
    stature = guessed_stature(most.landmarks) if cfg.stature is None else cfg.stature
    total, lifted = sum(len(s.landmarks) for s in stretches), list[Lifted]()

    def told(done: int) -> None:
        if progress is not None:
            progress(sum(len(one.motion) for one in lifted) + done, total)

    for stretch in stretches:
        told(0)
        lifted.append(_lifted(stretch, cfg, stature, source, told))
    return lifted


def focal_of(landmarks: Landmarks, cfg: LiftCfg) -> float:
    """Return px: the focal length as it is given or guessed."""
    return FOCAL * max(landmarks.size) if cfg.focal is None else cfg.focal


def _lifted(stretch: Stretch, cfg: LiftCfg, stature: float, source: str, told: Callable[[int], object]) -> Lifted:
    landmarks, wrong = sides_mended(stretch.landmarks)
    stretch = replace(stretch, landmarks=landmarks)
    focal = focal_of(landmarks, cfg)
    fit = _Fit(stretch, wrong, focal, stature, _level(cfg))
    provenance = Provenance(source, "film", start=stretch.first / landmarks.fps)
    motion, shared, position = solved(fit.solved, len(landmarks), landmarks.fps, provenance, told=told)
    pitch, roll = angles_of(shared.up)
    guessed = (("focal",) if cfg.focal is None else ()) + (("pitch", "roll") if cfg.camera is None else ())
    x, y, z = (float(v) for v in position)
    camera = Camera(landmarks.size, focal, pitch, roll, (x, y, z), guessed)
    notes = _notes(cfg, stature, camera, stretch, wrong)
    motion = motion.told(replace(provenance, notes=notes))
    return Lifted(motion, camera, notes, _reprojection(motion, camera, landmarks, stature))


def _level(cfg: LiftCfg) -> Level:
    if cfg.camera is None:
        return Level(0.0, 0.0, LEVEL_PITCH, LEVEL_ROLL)
    pitch, roll = np.radians(cfg.camera)
    return Level(float(pitch), float(roll), KNOWN, KNOWN, np.inf)


@dataclass(frozen=True, eq=False)
class _Fit:
    """The fit of a stretch, or of frames of it."""

    stretch: Stretch
    wrong: Array
    focal: float
    stature: float
    level: Level

    def solved(self, frames: Array, shared: Shared | None = None) -> State:
        """Return the fit of these frames (F,) int, with what they share held as it is given."""
        landmarks = frames_of(self.stretch.landmarks, frames)
        picture, state = begin(landmarks, self.stretch.seen[frames], self.wrong[frames], self.focal, self.stature)
        usual, scale = state.shared.lengths, state.shared.scale
        start = state.shared._replace(up=up_of(self.level.pitch, self.level.roll)) if shared is None else shared
        problem = Problem(Rig.of(SEEN), picture, landmarks.fps, self.level, usual, STATURE_WIDTH, scale)
        problem.breaks = np.flatnonzero(np.diff(frames) > 1) + 1
        problem.hold = shared is not None
        return fit_standing(problem, replace(state, shared=start))


def _reprojection(motion: HumanMotion, camera: Camera, landmarks: Landmarks, stature: float) -> Array:
    seen = [NAMES.index(name) for name in SEEN]
    away = np.linalg.norm(camera.project(marker_positions(motion, SEEN, stature)) - landmarks.image[:, seen], axis=-1)
    trust = np.maximum(landmarks.visibility[:, seen], 1e-6)
    return np.asarray((away * trust).sum(axis=1) / trust.sum(axis=1))


def _notes(cfg: LiftCfg, stature: float, camera: Camera, stretch: Stretch, wrong: Array) -> tuple[str, ...]:
    fps, notes = stretch.landmarks.fps, []
    if cfg.stature is None:
        notes.append(f"stature guessed as {stature:.2f} m; `phuma video --stature` sets it")
    if cfg.focal is None:
        notes.append(f"focal length guessed as {camera.focal:.0f} px; `phuma video --focal` sets it")
    if cfg.camera is None:
        pitch, roll = np.degrees([camera.pitch, camera.roll])
        notes.append(
            f"camera found to look {'up' if pitch > 0 else 'down'} by {abs(pitch):.1f}° and to be turned "
            f"{'clockwise' if roll > 0 else 'anticlockwise'} by {abs(roll):.1f}°; "
            f"`phuma video --camera={pitch:.1f},{roll:.1f}` sets that"
        )
    if gone := int((~stretch.seen).sum()):
        notes.append(f"the person was not seen for {gone / fps:.2f} s in all, bridged")
    if swapped := int(wrong.any(axis=1).sum()):
        notes.append(f"left and right were exchanged for {swapped / fps:.2f} s in all, put right")
    return tuple(notes)
