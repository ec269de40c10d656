"""Film a motion without a picture: landmarks as a pose network would give them, of a known camera and with its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.video.camera import Camera
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import SEEN, marker_positions


@dataclass(frozen=True)
class Noise:
    """How far landmarks are off; standard deviations, and the seconds over which errors are alike."""

    pixels: float = 0.01
    """As a share of the person's height in the picture"""
    pixels_time: float = 0.1
    depth: float = 0.04
    """m"""
    depth_time: float = 0.3
    bias: float = 0.03
    """m, of each landmark's depth, the same all the time"""
    shrunk: float = 0.06
    """Share by which the network sees people too small"""
    hidden: float = 0.05
    """Share of the time in which an arm or a leg is hidden: then its visibility is low and its noise fourfold"""

    def times(self, factor: float) -> Noise:
        """Return the noise at so many times its strength."""
        return Noise(
            self.pixels * factor, self.pixels_time, self.depth * factor, self.depth_time, self.bias * factor,
            self.shrunk * min(factor, 1.0), self.hidden * min(factor, 1.0),
        )  # fmt: skip


LIMBS = [[NAMES.index(f"{s}_{n}") for n in names] for s in ("left", "right") for names in (
    ("elbow", "wrist", "pinky", "index", "thumb"), ("knee", "ankle", "heel", "foot_index"))]  # fmt: skip
LIKE = {name: name if name in SEEN else next(s for s in SEEN if name.startswith(s)) for name in NAMES}
"""The landmark that stands for one that is not used"""


def coloured(rng: np.random.Generator, shape: tuple[int, ...], frames: float) -> Array:
    """Return (T, ...) noise of standard deviation 1 that is alike over so many frames."""
    keep = np.exp(-1.0 / frames)
    out = rng.normal(size=shape)
    for t in range(1, shape[0]):
        out[t] = keep * out[t - 1] + np.sqrt(1 - keep**2) * out[t]
    return out


def film(
    motion: HumanMotion, camera: Camera, stature: float, noise: Noise | None = None, seed: int = 0, pan: float = 0.0
) -> Landmarks:
    """Return the landmarks of a motion; pan [rad/s] turns the camera to the left."""
    noise = noise or Noise(0.0, depth=0.0, bias=0.0, shrunk=0.0, hidden=0.0)
    rng = np.random.default_rng(seed)
    fps, frames = motion.fps, len(motion)
    seen = (
        marker_positions(motion, tuple(LIKE[n] for n in NAMES), stature) - np.array(camera.position)
    ) @ camera.rotation
    if pan:
        angle = pan * (np.arange(frames) - frames / 2) / fps
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        x, z = seen[..., 0].copy(), seen[..., 2].copy()
        seen[..., 0], seen[..., 2] = c * x + s * z, -s * x + c * z
    hidden = np.zeros((frames, len(NAMES)), dtype=bool)
    for limb in LIMBS:
        hidden[:, limb] = (coloured(rng, (frames,), 0.3 * fps) > _quantile(noise.hidden))[:, None]
    much = np.where(hidden, 4.0, 1.0)[..., None]
    image = camera.focal * seen[..., :2] / seen[..., 2:] + 0.5 * np.array(camera.size)
    tall = camera.focal * stature / seen[..., 2].mean(axis=1)
    image = image + noise.pixels * tall[:, None, None] * much * coloured(rng, image.shape, noise.pixels_time * fps)
    hips = seen[:, [NAMES.index("left_hip"), NAMES.index("right_hip")]].mean(axis=1)
    world = _into_sight(seen - hips[:, None], hips)
    off = noise.depth * much[..., 0] * coloured(rng, world.shape[:2], noise.depth_time * fps)
    world[..., 2] += off + noise.bias * rng.normal(size=len(NAMES))
    return Landmarks(fps, camera.size, image, world * (1 - noise.shrunk), np.where(hidden, 0.3, 0.98), np.ones(frames))


def _into_sight(world: Array, hips: Array) -> Array:
    """Return points in the axes of a camera that would look at the hips, as a network does that sees a cut-out."""
    from phuma.core import rotations as rot

    ahead = np.broadcast_to([0.0, 0.0, 1.0], hips.shape)
    return rot.rotate_back(rot.between(ahead, hips)[:, None] * np.ones((1, world.shape[1], 1)), world)


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - share) if share > 0 else np.inf
