"""Describe heels and toes as an estimator of contacts sees them: how high, how fast, and how noisy that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phuma.contacts.soles import corner_points
from phuma.core.human_motion import HumanMotion
from phuma.core.median import median
from phuma.core.rotations import Array
from phuma.core.series import length, rate
from phuma.core.skeleton import REGIONS
from phuma.core.smoothing import smooth_positions

LIGHT = 0.3
"""Cutoff below which motion is kept before accelerations are taken, as a share of the frame rate (9 Hz at 30 Hz): a
runner's bounce stays"""
SAMPLES = 2048
"""The most frames from which noise is measured"""
CALMING = 0.012
"""Cutoff in Hz at which noisy soles are smoothed, times their noise in m; it counts below that of `Evidence.light`"""
LOWEST_CUTOFF = 4.0
"""Cutoff in Hz below which no soles are smoothed: steps would go"""
SLOWER = 0.35
"""Weight of the slower of the ways from the frame before and to the next one: soles land and leave between frames"""


@dataclass(frozen=True, eq=False)
class Regions:
    """Heels and toes over time."""

    corners: Array
    """(T, 4, C, 3) m, the corners of each region: four of a person's, two of a robot's"""
    fps: float
    noise: float
    """Standard deviation in m of a region's position on each axis, as recorded"""
    calm: float
    """Share of the band of `Evidence.light` that is left after smoothing noisy soles further, at most 1"""

    @cached_property
    def height(self) -> Array:
        """Return (T, 4) m: the mean height of each region."""
        return np.asarray(self.corners[..., 2].mean(axis=2))

    @cached_property
    def velocity(self) -> Array:
        """Return (T, 4, 3) m/s: the mean velocity of each region."""
        return rate(self.corners.mean(axis=2)) * self.fps

    def speed(self, floor: Array) -> Array:
        """Return (T, 4) m/s: the mean speed of each region's corners on a floor that moves at `floor` (3,) m/s."""
        step = length(np.diff(self.corners, axis=0) * self.fps - floor).mean(axis=2)
        across = length(rate(self.corners) * self.fps - floor).mean(axis=2)
        slower = np.minimum(np.concatenate([step[:1], step]), np.concatenate([step, step[-1:]]))
        return np.asarray(across + SLOWER * np.minimum(slower - across, 0.0))


def regions_of(light: Array, noise: float, fps: float) -> Regions:
    """Return the regions of a recording of at least two frames; light (T, P, 3) m: the soles' corners after smoothing
    it at LIGHT, as many of each region."""
    cutoff = max(LOWEST_CUTOFF, CALMING / max(noise, 1e-9))
    calm = min(1.0, cutoff / (LIGHT * fps))
    soles = light if calm == 1.0 else smooth_positions(light, cutoff, fps)
    return Regions(soles.reshape(len(light), len(REGIONS), -1, 3), fps, noise, calm)


def recorded_noise(motion: HumanMotion, light: Array) -> float:
    """Return m: the noise of a person's soles, of which light (T, 16, 3) m are the corners after smoothing."""
    some = slice(None, None, -(-len(motion) // SAMPLES))
    quat = motion.joint_quat[some]
    pose = motion.pose if len(quat) == len(motion) else motion.body.forward(motion.root_pos[some], quat)
    recorded = motion.body.sole_positions(pose, quat, points=corner_points(motion.body))
    return noise_of(recorded, light[some])


def noise_of(recorded: Array, light: Array) -> float:
    """Return m: 1.48 median |recorded - light| of the regions' centres on each axis, the standard deviation of normal
    noise; corners (T, P, 3) m of some frames."""
    away = recorded - light
    centres = away.reshape(len(away), len(REGIONS), -1, 3).mean(axis=2)
    return 1.48 * median(np.abs(centres))
