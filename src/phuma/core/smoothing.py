"""Smooth positions and rotations by zero-phase low-pass filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array

ORDER = 4
PAD_SECONDS = 2.0
SAMPLES_AT_A_TIME = 100_000


def smooth(motion: HumanMotion, root_cutoff: float, rotation_cutoff: float) -> HumanMotion:
    """Return the motion smoothed by a Butterworth filter of order 4, run forward and backward: the pelvis' path at one
    cutoff [Hz], rotations at another."""
    return smooth_each(motion, [(root_cutoff, rotation_cutoff)])[0]


def smooth_each(motion: HumanMotion, cutoffs: Sequence[tuple[float, float]]) -> list[HumanMotion]:
    """Return the motion smoothed as `smooth` does at each pair of cutoffs; what they have in common is done once."""
    roots = _smooth_positions(motion.root_pos, [root for root, _ in cutoffs], motion.fps)
    quats = [np.empty_like(motion.joint_quat) for _ in cutoffs]
    together = max(1, SAMPLES_AT_A_TIME // len(motion))  # a long recording's spectra need not all be there at once
    for j in range(0, motion.joint_quat.shape[1], together):
        joints = slice(j, j + together)
        smoothed = _smooth_rotations(motion.joint_quat[:, joints], [cutoff for _, cutoff in cutoffs], motion.fps)
        for quat in quats:
            quat[:, joints] = next(smoothed)
    return [replace(motion, root_pos=root, joint_quat=quat) for root, quat in zip(roots, quats)]


def smooth_positions(x: Array, cutoff: float, fps: float) -> Array:
    """Return (T, ...) positions filtered along time. Ends are continued by point reflection, so that steady motion
    stays steady."""
    return next(_smooth_positions(x, [cutoff], fps))


def _smooth_positions(x: Array, cutoffs: Sequence[float], fps: float) -> Iterator[Array]:
    pad = _pad_frames(len(x), fps)
    before = 2 * x[0] - x[pad:0:-1]
    after = 2 * x[-1] - x[-2 : -pad - 2 : -1]
    for filtered in low_passes(np.concatenate([before, x, after]), cutoffs, fps):
        yield filtered[pad : pad + len(x)]


def smooth_rotations(q: Array, cutoff: float, fps: float) -> Array:
    """Return (T, ..., 4) unit quaternions wxyz, filtered along time.

    Signs are made continuous, the four components filtered and the result brought back to unit length. Filtering is
    linear, so it commutes with turning the frame on either side, and a steady spin comes out unchanged: its components
    are sinusoids of one frequency, damped alike, and the damping is divided out. Ends are continued by reflection on
    the sphere, q0 q(t)^-1 q0, which continues a steady spin.
    """
    return next(_smooth_rotations(q, [cutoff], fps))


def _smooth_rotations(q: Array, cutoffs: Sequence[float], fps: float) -> Iterator[Array]:
    q = rot.continuous(q)
    pad = _pad_frames(len(q), fps)
    beyond = np.concatenate([q[pad:0:-1], q[-2 : -pad - 2 : -1]])
    ends = np.repeat(q[[0, -1]], pad, axis=0)
    reflected = rot.multiply(rot.multiply(ends, rot.conjugate(beyond)), ends)
    padded = rot.continuous(np.concatenate([reflected[:pad], q, reflected[pad:]]))
    for filtered in low_passes(padded, cutoffs, fps):
        yield rot.normalize(filtered[pad : pad + len(q)])


def low_passes(x: Array, cutoffs: Sequence[float], fps: float) -> Iterator[Array]:
    """Yield (T, ...) what a digital Butterworth filter of each cutoff, run forward and backward over x, gives away from
    its ends.

    That has no phase and the gain |H(f)|^2 = 1 / (1 + (tan(pi f / fps) / tan(pi cutoff / fps))^(2 order)), which is put
    on the spectrum directly. The line from the first to the last value is taken off before, so that the spectrum's
    period has no step, and put back after: the filter passes lines unchanged.
    """
    along = [-1, *[1] * (x.ndim - 1)]
    line = x[0] + _share(len(x)).reshape(along) * (x[-1] - x[0])
    spectrum = np.fft.rfft(x - line, axis=0)
    for cutoff in cutoffs:
        gain = _gain(len(x), cutoff, fps).reshape(along)
        yield line + np.fft.irfft(spectrum * gain, n=len(x), axis=0)


# Recordings are often of one length.


@lru_cache(maxsize=4)
def _share(frames: int) -> Array:
    """Return (T,) how far along the line each frame is."""
    return np.linspace(0.0, 1.0, frames)


@lru_cache(maxsize=8)
def _gain(frames: int, cutoff: float, fps: float) -> Array:
    """Return the gain of each frequency of a spectrum."""
    frequency = np.minimum(np.fft.rfftfreq(frames), 0.5 - 1e-9)  # at half the rate the tangent is infinite
    ratio = np.tan(np.pi * frequency) / np.tan(np.pi * cutoff / fps)
    return np.asarray(1 / (1 + ratio ** (2 * ORDER)))


def _pad_frames(frames: int, fps: float) -> int:
    return min(frames - 1, round(PAD_SECONDS * fps))
