"""Fit a body's size to a recording of which only rotations and the pelvis' path are known.

On a body of the wrong leg length the feet slide along with every step. So the size is the one with which the foot
that stands, stands still:

    min_z  sum_t w_t |d/dt c_r(t)(t; z)|^2 / s^2 + |z / prior|^2

where c_r(t; z) is the centre of sole region r, linear in the shape z, r(t) the slowest region of frame t, s = 0.03 m/s,
and w a Cauchy weight 1 / (1 + v^2 / s^2) that forgets frames in which no foot stands. Solved by reweighting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from phuma.body.open import AVERAGE_STATURE, LEG, OPEN_SPACE, OpenShape
from phuma.body.space import ShapeSpace
from phuma.core import rotations as rot
from phuma.core.forward_kinematics import world_rotations
from phuma.core.median import median
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
    family = _open_family()
    # Standard deviations of a population.
    z, before, after = fit_modes(family, np.array([0.07, 0.03]), root_pos, joint_quat, fps)
    shape = OpenShape.from_lengths(family.start + family.modes @ z)
    return shape, BodyFit(shape.stature, shape.leg, before, after)


@cache
def _open_family() -> Family:
    """Return the open bodies among which is searched, in two directions: all of the body larger, and the legs alone
    longer."""
    average = OpenShape().lengths()
    leg_only = np.zeros(len(average))
    leg_only[OPEN_SPACE.params.index("leg")] = LEG * AVERAGE_STATURE
    return Family(OPEN_SPACE, average, np.stack([average, leg_only], axis=1))


@dataclass(frozen=True, eq=False)
class Family:
    """Bodies start + modes z of a shape space; what their legs are, linear in z, is found once for all recordings."""

    space: ShapeSpace
    start: Array
    """(S,) the shape of which z is zero"""
    modes: Array
    """(S, K)"""

    @cached_property
    def joints(self) -> list[int]:
        """Return the joints that move soles and all between them and the pelvis, parents first."""
        return _above(np.flatnonzero(self.space.sole_weights.any(axis=0)))

    @cached_property
    def _points(self) -> Array:
        """Return (22, 3, 1 + K) m: joints at rest, and their slopes by mode."""
        space = self.space
        at = (space.joint_dirs @ self.start + space.joints)[..., None]
        return np.concatenate([at, space.joint_dirs @ self.modes], axis=-1)

    @cached_property
    def bones(self) -> Array:
        """Return (J - 1, 3, 1 + K) m: each of these joints but the pelvis from its parent at rest, with slopes."""
        return np.stack([self._points[j] - self._points[PARENTS[j]] for j in self.joints[1:]])

    @cached_property
    def centres(self) -> list[tuple[int, int, Array, float]]:
        """Return what makes up the centres of the regions: region, place in `joints` of the joint that it follows, its
        centre (3, 1 + K) m from there, and the share of it that does."""
        space, out = self.space, []
        at = (space.sole_dirs @ self.start + space.soles)[..., None]
        soles = np.concatenate([at, space.sole_dirs @ self.modes], axis=-1)
        for r in range(len(REGIONS)):
            own = slice(r * POINTS_PER_REGION, (r + 1) * POINTS_PER_REGION)
            weights = space.sole_weights[own]
            for i in map(int, np.flatnonzero(weights.any(axis=0))):
                w = weights[:, i] / POINTS_PER_REGION
                local = np.tensordot(w, soles[own] - self._points[i], axes=(0, 0))
                out.append((r, self.joints.index(i), local, w.sum()))
        return out


def fit_modes(
    family: Family, prior: Array, root_pos: Array, joint_quat: Array, fps: float
) -> tuple[Array, float, float]:
    """Return amounts z (K,) of the family's modes, with slips [m/s] before and after them.

    The recording is root_pos (T, 3) and joint_quat (T, 22, 4) wxyz, local; `prior` (K,) is the standard deviation of z.
    """
    step = max(1, round(fps * PAIR_SECONDS))
    if len(root_pos) <= step:
        return np.zeros(len(prior)), 0.0, 0.0
    first = np.unique(np.linspace(0, len(root_pos) - 1 - step, MAX_PAIRS).astype(int))
    velocity, slopes = _region_velocities(family, root_pos, joint_quat, first, step, fps / step)
    duration = len(root_pos) / fps
    count = duration / SECONDS_PER_OBSERVATION / len(first)

    z = np.zeros(len(prior))
    speeds = []
    trust, most = np.diag(prior**-2.0), 3 * prior
    of_pair = np.arange(len(velocity)) * len(REGIONS)  # where the regions of each pair begin
    of_region = slopes.reshape(-1, *slopes.shape[2:])
    for iteration in range(ITERATIONS + 1):
        now = velocity + slopes @ z
        squares = np.add.reduce(now * now, axis=-1)
        slowest = of_pair + np.sqrt(squares).argmin(axis=1)
        v, a, square = now.reshape(-1, 3)[slowest], of_region[slowest], squares.ravel()[slowest]
        if iteration in (0, ITERATIONS):
            speeds.append(median(np.sqrt(square)))
        w = count / (STANDING_SPEED**2 + square)
        normal = np.einsum("t,tik,til->kl", w, a, a) + trust
        rhs = np.einsum("t,tik,ti->k", w, a, v - np.einsum("tik,k->ti", a, z))
        z = np.minimum(np.maximum(-np.linalg.solve(normal, rhs), -most), most)
    return z, speeds[0], speeds[-1]


def _region_velocities(
    family: Family, root_pos: Array, joint_quat: Array, first: Array, step: int, rate: float
) -> tuple[Array, Array]:
    """Velocity (P, 4, 3) of each region's centre at each pair of frames, and its slope (P, 4, 3, K) by mode."""
    frames = np.concatenate([first, first + step])
    # Forward kinematics is linear in the rest positions: run it once for the body and all modes, down the legs only.
    joints = family.joints
    rotation = rot.to_matrix(world_rotations(joint_quat[frames])[:, joints])
    parents = [joints.index(PARENTS[j]) for j in joints[1:]]
    bones = rotation[:, parents] @ family.bones
    position = np.zeros((len(joints), len(frames), 3, bones.shape[-1]))
    position[0, ..., 0] = root_pos[frames]
    for j, parent in enumerate(parents):
        position[j + 1] = position[parent] + bones[:, j]
    centres = np.zeros((len(frames), len(REGIONS), 3, bones.shape[-1]))
    for r, i, local, share in family.centres:
        centres[:, r] += rotation[:, i] @ local + share * position[i]
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
