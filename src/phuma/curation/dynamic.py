"""Preset `dynamic`: five metrics of whether the ground alone could have carried a motion, each a pure function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phuma.clip import Measure, Verdict
from phuma.curation.config import DynamicLimits
from phuma.curation.force import GroundForce
from phuma.curation.soles import Soles
from phuma.rotations import Array
from phuma.skeleton import REGIONS

WINDOW = 1.0
"""s over which the helping force is averaged: longer than errors of an acceleration, than a step, than soles that a
recording loses for a moment in a deep squat; shorter than anybody sits"""
FRICTION = 1.0
"""of soles on the floor: bare feet and rubber have about so much"""
LOADED = 0.8
"""body weights from which on the soles are said to be loaded"""
STANDING = 0.25
"""m/s below which a sole that carries is at rest, but for what a recording errs"""
HEIGHT_ERROR = 0.012
"""m by which a standing sole lies above or below the floor in a good recording"""
LEAN_ERROR = np.radians(2.0)
"""how far the force may act from the middle of a support without extent, seen from the centre of mass"""
_ANGLES = np.arange(16) * 2 * np.pi / 16
DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
"""(16, 2) unit vectors: a point is outside a convex shape by its greatest excess over all directions"""


def missing_lift(vertical: Array, supported: Array) -> Array:
    """(T,) body weights: what a force of the ground, f >= 0 and 0 without support, leaves of the vertical one f."""
    return np.where(supported, np.maximum(-vertical, 0.0), np.abs(vertical))


def missing_push(force: GroundForce, floor: float, corners: Array, carrying: Array) -> Array:
    """(T, 32) body weights: by how much the horizontal force is beyond what soles can give, in 16 directions d, twice.

    Toppling: the ground's force f acts at a point p of the hull of the corners that carry, so that its lever about the
    centre of mass c is at most f max_p d.(p - c). What is missing of lever.d, over the height of c, is a push there.
    Slipping: a.d is at most friction times f. corners (T, 16, 3), carrying (T, 16).
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


def helping_force(lift: Array, push: Array, frames: int) -> Array:
    """(T,) body weights: what somebody else would have to give, in the mean over `frames` around each frame.

    sqrt(mean(lift)^2 + max(0, max_d mean(push_d))^2), beyond the ends zero. Means come first: they need no
    accelerations but only speeds at their ends, and let a force that comes a moment late count.
    """
    up = _moving_mean(lift[:, None], frames)[:, 0]
    across = np.maximum(_moving_mean(push, frames).max(axis=1), 0.0)
    return np.hypot(up, across)


def sole_slide(slowest: Array) -> float:
    """m/s: lower quartile over frames of the speed of the slowest sole at the floor; 0 of no frames."""
    return float(np.quantile(slowest, 0.25)) if len(slowest) else 0.0


def ground_drift(time: Array, lowest: Array) -> float:
    """m/s: slope of the line through the heights of the lowest sole over time, by least squares; its size."""
    t = time - time.mean() if len(time) else time
    spread = float(t @ t)
    return abs(float(t @ lowest)) / spread if spread > 0 else 0.0


def ground_tilt(points: Array, lean: Array, spread: Array, height: float) -> float:
    """Degrees by which the whole world seems to be tilted.

    Two things tell of a tilt theta (2,): standing points (N, 3) then lie in the plane z = -theta.x, and the force acts
    theta away from the middle of the support, seen from the centre of mass at `height`: lean (2,). What each can know
    depends on how far the feet are apart. With C the points' covariance, b that of place and height, sigma the error
    of a height, and D the support's own `spread` (2, 2), within which weight may be anywhere,
    theta = (C / sigma^2 + B)^-1 (-b / sigma^2 + B lean), B = (D / height^2 + LEAN_ERROR^2)^-1.
    """
    from_mean = points - points.mean(axis=0)
    covariance = from_mean.T @ from_mean / len(points) / HEIGHT_ERROR**2
    trust = np.linalg.inv(spread / height**2 + LEAN_ERROR**2 * np.eye(2))
    tilt = np.linalg.solve(covariance[:2, :2] + trust, trust @ lean - covariance[:2, 2])
    return float(np.degrees(np.linalg.norm(tilt)))


def shake(away: Array) -> float:
    """mm: root mean square of the pelvis' distance (T,) [m] from its own path below 9 Hz."""
    return 1000 * float(np.sqrt(np.mean(away**2)))


