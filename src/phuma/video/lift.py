"""Lift landmarks of a film to the motion of a person in the world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.body.open import AVERAGE_STATURE, OPEN_SPACE, OpenShape
from phuma.contacts.evidence import Evidence as ContactEvidence
from phuma.contacts.stance import contacts_that_stand
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.smoothing import smooth
from phuma.video.camera import Camera, angles_of, axes_of, up_of
from phuma.video.fit import Level, Problem, State, solve
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import MARKERS, SEEN
from phuma.video.posing import Rig, local_rotations, pose
from phuma.video.posture import posture
from phuma.video.sides import OTHER, exchanged
from phuma.video.terms import PIXELS, Picture, Shared

FOCAL = 1.2
"""Focal length that is guessed, over the longer side of the picture"""
LEVEL_PITCH, LEVEL_ROLL = np.radians(12.0), np.radians(2.5)
"""How far cameras are usually tilted, and turned"""
KNOWN = np.radians(0.2)
BAND = 0.025  # m
SMOOTH = 0.05  # s


@dataclass(frozen=True)
class LiftCfg:
    """What is known of person and camera."""

    stature: float | None = None
    """Height of the person in m; guessed from the network's own measure and the average if it is not given"""
    focal: float | None = None
    """Focal length in px of the picture; 1.2 times the longer side if it is not given"""
    camera: tuple[float, float] | None = None
    """Degrees by which the camera looks up and by which it is turned clockwise; found if it is not given"""


@dataclass(frozen=True, eq=False)
class Lifted:
    """A motion that was lifted from a film."""

    motion: HumanMotion
    """z-up, the ground at 0; it begins above the origin; x is the direction in which the camera looks"""
    camera: Camera
    notes: tuple[str, ...]
    """What was guessed, with its number and the flag that sets it"""
    reprojection: Array
    """(T,) px, mean distance of the body's landmarks from those in the picture, by their visibility"""


def lift_stretch(landmarks: Landmarks, cfg: LiftCfg) -> Lifted:
    """Return the motion of a stretch of film in which the person is seen all the time."""
    focal = cfg.focal or FOCAL * max(landmarks.size)
    lengths, scale = _lengths(landmarks, cfg.stature)
    picture, state = _begin(landmarks, focal, lengths, scale)
    known = np.radians(cfg.camera) if cfg.camera is not None else np.zeros(2)
    level = Level(known[0], known[1], *((LEVEL_PITCH, LEVEL_ROLL) if cfg.camera is None else (KNOWN, KNOWN)))
    up = up_of(*known)
    state = replace(state, shared=state.shared._replace(up=up))
    stands = np.zeros((len(landmarks), 8))
    problem = Problem(Rig.of(SEEN), picture, landmarks.fps, level, lengths, 1e-3, stands, scale)
    state = solve(problem, state, 10)
    for _ in range(ROUNDS):
        problem.stands, ground = find_standing(state, landmarks.fps)
        state = replace(state, shared=state.shared._replace(ground=ground))
        state = solve(problem, state, 8)
    return _told(landmarks, cfg, focal, state)


ROUNDS = 3


def motion_of(state: State, fps: float, source: Provenance) -> HumanMotion:
    """Return a state as a motion, the ground at z = 0, beginning above the origin."""
    turn = axes_of(state.shared.up)
    local, _ = local_rotations(state.x)
    local[:, 0] = turn @ state.root
    position = state.x[:, :3] @ turn.T
    position = position - np.array([*position[0, :2], state.shared.ground])
    return HumanMotion(OPEN_SPACE.body(state.shared.lengths), position, rot.from_matrix(local), fps, source)


def find_standing(state: State, fps: float) -> tuple[Array, float]:
    """Return (T, 8) whether each point of the rig's soles stands, and the height of the ground by that."""
    motion = motion_of(state, fps, Provenance("film", "film"))
    light = smooth(motion, min(4.0, 0.3 * fps), min(6.0, 0.3 * fps))
    found = contacts_that_stand(ContactEvidence(motion, light, light.sole_heights().astype(np.float32), BAND))
    stands = np.repeat(found.mask, 2, axis=1).astype(float)
    soles = pose(Rig.of(()), state.x, state.root, state.shared.lengths).points @ state.shared.up
    return stands, float(np.median(soles[stands > 0])) if stands.any() else float(np.quantile(soles, 0.05))


