"""Film a motion without a picture: the landmarks that a perfect network would give of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.synth import generate
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.markers import SEEN, marker_positions
from phuma.video.pinhole import Camera

LIKE = tuple(name if name in SEEN else next(s for s in SEEN if name.startswith(s)) for name in NAMES)
SIZE = (1280, 960)
FOCAL = 1300.0


def walker(kind: str = "walk", seconds: float = 2.0, facing: float = 2.0, seed: int = 2) -> HumanMotion:
    """A generated person who moves about the origin and faces an angle [rad] from the x axis."""
    motion = generate(kind, seconds, seed).motion
    ahead = rot.rotate(motion.joint_quat[:, 0], np.array([0.0, 0.0, 1.0]))[:, :2].mean(axis=0)
    yaw = rot.from_axis("z", facing - np.arctan2(ahead[1], ahead[0]))
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(yaw, quat[:, 0])
    middle = motion.root_pos.mean(axis=0) * [1.0, 1.0, 0.0]
    return replace(motion, root_pos=rot.rotate(yaw, motion.root_pos - middle), joint_quat=rot.normalize(quat))


def camera(pitch: float = 0.0, roll: float = 0.0, distance: float = 5.0) -> Camera:
    """A camera that looks at the origin's hips; degrees."""
    height = 0.95 - distance * np.tan(np.radians(pitch))
    return Camera(SIZE, FOCAL, float(np.radians(pitch)), float(np.radians(roll)), (-distance, 0.0, float(height)))


def film(motion: HumanMotion, by: Camera, noise: float = 0.0, seed: int = 0) -> Landmarks:
    """The landmarks of a motion, with noise in the picture [share of the height], and five times it in depth [m]."""
    rng = np.random.default_rng(seed)
    stature = motion.body.shape["stature"]
    points = marker_positions(motion, LIKE, stature)
    seen = (points - np.array(by.position)) @ by.rotation
    image = by.project(points)
    hips = seen[:, [NAMES.index("left_hip"), NAMES.index("right_hip")]].mean(axis=1)
    towards = rot.between(np.broadcast_to([0.0, 0.0, 1.0], hips.shape), hips)[:, None]
    world = rot.rotate_back(np.repeat(towards, len(NAMES), axis=1), seen - hips[:, None])
    high = by.focal * stature / 5.0
    image = image + noise * high * rng.normal(size=image.shape)
    world[..., 2] += 5 * noise * rng.normal(size=world.shape[:2])
    return Landmarks(motion.fps, by.size, image, world, np.full(world.shape[:2], 0.98), np.ones(len(motion)))
