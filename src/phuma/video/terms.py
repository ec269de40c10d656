"""The terms of the lifting's least-squares problem, each a function from where the body is to weighted residuals.

Noise of neighbouring frames is alike, so a frame counts by the share of the time over which it is: then a film of twice
the frame rate has the same solution. Residuals are in standard deviations; those that can be far off are Cauchy's,
c^2 log(1 + r^2 / c^2) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from phuma.contacts.force import GRAVITY
from phuma.core.rotations import Array
from phuma.video.posing import LENGTHS, Posed

SCALE, UP, GROUND = LENGTHS, slice(LENGTHS + 1, LENGTHS + 3), LENGTHS + 3
SHARED = LENGTHS + 4
"""What all frames share: changes of the body's lengths as shares of them, the scale of the network's depth, two of the
direction that is up, and the height of the ground"""
PIXELS, PIXELS_TIME = 0.008, 0.1
"""Noise of landmarks in the picture, as a share of the person's height in it, and the time in s over which it is
alike"""
DEPTH, DEPTH_TIME = 0.08, 0.2
"""Noise of the network's depth in m, and the time over which it is alike"""
LOUD, PIXELS_LONGEST, DEPTH_LONGEST = 0.008, 5.0, 2.0
"""Half of the noise of networks stays for good, so that more frames help little: where residuals are as large as this
share of the person's height, noise is alike for so many s, in the picture and in depth, and less by their square"""
STILL, STILL_TIME = 0.03, 0.1
"""Speed in m/s of a sole that stands"""
HEIGHT, HEIGHT_TIME = 0.010, 0.5
"""Height in m of a sole that stands over the ground, and the time over which it is alike: feet of recorded people who
stand slope by 4 degrees, each in its own way and for good"""
BALANCE, BALANCE_TIME = 0.05, 0.3
"""Distance in m of the centre of pressure from the middle of what stands, beside half the distance of what stands"""
LEAST_FORCE = 0.3
"""Force in body weights below which the ground is taken to give so much"""
FAR = 3.0
"""Standard deviations beyond which a residual counts less"""


class Rows(NamedTuple):
    """Weighted residuals of T frames and their derivatives."""

    by_frame: Array
    """(T, R, V)"""
    by_shared: Array
    """(T, R, G)"""
    value: Array
    """(T, R)"""
    cost: float
    """Half of the sum of squares, or what takes its place far off"""


class Shared(NamedTuple):
    """What all frames share."""

    lengths: Array
    """(S,) m, of the open body"""
    scale: float
    """By which the network's depth is multiplied"""
    up: Array
    """(3,) in the camera's axes"""
    ground: float
    """m, height of the ground along `up` from the camera"""


class Evidence(Protocol):
    """What was seen of the person."""

    def rows(self, posed: Posed, shared: Shared, frames: slice) -> list[Rows]:
        """Return the residuals of these frames."""
        ...

    def weighed(self, points: Array) -> Evidence:
        """Return this with the noise that the points (T, P, 3) of a first fit show."""
        ...