def _lengths(landmarks: Landmarks, stature: float | None) -> tuple[Array, float]:
    """Return the lengths of an average person of this stature, or of one that is guessed, and by what the network's
    world is to be scaled for that."""
    world = dict(zip(NAMES, landmarks.world.swapaxes(0, 1)))
    seen = dict(zip(NAMES, landmarks.visibility.T))

    def bone(a: str, b: str) -> float:
        sure = np.minimum(seen[a], seen[b])
        some = sure >= np.median(sure)
        return float(np.median(np.linalg.norm(world[a] - world[b], axis=-1)[some]))

    trunk = 0.5 * (world["left_shoulder"] + world["right_shoulder"] - world["left_hip"] - world["right_hip"])
    measured, usual = float(np.median(np.linalg.norm(trunk, axis=-1))), 0.853 * 0.339
    for side in ("left", "right"):
        for a, b, share in (("hip", "knee", 0.233), ("knee", "ankle", 0.243)):
            measured += bone(f"{side}_{a}", f"{side}_{b}")
            usual += share
    seen_stature = measured / usual
    if stature is None:
        stature = 0.5 * (AVERAGE_STATURE + 1.06 * seen_stature)
    return OpenShape(stature).lengths(), stature / seen_stature


def _begin(landmarks: Landmarks, focal: float, lengths: Array, scale: float) -> tuple[Picture, State]:
    """Return what the picture shows, and where the fit begins: step by step, frame by frame."""
    use = [NAMES.index(n) for n in SEEN]
    high = float(np.median(np.ptp(landmarks.image[..., 1], axis=1)))
    wrong = exchanged(landmarks.image, high, landmarks.fps)
    landmarks = replace(
        landmarks,
        image=np.where(wrong[..., None], landmarks.image[:, OTHER], landmarks.image),
        world=np.where(wrong[..., None], landmarks.world[:, OTHER], landmarks.world),
    )
    rays = (landmarks.image[:, use] - 0.5 * np.array(landmarks.size)) / focal
    trust = np.clip(landmarks.visibility[:, use], 0.05, 1.0) * np.array([TRUST.get(n.split("_")[-1], 1.0) for n in SEEN])
    world, even = (gaussian(v, SMOOTH * landmarks.fps) for v in (landmarks.world[:, use], rays))
    hips = [SEEN.index("left_hip"), SEEN.index("right_hip")]
    sight = np.concatenate([even[:, hips].mean(axis=1), np.ones((len(rays), 1))], axis=1)
    sight /= np.linalg.norm(sight, axis=1, keepdims=True)
    turned = scale * rot.rotate(rot.between(np.broadcast_to([0.0, 0.0, 1.0], sight.shape), sight)[:, None], world)
    away = _translation(turned, even, trust)
    z = np.maximum(turned[..., 2] + away[:, 2:], 0.3)
    points = np.concatenate([even * z[..., None], z[..., None]], axis=-1)
    x, root = posture(dict(zip(SEEN, points.swapaxes(0, 1))), lengths)
    noise = PIXELS * lengths[0] / gaussian(away[:, 2], landmarks.fps)
    picture = Picture(rays, landmarks.world[:, use, 2], sight, trust, trust * np.where(wrong[:, use], 0.2, 1.0), noise, landmarks.fps)
    return picture, State(x, root, Shared(lengths, scale, up_of(0.0, 0.0), 0.0))


TRUST = {"pinky": 0.5, "index": 0.5, "thumb": 0.4}


def _translation(points: Array, rays: Array, trust: Array) -> Array:
    """Return (T, 3) m: where points (T, P, 3) have to be moved to be seen at rays (T, P, 2): the least squares of
    (x + X) - u (z + Z)."""
    frames, n = trust.shape
    a = np.zeros((frames, n, 2, 3))
    a[..., 0, 0] = a[..., 1, 1] = 1.0
    a[..., 2] = -rays
    b = rays * points[..., 2:] - points[..., :2]
    a, b = (a * trust[..., None, None]).reshape(frames, 2 * n, 3), (b * trust[..., None]).reshape(frames, 2 * n, 1)
    turned = a.transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(turned @ a, turned @ b)[..., 0])


def gaussian(x: Array, frames: float) -> Array:
    """Return x (T, ...) smoothed along time by a Gaussian of this standard deviation in frames; ends are repeated."""
    reach = int(np.ceil(3 * frames))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(frames, 1e-6)) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(x, [(reach, reach)] + [(0, 0)] * (x.ndim - 1), mode="edge")
    return sum(k * padded[i : i + len(x)] for i, k in enumerate(kernel))


def _told(landmarks: Landmarks, cfg: LiftCfg, focal: float, state: State) -> Lifted:
    motion = motion_of(state, landmarks.fps, Provenance("film", "film"))
    pitch, roll = angles_of(state.shared.up)
    turn = axes_of(state.shared.up)
    start = turn @ state.x[0, :3]
    position = -np.array([*start[:2], state.shared.ground])
    camera = Camera(landmarks.size, focal, pitch, roll, tuple(position))
    return Lifted(motion, camera, (), np.zeros(len(landmarks)))
