"""Where a fit begins: what the network saw, turned into a posture step by step, frame by frame.

Landmarks are smoothed; the network's world is turned to the line of sight to the person; each frame's distance is that
from which the world is best seen where the landmarks are; sideways, points lie on the rays through the picture.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.body.open import AVERAGE_STATURE, OpenShape
from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.video.fit import State
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import SEEN, stature_of
from phuma.video.pinhole import up_of
from phuma.video.posture import posture
from phuma.video.sides import OTHER, exchanged
from phuma.video.terms import PIXELS, Picture, Shared

SMOOTH = 0.05  # s
NEAREST = 0.3  # m
LEAST_TRUST = 0.05
GONE = 1e-3
"""Trust in what is between its neighbours in time"""
EXCHANGED_TRUST = 0.2
"""Trust in the depth of what was put on its right side: the network took back for front"""
OF_HANDS = {"pinky": 0.5, "index": 0.5, "thumb": 0.4}
"""Trust in points of hands, which are small"""
SEEN_SMALL = 1.03
"""Stature over what the network's world shows"""
PART_TRUST = np.array([OF_HANDS.get(name.split("_", 1)[-1], 1.0) for name in SEEN])
_USED = [NAMES.index(name) for name in SEEN]
_HIPS = [SEEN.index("left_hip"), SEEN.index("right_hip")]


def guessed_stature(landmarks: Landmarks) -> float:
    """Return m: half way between the average and what the network's world shows, which is as far off."""
    return float(np.clip(0.5 * (AVERAGE_STATURE + SEEN_SMALL * _shown_stature(landmarks)), 1.0, 2.2))


def sides_mended(landmarks: Landmarks) -> tuple[Landmarks, Array]:
    """Return landmarks with left and right as they are, and (T, 33) bool which were exchanged."""
    high = float(np.median(np.ptp(landmarks.image[..., 1], axis=1)))
    wrong = exchanged(landmarks.image, max(high, 1.0), landmarks.fps)
    image, world, seen = (
        np.where(wrong.reshape(*wrong.shape, *[1] * (v.ndim - 2)), v[:, OTHER], v)
        for v in (landmarks.image, landmarks.world, landmarks.visibility)
    )
    return replace(landmarks, image=image, world=world, visibility=seen), wrong


def begin(landmarks: Landmarks, seen: Array, wrong: Array, focal: float, stature: float) -> tuple[Picture, State]:
    """Return what the picture shows, and the posture from which a fit begins; seen (T,) and wrong (T, 33) say what was
    bridged and what was exchanged."""
    lengths, scale = OpenShape(stature).lengths(), stature / _shown_stature(landmarks)
    rays = (landmarks.image[:, _USED] - 0.5 * np.array(landmarks.size)) / focal
    trust = np.clip(landmarks.visibility[:, _USED], LEAST_TRUST, 1.0) * PART_TRUST
    trust = np.where(seen[:, None], trust, GONE)
    frames = SMOOTH * landmarks.fps
    world, even = gaussian(landmarks.world[:, _USED], frames), gaussian(rays, frames)
    sight = np.concatenate([even[:, _HIPS].mean(axis=1), np.ones((len(rays), 1))], axis=1)
    sight /= np.linalg.norm(sight, axis=1, keepdims=True)
    turned = scale * rot.rotate(rot.between(np.broadcast_to([0.0, 0.0, 1.0], sight.shape), sight)[:, None], world)
    away = _distance(turned, even, trust)
    z = np.maximum(turned[..., 2] + away[:, 2:], NEAREST)[..., None]
    points = np.concatenate([even * z, z], axis=-1)
    x, root = posture(dict(zip(SEEN, points.swapaxes(0, 1))), lengths)
    picture = Picture(
        rays=rays,
        depth=landmarks.world[:, _USED, 2],
        sight=sight,
        trust=trust,
        depth_trust=trust * np.where(wrong[:, _USED], EXCHANGED_TRUST, 1.0),
        noise=PIXELS * stature / np.maximum(gaussian(away[:, 2], landmarks.fps), NEAREST),
        fps=landmarks.fps,
    )
    return picture, State(x, root, Shared(lengths, scale, up_of(0.0, 0.0), 0.0))


def gaussian(x: Array, frames: float) -> Array:
    """Return x (T, ...) smoothed along time by a Gaussian of this standard deviation in frames; ends are repeated."""
    reach = min(int(np.ceil(3 * frames)), len(x))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(frames, 1e-6)) ** 2)
    kernel /= kernel.sum()
    padded = np.pad(x, [(reach, reach)] + [(0, 0)] * (x.ndim - 1), mode="edge")
    out = np.zeros_like(x, dtype=float)
    for i, k in enumerate(kernel):
        out += k * padded[i : i + len(x)]
    return out


def _shown_stature(landmarks: Landmarks) -> float:
    world, trust = landmarks.world.swapaxes(0, 1), landmarks.visibility.T
    return max(stature_of(dict(zip(NAMES, world)), dict(zip(NAMES, trust))), 0.1)


def _distance(points: Array, rays: Array, trust: Array) -> Array:
    """Return (T, 3) m by which points (T, P, 3) have to be moved to be seen at rays (T, P, 2): the least squares of
    (x + X) - u (z + Z), weighted by trust (T, P)."""
    frames, n = trust.shape
    a = np.zeros((frames, n, 2, 3))
    a[..., 0, 0] = a[..., 1, 1] = 1.0
    a[..., 2] = -rays
    b = rays * points[..., 2:] - points[..., :2]
    rows = (a * trust[..., None, None]).reshape(frames, 2 * n, 3)
    seen = (b * trust[..., None]).reshape(frames, 2 * n, 1)
    turned = rows.transpose(0, 2, 1)
    return np.asarray(np.linalg.solve(turned @ rows + 1e-9 * np.eye(3), turned @ seen)[..., 0])
