"""Every part of a synthetic motion follows a smooth curve in time.

Everything here is a function of time, not a list of frames, so that a motion is the same at every frame rate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from phuma.core.rotations import Array

Function = Callable[[Array], Array]


def ramp(t: Array, start: float, end: float) -> Array:
    """Return a rise from 0 at `start` to 1 at `end` with the least jerk, as people move a limb from rest to rest."""
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def pulse(t: Array, start: float, top: float, leave: float, end: float) -> Array:
    """Return a rise from `start` to `top`, held until `leave`, and a fall that ends at `end`."""
    return ramp(t, start, top) - ramp(t, leave, end)


def gesture(t: Array, start: float, duration: float, *shares: float) -> Array:
    """Return a pulse whose four times are shares of `duration` after `start`."""
    a, b, c, d = (start + share * duration for share in shares)
    return pulse(t, a, b, c, d)


class Curve:
    """This is a C2 curve of quintics through knots with given value, velocity and acceleration; constant outside.

    `times` (K,) rise; values, velocities, accelerations are (K, D), or (K,) for a scalar curve.
    """

    def __init__(
        self, times: ArrayLike, values: ArrayLike, velocities: ArrayLike = 0.0, accelerations: ArrayLike = 0.0
    ):
        self.times = np.asarray(times, dtype=float)
        self.values = np.asarray(values, dtype=float)
        self.velocities = np.broadcast_to(np.asarray(velocities, dtype=float), self.values.shape)
        self.accelerations = np.broadcast_to(np.asarray(accelerations, dtype=float), self.values.shape)
        assert len(self.times) == len(self.values)
        assert np.all(np.diff(self.times) > 0), self.times

    def __call__(self, t: Array) -> Array:
        """Return the curve (T, D) or (T,) at times (T,), seconds."""
        times = self.times
        if len(times) == 1:
            return np.broadcast_to(self.values[0], (*t.shape, *self.values.shape[1:])).copy()
        i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        h = times[i + 1] - times[i]
        s = np.clip((t - times[i]) / h, 0.0, 1.0)
        if self.values.ndim == 2:
            h, s = h[:, None], s[:, None]
        p0, p1 = self.values[i], self.values[i + 1]
        v0, v1 = h * self.velocities[i], h * self.velocities[i + 1]
        a0, a1 = h**2 * self.accelerations[i], h**2 * self.accelerations[i + 1]
        d = p1 - p0 - v0 - 0.5 * a0
        e, f = v1 - v0 - a0, a1 - a0
        c3, c4, c5 = 10 * d - 4 * e + 0.5 * f, -15 * d + 7 * e - f, 6 * d - 3 * e + 0.5 * f
        return p0 + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))))


def sampled(times: Array, values: Array) -> Curve:
    """Return a smooth function through many equally spaced samples: times (N,), values (N, D)."""
    velocities = np.gradient(values, times, axis=0)
    return Curve(times, values, velocities, np.gradient(velocities, times, axis=0))


def wander(rng: np.random.Generator, size: float, slow: float = 0.08, fast: float = 0.6) -> Function:
    """Return an aimless smooth drift of root mean square `size`, of frequencies between `slow` and `fast` Hz.

    It is larger at the slow end, as the sway of a standing person is.
    """
    frequency = np.geomspace(slow, fast, 6) * rng.uniform(0.8, 1.25, 6)
    weight = 1 / np.sqrt(frequency)
    amplitude = size * weight * np.sqrt(2 / np.sum(weight**2))
    phase = rng.uniform(0, 2 * np.pi, 6)
    return lambda t: np.sum(amplitude * np.sin(2 * np.pi * frequency * t[..., None] + phase), axis=-1)


def finite(function: Function, at: float, step: float = 1e-3) -> tuple[Array, Array, Array]:
    """Return value, velocity and acceleration of a vector function at one time, by central differences."""
    before, here, after = function(np.array([at - step, at, at + step]))
    return here, (after - before) / (2 * step), (after - 2 * here + before) / step**2
