"""Smooth positions and rotations by zero-phase low-pass filters."""

from __future__ import annotations

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
    quat = np.empty_like(motion.joint_quat)
    together = max(1, SAMPLES_AT_A_TIME // len(quat))  # a long recording's spectra need not all be there at once
    for j in range(0, quat.shape[1], together):
        joints = slice(j, j + together)
        quat[:, joints] = smooth_rotations(motion.joint_quat[:, joints], rotation_cutoff, motion.fps)
    return replace(motion, root_pos=smooth_positions(motion.root_pos, root_cutoff, motion.fps), joint_quat=quat)


def smooth_positions(x: Array, cutoff: float, fps: float) -> Array:
    """Return (T, ...) positions filtered along time. Ends are continued by point reflection, so that steady motion
    stays steady."""
    pad = _pad_frames(len(x), fps)
    before = 2 * x[0] - x[pad:0:-1]
    after = 2 * x[-1] - x[-2 : -pad - 2 : -1]
    return low_pass(np.concatenate([before, x, after]), cutoff, fps)[pad : pad + len(x)]


def smooth_rotations(q: Array, cutoff: float, fps: float) -> Array:
    """Return (T, ..., 4) unit quaternions wxyz, filtered along time.

    Signs are made continuous, the four components filtered and the result brought back to unit length. Filtering is
    linear, so it commutes with turning the frame on either side, and a steady spin comes out unchanged: its components
    are sinusoids of one frequency, damped alike, and the damping is divided out. Ends are continued by reflection on
    the sphere, q0 q(t)^-1 q0, which continues a steady spin.
    """
    q = rot.continuous(q)
    pad = _pad_frames(len(q), fps)
    beyond = np.concatenate([q[pad:0:-1], q[-2 : -pad - 2 : -1]])
    ends = np.repeat(q[[0, -1]], pad, axis=0)
    reflected = rot.multiply(rot.multiply(ends, rot.conjugate(beyond)), ends)
    padded = rot.continuous(np.concatenate([reflected[:pad], q, reflected[pad:]]))
    return rot.normalize(low_pass(padded, cutoff, fps)[pad : pad + len(q)])


def low_pass(x: Array, cutoff: float, fps: float) -> Array:
    """Return (T, ...) what a digital Butterworth filter run forward and backward over x gives, away from its ends.

    That has no phase and the gain |H(f)|^2 = 1 / (1 + (tan(pi f / fps) / tan(pi cutoff / fps))^(2 order)), which is put
    on the spectrum directly. The line from the first to the last value is taken off before, so that the spectrum's
    period has no step, and put back after: the filter passes lines unchanged.
    """
    share, gain = (a.reshape(-1, *[1] * (x.ndim - 1)) for a in _share_and_gain(len(x), cutoff, fps))
    line = x[0] + share * (x[-1] - x[0])
    spectrum = np.fft.rfft(x - line, axis=0) * gain
    return line + np.fft.irfft(spectrum, n=len(x), axis=0)


@lru_cache(maxsize=8)
def _share_and_gain(frames: int, cutoff: float, fps: float) -> tuple[Array, Array]:
    """Return how far along the line each frame is, and the gain of each frequency: recordings are often of one
    length."""
    frequency = np.minimum(np.fft.rfftfreq(frames), 0.5 - 1e-9)  # at half the rate the tangent is infinite
    ratio = np.tan(np.pi * frequency) / np.tan(np.pi * cutoff / fps)
    return np.linspace(0.0, 1.0, frames), 1 / (1 + ratio ** (2 * ORDER))


def _pad_frames(frames: int, fps: float) -> int:
    return min(frames - 1, round(PAD_SECONDS * fps))
