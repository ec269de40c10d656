"""Measure how far a rollout is from its reference, by pure functions of one motion that return one number per frame.

p_b(t) and r_b(t) are where key body b of the robot and of the reference is, in the world; q_j(t) and s_j(t) are their
joint angles. D is the difference of neighbouring frames. Every error is the mean over bodies, or joints.
"""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array

MM = 1000.0


def deviations(body: Array, reference: Array) -> Array:
    """Return (T,) m: mean_b |p_b - r_b|; body and reference (T, B, 3) m."""
    return np.linalg.norm(body - reference, axis=-1).mean(axis=-1)


def global_errors(body: Array, reference: Array) -> Array:
    """Return (T,) mm: mean_b |p_b - r_b|."""
    return MM * deviations(body, reference)


def local_errors(body: Array, reference: Array, root: Array, reference_root: Array) -> Array:
    """Return (T,) mm: mean_b |(p_b - p_root) - (r_b - r_root)|; root and reference_root (T, 3) m.

    The root's position is taken out, its rotation stays in: who faces another way has another pose.
    """
    return MM * deviations(body - root[:, None], reference - reference_root[:, None])


def velocity_errors(body: Array, reference: Array) -> Array:
    """Return (T - 1,) mm/frame: mean_b |D p_b - D r_b|."""
    return MM * deviations(np.diff(body, axis=0), np.diff(reference, axis=0))


def acceleration_errors(body: Array, reference: Array) -> Array:
    """Return (T - 2,) mm/frame^2: mean_b |D D p_b - D D r_b|."""
    return MM * deviations(np.diff(body, n=2, axis=0), np.diff(reference, n=2, axis=0))


def joint_errors(joints: Array, reference: Array) -> Array:
    """Return (T,) degrees: mean_j |q_j - s_j|; joints and reference (T, N) rad. Hinges have limits: no angle wraps
    around."""
    return np.degrees(np.abs(joints - reference).mean(axis=-1))


def joint_velocity_errors(joints: Array, reference: Array) -> Array:
    """Return (T - 1,) degrees/frame: mean_j |D q_j - D s_j|."""
    return joint_errors(np.diff(joints, axis=0), np.diff(reference, axis=0))


def joint_acceleration_errors(joints: Array, reference: Array) -> Array:
    """Return (T - 2,) degrees/frame^2: mean_j |D D q_j - D D s_j|."""
    return joint_errors(np.diff(joints, n=2, axis=0), np.diff(reference, n=2, axis=0))


def first_failure(deviation: Array, frames: int, terminated_at: int | None, threshold: float) -> int | None:
    """Return the first of a motion's `frames` that deviates by more than the threshold (m), or at which an episode was
    terminated, or that was never reached; None for a motion that was tracked to its end.

    `deviation` (T,) m of the frames that were reached, T at most `frames`.
    """
    first = min([len(deviation), *np.flatnonzero(deviation > threshold)[:1].tolist()])
    if terminated_at is not None:
        first = min(first, terminated_at)
    return first if first < frames else None
