"""Preset `dynamic`: five metrics of whether the ground alone could have carried a motion, each a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from phuma.contacts.force import DIRECTIONS, FRICTION, GroundForce
from phuma.contacts.soles import Soles
from phuma.contacts.support import LOADED
from phuma.core.clip import Verdict
from phuma.core.curation_metrics import DYNAMIC
from phuma.core.rotations import Array

WINDOW = 1.0
"""Time in s over which the external support force is averaged: longer than errors of an acceleration, than a step, than
soles that a recording loses for a moment in a deep squat; shorter than anybody sits"""
AROUND = 0.2
"""Time in s before and after a clip in which support counts too: who dives in its last frames is in the air then"""
STANDING = 0.25
"""Speed in m/s below which a sole that carries is at rest, given the errors of a recording"""
HEIGHT_ERROR = 0.012
"""Height in m by which a standing sole lies above or below the floor in a good recording"""
LEAN_ERROR = np.radians(2.0)
"""Angle in rad, seen from the centre of mass, by which the force may act away from the middle of a support without
extent"""


def missing_lift(vertical: Array, supported: Array) -> Array:
    """Return (T,) body weights: what of the vertical force f the ground, which only pushes and only at a support,
    cannot give."""
    return np.where(supported, np.maximum(-vertical, 0.0), np.abs(vertical))


def missing_push(force: GroundForce, floor: float, corners: Array, carrying: Array) -> Array:
    """Return (T, 32) body weights: what soles cannot give of the horizontal force, in 16 directions d, twice.

    Toppling: the ground's force f acts at a point p of the hull of the corners that carry, so that its lever about the
    centre of mass c is at most f max_p d.(p - c). What is missing of lever.d, over the height of c, is a push there.
    Slipping: a.d is at most friction times f. corners (T, P, 3), carrying (T, P).
    """
    supported = carrying.any(axis=1)
    given = np.where(supported, np.maximum(force.vertical, 0.0), 0.0)[:, None]
    from_centre = corners[..., :2] - force.centre[:, None, :2]
    # One direction at a time, which keeps memory small.
    reach = np.stack([np.where(carrying, from_centre @ d, -np.inf).max(axis=1) for d in DIRECTIONS], axis=1)
    reach[~supported] = 0.0
    height = np.maximum(force.centre[:, 2:] - floor, 0.2)
    toppling = (force.lever(floor) @ DIRECTIONS.T - given * reach) / height
    slipping = force.horizontal @ DIRECTIONS.T - FRICTION * given
    return np.concatenate([toppling, slipping], axis=1)


def external_support_force(lift: Array, push: Array, frames: int) -> Array:
    """Return (T,) body weights: the support that would have to come from elsewhere than the ground, in the mean over
    `frames` around each frame.

    sqrt(mean(lift)^2 + max(0, max_d mean(push_d))^2), beyond the ends zero. Means come first: they need no
    accelerations but only speeds at their ends, and let a force that comes a moment late count.
    """
    up = _moving_mean(lift[:, None], frames)[:, 0]
    across = np.maximum(_moving_mean(push, frames).max(axis=1), 0.0)
    return np.hypot(up, across)


def sole_slide(slowest: Array) -> float:
    """Return m/s: the lower quartile over frames of the speed of the slowest sole at the floor; 0 of no frames."""
    return float(np.quantile(slowest, 0.25)) if len(slowest) else 0.0


def ground_drift(time: Array, lowest: Array) -> float:
    """Return m/s: the size of the slope of the lowest sole's height over time, by least squares."""
    t = time - time.mean() if len(time) else time
    squares = float(t @ t)
    return abs(float(t @ lowest)) / squares if squares > 0 else 0.0


def ground_tilt(points: Array, lean: Array, extent: Array, height: float) -> float:
    """Return the degrees by which the whole world seems to be tilted.

    Two things show a tilt theta (2,): standing points (N, 3) then lie in the plane z = -theta.x, and the force acts
    theta away from the middle of the support, seen from the centre of mass at `height`: lean (2,). What each can know
    depends on how far the feet are apart. With C the points' covariance, b that of position and height, sigma the error
    of a height, and D the support's own `extent` (2, 2), a covariance, within which weight may be anywhere,
    theta = (C / sigma^2 + B)^-1 (-b / sigma^2 + B lean), B = (D / height^2 + LEAN_ERROR^2)^-1.
    """
    from_mean = points - points.mean(axis=0)
    covariance = from_mean.T @ from_mean / len(points) / HEIGHT_ERROR**2
    trust = np.linalg.inv(extent / height**2 + LEAN_ERROR**2 * np.eye(2))
    tilt = np.linalg.solve(covariance[:2, :2] + trust, trust @ lean - covariance[:2, 2])
    return float(np.degrees(np.linalg.norm(tilt)))


def shake(away: Array) -> float:
    """Return mm: the root mean square of the pelvis' distance (T,) [m] from its own path below 9 Hz."""
    return 1000 * float(np.sqrt(np.mean(away**2)))


def _moving_mean(x: Array, frames: int) -> Array:
    """Return (T, K): the mean over `frames` (odd) around each frame, zero beyond the ends."""
    half = frames // 2
    total = np.cumsum(np.pad(x, ((half + 1, half), (0, 0))), axis=0)
    return (total[frames:] - total[:-frames]) / frames


