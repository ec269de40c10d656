"""Fit a body's size to a recording of which only rotations and the pelvis' path are known.

On a body of the wrong leg length the feet slide along with every step. So the size is the one with which the foot
that stands, stands still:

    min_z  sum_t w_t |d/dt c_r(t)(t; z)|^2 / s^2 + |z / prior|^2

where c_r(t; z) is the centre of sole region r, linear in the shape z, r(t) the slowest region of frame t, s = 0.03 m/s,
and w a Cauchy weight 1 / (1 + v^2 / s^2) that forgets frames in which no foot stands. Solved by reweighting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.body.open import AVERAGE_STATURE, LEG, OPEN_SPACE, OpenShape
from phuma.body.space import ShapeSpace
from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.skeleton import PARENTS, POINTS_PER_REGION, REGIONS

STANDING_SPEED = 0.03  # m/s
PAIR_SECONDS = 1 / 6  # between the two frames of a velocity: short of a running step, long against jitter
ITERATIONS = 8
MAX_PAIRS = 1000
SECONDS_PER_OBSERVATION = 0.5  # neighbouring frames say the same; this much time counts as one independent observation


@dataclass(frozen=True)
class BodyFit:
    """A fit says which stature and leg length were found, and how well the feet stand by them."""

    stature: float
    """metres"""
    leg: float
    """relative to the average person of that stature"""
    slip_before: float
    """m/s, median speed of the standing foot on the average body"""
    slip_after: float
    """m/s, the same on the fitted body"""

    def __str__(self) -> str:
        return (
            f"open body fitted: stature {self.stature:.2f} m, legs {self.leg:.2f} of average, "
            f"standing foot {100 * self.slip_before:.1f} -> {100 * self.slip_after:.1f} cm/s"
        )


def fit_open_shape(root_pos: Array, joint_quat: Array, fps: float) -> tuple[OpenShape, BodyFit]:
    """Return the open body's stature and leg length for a recording.

    The recording is root_pos (T, 3) and joint_quat (T, 22, 4) wxyz, local.
    """
    average = OpenShape().lengths()
    # Two directions: all of the body larger, and the legs alone longer; standard deviations of a population.
    leg_only = np.zeros(len(average))
    leg_only[OPEN_SPACE.params.index("leg")] = LEG * AVERAGE_STATURE
    modes = np.stack([average, leg_only], axis=1)
    z, before, after = fit_modes(OPEN_SPACE, average, modes, np.array([0.07, 0.03]), root_pos, joint_quat, fps)
    shape = OpenShape.from_lengths(average + modes @ z)
    return shape, BodyFit(shape.stature, shape.leg, before, after)


def fit_modes(
    space: ShapeSpace, start: Array, modes: Array, prior: Array, root_pos: Array, joint_quat: Array, fps: float
) -> tuple[Array, float, float]:
    """Return amounts z (K,) of the `modes` (S, K) to add to the shape `start` (S,), with slips [m/s] before and after
    it.

    The recording is root_pos (T, 3) and joint_quat (T, 22, 4) wxyz, local; `prior` (K,) is the standard deviation of z.
    """
    step = max(1, round(fps * PAIR_SECONDS))
    if len(root_pos) <= step:
        return np.zeros(len(prior)), 0.0, 0.0
    first = np.unique(np.linspace(0, len(root_pos) - 1 - step, MAX_PAIRS).astype(int))
    velocity, slopes = _region_velocities(space, start, modes, root_pos, joint_quat, first, step, fps / step)
    duration = len(root_pos) / fps
    count = duration / SECONDS_PER_OBSERVATION / len(first)

    z = np.zeros(len(prior))
    speeds = []
    for iteration in range(ITERATIONS + 1):
        now = velocity + slopes @ z
        speed = np.linalg.norm(now, axis=-1)
        slowest = np.argmin(speed, axis=1)
        v, a = now[np.arange(len(now)), slowest], slopes[np.arange(len(now)), slowest]
        if iteration in (0, ITERATIONS):
            speeds.append(float(np.median(np.linalg.norm(v, axis=-1))))
        w = count / (STANDING_SPEED**2 + np.sum(v * v, axis=-1))
        normal = np.einsum("t,tik,til->kl", w, a, a) + np.diag(prior**-2.0)
        rhs = np.einsum("t,tik,ti->k", w, a, v - np.einsum("tik,k->ti", a, z))
        z = np.clip(-np.linalg.solve(normal, rhs), -3 * prior, 3 * prior)
    return z, speeds[0], speeds[-1]


def _region_velocities(
    space: ShapeSpace,
    start: Array,
    modes: Array,
    root_pos: Array,
    joint_quat: Array,
    first: Array,
    step: int,
    rate: float,
) -> tuple[Array, Array]:
    """Velocity (P, 4, 3) of each region's centre at each pair of frames, and its slope (P, 4, 3, K) by mode."""
    frames = np.concatenate([first, first + step])
    points = np.concatenate([(space.joint_dirs @ start + space.joints)[..., None], space.joint_dirs @ modes], axis=-1)
    soles = np.concatenate([(space.sole_dirs @ start + space.soles)[..., None], space.sole_dirs @ modes], axis=-1)
    # Forward kinematics is linear in the rest positions: run it once for the body and all modes, down the legs only.
    needed = _above(np.flatnonzero(space.sole_weights.any(axis=0)))
    rotation: dict[int, Array] = {0: joint_quat[frames, 0]}
    position: dict[int, Array] = {0: np.zeros((len(frames), 3, points.shape[-1]))}
    position[0][..., 0] = root_pos[frames]
    for j in needed[1:]:
        p = PARENTS[j]
        position[j] = position[p] + rot.to_matrix(rotation[p]) @ (points[j] - points[p])
        rotation[j] = rot.multiply(rotation[p], joint_quat[frames, j])
    centres = np.zeros((len(frames), len(REGIONS), 3, points.shape[-1]))
    for r in range(len(REGIONS)):
        own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
        weights = space.sole_weights[own]
        for i in map(int, np.flatnonzero(weights.any(axis=0))):
            w = weights[:, i] / POINTS_PER_REGION
            local = np.tensordot(w, soles[own] - points[i], axes=(0, 0))
            centres[:, r] += rot.to_matrix(rotation[i]) @ local + w.sum() * position[i]
    n = len(first)
    velocity = (centres[n:] - centres[:n]) * rate
    return velocity[..., 0], velocity[..., 1:]


def _above(joints: Array) -> list[int]:
    """These joints and all between them and the pelvis, parents first."""
    out = {0}
    for j in map(int, joints):
        while j > 0:
            out.add(j)
            j = PARENTS[j]
    return sorted(out)