def robust(value: Array, group: int, far: float = FAR) -> tuple[Array, float]:
    """Return (T, R) square roots of Cauchy's weights of residuals, `group` neighbours of which are one, and the
    cost."""
    if far == np.inf:
        return np.ones_like(value), 0.5 * float((value * value).sum())
    square = (value * value).reshape(len(value), value.shape[1] // group, group).sum(axis=-1) / far**2
    cost = 0.5 * far**2 * float(np.log1p(square).sum())
    return np.repeat(1 / np.sqrt(1 + square), group, axis=-1), cost


@dataclass(frozen=True, eq=False)
class Picture:
    """Landmarks of a network: in the picture, and in depth."""

    rays: Array
    """(T, P, 2) where landmarks are in the picture, from its middle, over the focal length"""
    depth: Array
    """(T, P) m, the network's depth of landmarks along the line of sight to the person"""
    sight: Array
    """(T, 3) unit, the line of sight to the person"""
    trust: Array
    """(T, P) from 0 to 1"""
    depth_trust: Array
    """(T, P) from 0 to 1, that of the depth"""
    noise: Array
    """(T,) noise of `rays`"""
    fps: float
    loud: float = 0.0
    """Residuals of a first fit over LOUD, squared, 1 at most"""

    def weighed(self, points: Array) -> Picture:
        """Return this with the noise that residuals of points (T, P, 3) show: the median of the landmarks' means."""
        at = points[..., :2] / np.maximum(points[..., 2:], 0.2)
        away = np.linalg.norm(at - self.rays, axis=-1) * PIXELS / self.noise[:, None]
        loud = float(np.median((away * self.trust).sum(axis=0) / self.trust.sum(axis=0)))
        return replace(self, loud=min((loud / LOUD) ** 2, 1.0))

    def rows(self, posed: Posed, shared: Shared, frames: slice) -> list[Rows]:
        """Return residuals (X / Z - u) / noise, and e . (p_n - mean_k p_k) / scale - (d_n - mean_k d_k).

        The noise is the network's, so it is the body that is scaled: a scale of the noisy depth would make the noise
        smaller by making all depth smaller.
        """
        return [self._image(posed, frames), self._depth(posed, shared, frames)]

    def _image(self, posed: Posed, frames: slice) -> Rows:
        n = self.rays.shape[1]
        p, jac, modes = posed.points[:, :n], posed.by_frame[:, :n], posed.by_length[:, :n]
        z = np.maximum(p[..., 2], 0.2)[..., None]
        at = p[..., :2] / z
        alike = max(PIXELS_TIME, self.loud * PIXELS_LONGEST)
        factor = self.trust[frames] / self.noise[frames, None] * np.sqrt(_share(self.fps, alike))
        value = ((at - self.rays[frames]) * factor[..., None]).reshape(len(p), -1)
        weight, cost = robust(value, 2)
        factor = (factor[..., None] * weight.reshape(len(p), n, 2) / z)[..., None]
        by_frame = (jac[..., :2, :] - at[..., None] * jac[..., 2:, :]) * factor
        by_length = (modes[..., :2, :] - at[..., None] * modes[..., 2:, :]) * factor
        return Rows(_flat(by_frame), _shared(_flat(by_length)), value * weight, cost)

    def _depth(self, posed: Posed, shared: Shared, frames: slice) -> Rows:
        n = self.rays.shape[1]
        e, trust = self.sight[frames], self.depth_trust[frames]
        mean = (trust / trust.sum(axis=1, keepdims=True))[:, None]
        along, jac, modes = (
            (e[:, None, None] @ v)[:, :, 0]
            for v in (posed.points[:, :n, :, None], posed.by_frame[:, :n], posed.by_length[:, :n])
        )
        seen = self.depth[frames, :, None]
        along, jac, modes, seen = (v - mean @ v for v in (along, jac, modes, seen))
        factor = trust / DEPTH * np.sqrt(_share(self.fps, max(DEPTH_TIME, self.loud * DEPTH_LONGEST)))
        value = (along / shared.scale - seen)[..., 0] * factor
        weight, cost = robust(value, 1)
        factor = (factor * weight)[..., None] / shared.scale
        by_shared = _shared(modes * factor)
        by_shared[..., SCALE] = -(along * factor)[..., 0] / shared.scale
        return Rows(jac * factor, by_shared, value * weight, cost)


@dataclass(frozen=True, eq=False)
class Points:
    """Points in space."""

    position: Array
    """(T, P, 3) m, in the camera's axes"""
    trust: Array
    """(T, P) from 0 to 1; 0 where a point is not known"""
    fps: float
    noise: float = 0.012
    """m"""

    def weighed(self, points: Array) -> Points:
        """Return this: points in space are as good as they are said to be."""
        return self

    def rows(self, posed: Posed, shared: Shared, frames: slice) -> list[Rows]:
        """Return residuals p - p_seen over the noise."""
        n = self.trust.shape[1]
        factor = self.trust[frames] / self.noise * np.sqrt(_share(self.fps, PIXELS_TIME))
        value = ((posed.points[:, :n] - self.position[frames]) * factor[..., None]).reshape(len(factor), -1)
        weight, cost = robust(value, 3)
        full = (factor[..., None] * weight.reshape(*factor.shape, 3))[..., None]
        by_frame, by_length = posed.by_frame[:, :n] * full, posed.by_length[:, :n] * full
        return [Rows(_flat(by_frame), _shared(_flat(by_length)), value * weight, cost)]


def heights(posed: Posed, shared: Shared, stands: Array, basis: Array, fps: float) -> Rows:
    """Return residuals up . p - ground of sole points that stand, stands (T, Q), and of others where they are below."""
    soles = slice(posed.points.shape[1] - stands.shape[1], None)
    above = posed.points[:, soles] @ shared.up - shared.ground
    factor = np.where(stands > 0, stands, 0.5 * (above < 0)) / HEIGHT * np.sqrt(_share(fps, HEIGHT_TIME))
    value = above * factor
    weight, cost = robust(value, 1)
    factor = (factor * weight)[..., None]
    by_frame = (shared.up @ posed.by_frame[:, soles]) * factor
    by_shared = _shared((shared.up @ posed.by_length[:, soles]) * factor)
    by_shared[..., UP] = (posed.points[:, soles] @ basis.T) * factor
    by_shared[..., GROUND] = -factor[..., 0]
    return Rows(by_frame, by_shared, value * weight, cost)


def balance(posed: Posed, shared: Shared, stands: Array, basis: Array, pull: Array, fps: float) -> Rows:
    """Return residuals of the centre of mass over what stands: (c - p - h a / (g + a_up)) . b for both b of the basis
    (2, 3) of the ground's plane, where h is the height of c over the middle p of what stands and a, pull (T, 3), its
    acceleration. It counts by the force g + a_up, as what carries nothing may be anywhere."""
    q = stands.shape[1]
    some = stands.sum(axis=1, keepdims=True)
    share = stands / np.maximum(some, 1e-9)
    soles = posed.points[:, -q:]
    middle = (share[:, None] @ soles)[:, 0]
    from_middle = (soles - middle[:, None]) @ basis.T
    spread = np.einsum("tq,tqk->tk", share, from_middle**2)
    arm = posed.mass - middle
    height = arm @ shared.up
    force = 1 + (pull @ shared.up)[:, None] / GRAVITY
    factor = (some > 0) * np.clip(force, 0.0, 1.0) / np.sqrt(BALANCE**2 + spread)
    factor *= np.sqrt(_share(fps, BALANCE_TIME))
    value = (arm - height[:, None] * pull / (GRAVITY * np.maximum(force, LEAST_FORCE))) @ basis.T * factor
    weight, cost = robust(value, 2)
    factor = factor * weight
    jac = posed.mass_by_frame - np.einsum("tq,tqiv->tiv", share, posed.by_frame[:, -q:])
    by_shared = np.zeros((len(value), 2, SHARED))
    by_shared[..., UP] = -np.eye(2) * height[:, None, None] * factor[..., None]
    return Rows((basis @ jac) * factor[..., None], by_shared, value * weight, cost)


def stillness(posed: Posed, stands: Array, follows: Array, fps: float) -> tuple[Array, Array, Rows]:
    """Return residuals of the speed of sole points that stand in frames t and t + 1, with which of these pairs of
    frames there are, and derivatives by frame t, those of the rows being by frame t + 1; follows (T,) is 0 where a
    frame does not follow the one before."""
    q = stands.shape[1]
    both = np.minimum(stands[:-1], stands[1:]) * follows[1:, None]
    pairs = np.flatnonzero(both.any(axis=1))
    soles, jac, modes = posed.points[:, -q:], posed.by_frame[:, -q:], posed.by_length[:, -q:]
    factor = both[pairs] * fps / STILL * np.sqrt(_share(fps, STILL_TIME))
    value = ((soles[pairs + 1] - soles[pairs]) * factor[..., None]).reshape(len(pairs), 3 * q)
    weight, cost = robust(value, 3)
    full = (factor[..., None] * weight.reshape(*factor.shape, 3))[..., None]
    by_shared = _shared(_flat((modes[pairs + 1] - modes[pairs]) * full))
    return pairs, _flat(-jac[pairs] * full), Rows(_flat(jac[pairs + 1] * full), by_shared, value * weight, cost)


def _share(fps: float, seconds: float) -> float:
    """Return what a frame counts of noise that is alike for so long."""
    return min(1.0, 1.0 / (fps * seconds))


def _flat(rows: Array) -> Array:
    return rows.reshape(rows.shape[0], rows.shape[1] * rows.shape[2], rows.shape[3])


def _shared(by_length: Array) -> Array:
    out = np.zeros((*by_length.shape[:-1], SHARED))
    out[..., :LENGTHS] = by_length
    return out