def _moving_mean(x: Array, frames: int) -> Array:
    """(T, K) mean over `frames` (odd) around each frame, zero beyond the ends."""
    half = frames // 2
    total = np.cumsum(np.pad(x, ((half + 1, half), (0, 0))), axis=0)
    return (total[frames:] - total[:-frames]) / frames


@dataclass(frozen=True, eq=False)
class FrameDynamics:
    """What preset `dynamic` looks at, frame by frame, over a whole recording."""

    fps: float
    loaded: Array
    """(T,) bool: the soles have to carry most of the weight"""
    lift: Array
    """(T,) missing_lift"""
    push: Array
    """(T, 32) missing_push"""
    corners: Array
    """(T, 16, 3) m, of the soles, above the floor"""
    carrying: Array
    """(T, 16) bool: can carry load"""
    standing: Array
    """(T, 16) bool: carries and is at rest"""
    slowest: Array
    """(T,) m/s, speed of the slowest corner at the floor; infinite where none is there"""
    lean: Array
    """(T, 2) where the force acts, from the middle of the standing corners, over the height of the centre of mass"""
    height: Array
    """(T,) m, of the centre of mass"""
    away: Array
    """(T,) m, of the recorded pelvis from its smoothed path"""

    def __len__(self) -> int:
        return len(self.lift)

    def __repr__(self) -> str:
        return f"FrameDynamics({len(self)} frames)"

    @property
    def regions(self) -> Array:
        """(T, 4) bool: heels and toes of which a corner can carry"""
        return np.any(self.carrying.reshape(len(self), len(REGIONS), -1), axis=2)

    @property
    def sliding(self) -> Array:
        """(T,) m/s: speed of the slowest sole at the floor in loaded frames; nan in others"""
        return np.where(self.loaded & np.isfinite(self.slowest), self.slowest, np.nan)

    @property
    def lowest(self) -> Array:
        """(T,) m, height of the lowest sole"""
        return self.corners[..., 2].min(axis=1)

    @property
    def helping_force(self) -> Array:
        """(T,) body weights, in the mean over WINDOW around each frame"""
        return helping_force(self.lift, self.push, self._window)

    @property
    def _window(self) -> int:
        return 2 * round(0.5 * WINDOW * self.fps) + 1

    def judge(self, first: int, last: int, limits: DynamicLimits) -> Verdict:
        """The verdict on frames first to last - 1."""
        clip = slice(first, last)
        help_needed = helping_force(self.lift[clip], self.push[clip], self._window).max()
        on_floor = self.loaded[clip] & np.isfinite(self.slowest[clip])
        loaded = np.flatnonzero(self.loaded[clip])
        return Verdict(
            (
                Measure("helping_force", float(help_needed), limits.helping_force, "below", " body weights"),
                Measure("sole_slide", sole_slide(self.slowest[clip][on_floor]), limits.sole_slide, "below", " m/s"),
                Measure(
                    "ground_drift",
                    ground_drift(loaded / self.fps, self.lowest[clip][loaded]),
                    limits.ground_drift,
                    "below",
                    " m/s",
                ),
                Measure("ground_tilt", self.tilt, limits.ground_tilt, "below", " degrees"),
                Measure("shake", shake(self.away[clip]), limits.shake, "below", " mm"),
            )
        )

    @cached_property
    def tilt(self) -> float:
        """Degrees, of the whole recording, whose clips share one world; 0 where nobody ever stands."""
        standing = self.standing & self.loaded[:, None]
        some = standing.any(axis=1)
        if not some.any():
            return 0.0
        place = self.corners[some]
        standing = standing[some]
        middle = middle_of(place[..., :2], standing)
        from_middle = np.where(standing[..., None], place[..., :2] - middle[:, None], 0.0)
        spread = np.einsum("tpi,tpj->ij", from_middle, from_middle) / standing.sum()
        return ground_tilt(place[standing], self.lean[some].mean(axis=0), spread, float(self.height[some].mean()))


def middle_of(points: Array, chosen: Array) -> Array:
    """(T, 2) mean of the chosen (T, P) points (T, P, 2); zero where none is."""
    count = np.maximum(chosen.sum(axis=1), 1)
    return np.where(chosen[..., None], points, 0.0).sum(axis=1) / count[:, None]


def frame_dynamics(
    force: GroundForce, soles: Soles, floor: float, away: Array, fps: float, trusted: Array
) -> FrameDynamics:
    """All of it from forces and soles; `trusted` (T,) are the frames whose accelerations mean something."""
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
    """Whether it holds in this frame (T, ...), the one before or the one after: smoothing blurs by as much."""
    out = mask.copy()
    out[1:] |= mask[:-1]
    out[:-1] |= mask[1:]
    return out
