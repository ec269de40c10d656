"""Find the sliding that standing feet reveal: the ground moves along under them."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.curation.mending.footing import Footing

WIDTH = 1.0
"""Standard deviation in s of the weights of neighbouring times: a slide changes slowly, a step is not one"""
AS_ALWAYS = 30.0
"""Weight, in samples, of a ground that moves as it does on the whole"""
CLEAR = 1.2
"""Times by which a slide has to be greater than what standing feet differ from it by"""


def find_slide(footing: Footing) -> Array:
    """Return (T, 2) m/s: the horizontal velocity of what stands, sum k v / sum k around each frame.

    k(s) = exp(-s^2 / 2 WIDTH^2), and AS_ALWAYS samples of the median velocity of the recording. Somebody stands.
    """
    on = footing.loaded
    velocity = footing.velocity[..., :2]
    common = np.median(velocity[on], axis=0)
    count = on.sum(axis=1).astype(float)
    total = np.where(on[..., None], velocity - common, 0.0).sum(axis=1)
    width = WIDTH * footing.fps
    kernel = np.exp(-0.5 * (np.arange(-int(3 * width), int(3 * width) + 1) / width) ** 2)

    def around(x: Array) -> Array:
        return np.convolve(x, kernel, mode="full")[len(kernel) // 2 : len(kernel) // 2 + len(x)]

    weight = around(count) + AS_ALWAYS
    return common + np.stack([around(total[:, i]) / weight for i in range(2)], axis=1)


def is_clear(footing: Footing, slide: Array) -> bool:
    """Return whether standing feet share a slide (T, 2) m/s, as by their median distance from it."""
    away = np.linalg.norm(footing.velocity[..., :2] - slide[:, None], axis=2)[footing.loaded]
    return bool(np.linalg.norm(slide, axis=1).max() >= CLEAR * np.median(away))
