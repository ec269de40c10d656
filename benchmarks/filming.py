"""Film a motion without a picture: landmarks as a pose network gives them, of a known camera and with its noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import SEEN, marker_positions
from phuma.video.pinhole import Camera

SIZE = (1920, 1080)
LIMBS = [
    [NAMES.index(f"{side}_{name}") for name in names]
    for side in ("left", "right")
    for names in (("elbow", "wrist", "pinky", "index", "thumb"), ("knee", "ankle", "heel", "foot_index"))
]
LIKE = tuple(name if name in SEEN else next(s for s in SEEN if name.startswith(s)) for name in NAMES)
"""The landmark that stands for each, as corners of eyes are not used"""
HIPS = [NAMES.index("left_hip"), NAMES.index("right_hip")]


@dataclass(frozen=True)
class Noise:
    """How far landmarks are off: standard deviations. Twice these are as they were measured on four views of one person
    who balances with limbs stretched out, by the distance from the triangulated points."""

    pixels: float = 0.006
    """In the picture, as a share of the person's height in it; alike over 0.1 s"""
    pixel_bias: float = 0.006
    """The same, of each landmark for good"""
    depth: float = 0.04
    """m, of the network's depth; alike over 0.2 s"""
    depth_bias: float = 0.04
    """m, of each landmark's depth for good"""
    shrunk: float = 0.04
    """Share by which the network sees people too small"""
    hidden: float = 0.05
    """Share of the time in which an arm or a leg is hidden: then its visibility is low and its noise threefold"""

    def times(self, factor: float) -> Noise:
        """Return the noise at so many times its strength."""
        less = min(factor, 1.0)
        return Noise(
            self.pixels * factor,
            self.pixel_bias * factor,
            self.depth * factor,
            self.depth_bias * factor,
            self.shrunk * less,
            self.hidden * less,
        )


def film(
    motion: HumanMotion, camera: Camera, stature: float, noise: Noise, seed: int = 0, pan: float = 0.0
) -> Landmarks:
    """Return the landmarks of a motion; pan [rad/s] is how fast the camera turns to the left."""
    rng = np.random.default_rng(seed)
    frames, fps = len(motion), motion.fps
    seen = (marker_positions(motion, LIKE, stature) - np.array(camera.position)) @ camera.rotation
    seen = _panned(seen, pan * (np.arange(frames) - 0.5 * frames) / fps)
    hidden = np.zeros((frames, len(NAMES)), dtype=bool)
    for limb in LIMBS:
        hidden[:, limb] = (coloured(rng, (frames,), 0.3 * fps) > _quantile(noise.hidden))[:, None]
    much = np.where(hidden, 3.0, 1.0)[..., None]
    image = camera.focal * seen[..., :2] / seen[..., 2:] + 0.5 * np.array(camera.size)
    high = (camera.focal * stature / seen[..., 2].mean(axis=1))[:, None, None]
    image = image + high * noise.pixels * much * coloured(rng, image.shape, 0.1 * fps)
    image = image + high * noise.pixel_bias * rng.normal(size=(1, len(NAMES), 2))
    hips = seen[:, HIPS].mean(axis=1)
    towards = rot.between(np.broadcast_to([0.0, 0.0, 1.0], hips.shape), hips)[:, None]
    world = rot.rotate_back(np.repeat(towards, len(NAMES), axis=1), seen - hips[:, None])
    world[..., 2] += noise.depth * much[..., 0] * coloured(rng, (frames, len(NAMES)), 0.2 * fps)
    world[..., 2] += noise.depth_bias * rng.normal(size=len(NAMES))
    visibility = np.where(hidden, 0.3, 0.98)
    return Landmarks(fps, camera.size, image, world * (1 - noise.shrunk), visibility, np.ones(frames))


def staged(motion: HumanMotion, facing: float) -> HumanMotion:
    """Return a motion about the origin, turned so that the person faces `facing` rad from the camera's direction: 0
    shows the back, a quarter turn a side, half a turn the front."""
    ahead = rot.rotate(motion.joint_quat[:, 0], np.array([0.0, 0.0, 1.0]))[:, :2].mean(axis=0)
    yaw = rot.from_axis("z", facing - np.arctan2(ahead[1], ahead[0]))
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(yaw, quat[:, 0])
    middle = motion.root_pos.mean(axis=0) * [1.0, 1.0, 0.0]
    return replace(motion, root_pos=rot.rotate(yaw, motion.root_pos - middle), joint_quat=rot.normalize(quat))


def camera_for(motion: HumanMotion, least: float, pitch: float, roll: float, focal: float = 1.0) -> Camera:
    """Return a camera at least so many m from the origin, and so far that a motion about it stays in the picture, that
    looks at the hips; degrees, and the focal length over the picture's longer side."""
    reach = np.abs(motion.root_pos[:, :2]).max(axis=0)
    distance = max(least, float(reach[0] + 3.0 + 2.2 * focal * reach[1]))
    height = 0.95 - distance * np.tan(np.radians(pitch))
    return Camera(SIZE, focal * max(SIZE), np.radians(pitch), np.radians(roll), (-distance, 0.0, float(height)))


def coloured(rng: np.random.Generator, shape: tuple[int, ...], frames: float) -> Array:
    """Return (T, ...) noise of standard deviation 1 that is alike over so many frames."""
    keep = np.exp(-1.0 / frames)
    out = rng.normal(size=shape)
    for t in range(1, shape[0]):
        out[t] = keep * out[t - 1] + np.sqrt(1 - keep**2) * out[t]
    return out


def _panned(seen: Array, angle: Array) -> Array:
    """Return points (T, P, 3) in the camera's axes after it was turned to the left by angle (T,)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y, z = (seen[..., k] for k in range(3))
    return np.stack([c * x + s * z, y, c * z - s * x], axis=-1)


def _quantile(share: float) -> float:
    return NormalDist().inv_cdf(1 - share) if share > 0 else np.inf