@dataclass(frozen=True, eq=False)
class FrameDynamics:
    """Quantities that preset `dynamic` judges, frame by frame, over a whole recording."""

    fps: float
    loaded: Array
    """(T,) bool, whether the soles have to carry most of the weight"""
    lift: Array
    """(T,) body weights, `missing_lift`"""
    push: Array
    """(T, 32) body weights, `missing_push`"""
    corners: Array
    """(T, P, 3) m, corners of the soles, above the floor"""
    carrying: Array
    """(T, P) bool, whether a corner can carry load"""
    standing: Array
    """(T, P) bool, whether a corner carries and is at rest"""
    slowest: Array
    """(T,) m/s, speed of the slowest corner at the floor; infinite where none is there"""
    lean: Array
    """(T, 2) where the force acts, from the middle of the standing corners, over the height of the centre of mass"""
    height: Array
    """(T,) m, height of the centre of mass"""
    away: Array
    """(T,) m, distance of the recorded pelvis from its smoothed path"""

    def __len__(self) -> int:
        return len(self.lift)

    def __repr__(self) -> str:
        return f"FrameDynamics({len(self)} frames)"

    @property
    def sliding(self) -> Array:
        """Return (T,) m/s: the speed of the slowest sole at the floor in loaded frames; nan in others."""
        return np.where(self.loaded & np.isfinite(self.slowest), self.slowest, np.nan)

    @cached_property
    def lowest(self) -> Array:
        """Return (T,) m: the height of the lowest sole."""
        return self.corners[..., 2].min(axis=1)

    @property
    def external_support_force(self) -> Array:
        """Return (T,) body weights: the external support force in the mean over WINDOW around each frame."""
        return external_support_force(self.lift, self.push, self._window)

    @property
    def _window(self) -> int:
        return 2 * round(0.5 * WINDOW * self.fps) + 1

    def frames(self, first: int, last: int) -> FrameDynamics:
        """Return the quantities of frames first to last - 1."""
        series = {f.name: getattr(self, f.name)[first:last] for f in fields(self) if f.name != "fps"}
        return FrameDynamics(fps=self.fps, **series)

    def judge(self, first: int, last: int, limits: Mapping[str, float]) -> Verdict:
        """Return the verdict on frames first to last - 1."""
        clip, around = slice(first, last), round(AROUND * self.fps)
        near = slice(max(first - around, 0), last + around)
        on_floor = self.loaded[clip] & np.isfinite(self.slowest[clip])
        loaded = np.flatnonzero(self.loaded[clip])
        values = {
            "external_support_force": external_support_force(self.lift[near], self.push[near], self._window).max(),
            "sole_slide": sole_slide(self.slowest[clip][on_floor]),
            "ground_drift": ground_drift(loaded / self.fps, self.lowest[clip][loaded]),
            "ground_tilt": self.tilt,
            "shake": shake(self.away[clip]),
        }
        return Verdict.of(DYNAMIC, values, limits)

    @cached_property
    def tilt(self) -> float:
        """Return the tilt in degrees of the whole recording, whose clips share one world; 0 where nobody ever
        stands."""
        standing = self.standing & self.loaded[:, None]
        some = standing.any(axis=1)
        if not some.any():
            return 0.0
        points = self.corners[some]
        standing = standing[some]
        middle = middle_of(points[..., :2], standing)
        from_middle = np.where(standing[..., None], points[..., :2] - middle[:, None], 0.0)
        extent = np.einsum("tpi,tpj->ij", from_middle, from_middle) / standing.sum()
        return ground_tilt(points[standing], self.lean[some].mean(axis=0), extent, float(self.height[some].mean()))


def middle_of(points: Array, chosen: Array) -> Array:
    """Return (T, 2): the mean of the chosen (T, P) points (T, P, 2); zero where none is."""
    count = np.maximum(chosen.sum(axis=1), 1)
    return np.where(chosen[..., None], points, 0.0).sum(axis=1) / count[:, None]


def frame_dynamics(
    force: GroundForce, soles: Soles, floor: float, away: Array, fps: float, trusted: Array
) -> FrameDynamics:
    """Return what the filters judge, from forces and soles; accelerations hold in the frames `trusted` (T,)."""
    carrying = soles.carrying(floor)
    standing = carrying & (soles.speed < STANDING)
    middle = middle_of(soles.position[..., :2], standing)
    height = np.maximum(force.centre[:, 2] - floor, 0.2)
    acts = force.centre[:, :2] + force.lever(floor) / np.maximum(force.vertical, LOADED)[:, None]
    near_in_time = _widened(carrying)
    supported = np.any(near_in_time, axis=1)
    return FrameDynamics(
        fps=fps,
        loaded=(force.vertical > LOADED) & trusted,
        lift=np.where(trusted, missing_lift(force.vertical, supported), 0.0),
        push=np.where(trusted[:, None], missing_push(force, floor, soles.position, near_in_time), 0.0),
        corners=soles.position - [0.0, 0.0, floor],
        carrying=carrying,
        standing=standing,
        slowest=np.where(soles.near(floor), soles.speed, np.inf).min(axis=1),
        lean=(acts - middle) / height[:, None],
        height=height,
        away=away,
    )


def _widened(mask: Array) -> Array:
    """Return whether it holds in this frame (T, ...), the one before or the one after: smoothing blurs by as much."""
    out = mask.copy()
    out[1:] |= mask[:-1]
    out[:-1] |= mask[1:]
    return out
