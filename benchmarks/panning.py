"""How well people are lifted who are filmed by a camera that turns: its turn is seen in a rendered background.

The background is noise on a sphere, as far away as can be; the person hides a part of it. What the film's own check
measures of it goes through the same functions as that of a real film.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from filming import Noise, camera_for, film, staged
from lifting import FACING, TILTS, Score, subjects, whole_clip
from lifting import HEAD as LIFTING_HEAD
from lifting import row as lifting_row
from lifting import score as lifting_score
from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.video.camera import WIDTH, flow
from phuma.video.landmarks import Landmarks
from phuma.video.lift import LiftCfg
from phuma.video.pictures import FLOW_SECONDS, Pictures
from phuma.video.pinhole import Camera
from phuma.video.turning import moves, steadied
from tables import markdown, save

RATES = (0.0, 5.0, 15.0)
"""Degrees a second"""
SHAPE = (90, 160)
GRAIN = 3.0
"""Of 255, noise of pictures"""


class Panned(NamedTuple):
    score: Score
    turn: float
    """Degrees by which the camera is off at the end"""
    refused: bool


@cache
def sphere() -> Array:
    """(800, 2400) light and dark by latitude and longitude."""
    rng = np.random.default_rng(0)
    light = sum(gaussian_filter(rng.normal(size=(800, 2400)), s, mode="wrap") * s for s in (2, 4, 8, 20))
    return np.asarray((light - light.min()) / np.ptp(light) * 255)


def background(turn: Array, focal: float, rng: np.random.Generator) -> Array:
    """A small picture of the sphere, by a camera whose axes are turned by a matrix."""
    row, col = np.indices(SHAPE)
    rays = np.stack([col - 0.5 * (SHAPE[1] - 1), row - 0.5 * (SHAPE[0] - 1), np.full(SHAPE, focal * WIDTH)], axis=-1)
    rays = rays @ turn.T
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    at = np.arcsin(rays[..., 1]) / np.pi * 800 + 400, np.arctan2(rays[..., 0], rays[..., 2]) / (2 * np.pi) * 2400 % 2400
    return map_coordinates(sphere(), at, order=1, mode="wrap") + rng.normal(size=SHAPE) * GRAIN


def watched(seen: Landmarks, camera: Camera, axis: Array, rate: float, seed: int) -> Pictures:
    """What the film's check measures of the background, the camera turning about an axis by so many rad a second."""
    rng, frames = np.random.default_rng(seed), len(seen)
    every = round(FLOW_SECONDS * seen.fps)
    columns = {n: np.zeros(frames) for n in ("cut", "change", "light", "flow", "right", "down", "clockwise", "rest")}
    columns["flow"] -= 1
    before: tuple[Array, Array] | None = None
    for t in range(0, frames, every):
        turn = rot.to_matrix(rot.from_rotvec(axis * rate * t / seen.fps))
        low, high = (v(seen.image[t], axis=0) / max(seen.size) * WIDTH for v in (np.min, np.max))
        hidden = np.zeros(SHAPE, bool)
        (left, top), (right, bottom) = ((v + w).clip(0) for v, w in ((low, -5), (high, 5)))
        hidden[int(top) : int(bottom) + 1, int(left) : int(right) + 1] = True
        picture = background(turn, camera.focal / max(camera.size), rng)
        picture[hidden] = rng.normal(size=int(hidden.sum())) * 40 + 128
        if before is not None and (moved := flow(before[0], picture, hidden | before[1])) is not None:
            for name, value in zip(("flow", "right", "down", "clockwise", "rest"), moved):
                columns[name][t] = value * seen.fps / every
        before = picture, hidden
    return Pictures(**columns, people=np.full(frames, -1.0))


def panned(rate: float) -> list[Panned]:
    out = []
    for n, subject in enumerate(list(subjects())[::2]):
        truth = staged(subject.motion, FACING[tuple(FACING)[n % len(FACING)]])
        pitch, roll = TILTS[n % len(TILTS)]
        camera = camera_for(truth, 4.0, pitch, roll)
        still = film(truth, camera, subject.stature, Noise(), seed=10 * n)
        axis, frames = camera.rotation.T @ [0.0, 0.0, 1.0], len(still)  # a tripod turns about what is up
        angle = np.radians(rate) * (np.arange(frames) - frames // 2) / still.fps
        middle = 0.5 * np.array(camera.size)
        rays = np.concatenate([(still.image - middle) / camera.focal, np.ones((frames, 33, 1))], axis=-1)
        rays = rot.rotate_back(np.repeat(rot.from_rotvec(angle[:, None] * axis)[:, None], 33, axis=1), rays)
        image = camera.focal * rays[..., :2] / rays[..., 2:] + middle
        seen = Landmarks(still.fps, still.size, image, still.world, still.visibility, still.presence)
        pictures = watched(seen, camera, axis, np.radians(rate), n)
        steady, (turned,) = steadied(seen, pictures, [(0, frames)], camera.focal)
        cfg = LiftCfg(stature=subject.stature, focal=camera.focal)
        known = abs(np.degrees(turned) - rate * (frames - 1) / still.fps)
        own = lifting_score(subject, camera, steady, truth, cfg, whole_clip)
        out.append(Panned(own, float(known), bool(moves(pictures, seen.fps).any())))
    return out


def main() -> None:
    rows = []
    for rate in RATES:
        films = panned(rate)
        name = f"{rate:g}°/s" if rate else "still"
        told = [f"{np.mean([p.turn for p in films]):.1f}", sum(p.refused for p in films)]
        rows.append([*lifting_row(name, [p.score for p in films]), *told])
    save(
        "panning",
        "Cameras that turn on the spot",
        "3 s of every second motion of `lifting.md`, usual noise, filmed by a camera on a tripod that turns evenly, "
        "with a background that is rendered at the size at which the film's check sees it; the turn that the check "
        "measures is taken out before lifting. Stature and focal length are known, gravity is not.",
        markdown([*LIFTING_HEAD, "turn off by °", "refused"], rows),
    )


if __name__ == "__main__":
    sys.exit(main())
