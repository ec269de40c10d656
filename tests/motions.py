"""Motions that mean nothing, for laws that hold for all."""

from __future__ import annotations

import numpy as np

from phuma.body import Body
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.skeleton import N_JOINTS, REST_TO_WORLD


def smooth_motion(
    body: Body, frames: int = 60, fps: float = 30.0, seed: int = 0, amplitude: float = 0.5
) -> HumanMotion:
    """Any pose of any joint, changing smoothly, left and right different, on a path through the world."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames) / fps

    def waves(*shape: int) -> np.ndarray:
        phase, rate = rng.uniform(0, 6, shape), rng.uniform(1, 4, shape)
        return np.sin(time.reshape(-1, *[1] * len(shape)) * rate + phase)

    quat = rot.from_rotvec(amplitude * waves(N_JOINTS, 3))
    quat[:, 0] = rot.multiply(REST_TO_WORLD, quat[:, 0])
    root = np.array([0.3, -0.2, 0.95]) + 0.3 * waves(3)
    return HumanMotion(body, root, quat, fps, Provenance("made up", "none"))
