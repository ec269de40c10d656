"""The low-pass filter against scipy's, and on motion whose result is known."""

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.smoothing import low_passes, smooth_each, smooth_positions, smooth_rotations
from phuma.synth import generate
from tests.motions import smooth_motion


def test_low_pass_keeps_what_is_slow_and_drops_what_is_fast():
    t = np.arange(300) / 30.0
    slow, fast = np.sin(2 * np.pi * 0.5 * t), np.sin(2 * np.pi * 12 * t)
    np.testing.assert_allclose(smooth_positions(slow + fast, 3.0, 30.0)[30:-30], slow[30:-30], atol=2e-3)
    line = np.stack([2 * t, -t], axis=1)
    np.testing.assert_allclose(smooth_positions(line, 3.0, 30.0), line, atol=1e-7)


def test_the_low_pass_equals_scipys_filter_run_both_ways():
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(600, 3)), axis=0)
    for cutoff in (3.0, 6.0):
        sections = butter(4, cutoff, fs=30.0, output="sos")
        theirs = sosfiltfilt(sections, x, axis=0, padlen=150)
        np.testing.assert_allclose(
            next(low_passes(x, [cutoff], 30.0))[120:-120], theirs[120:-120], atol=1e-5 * np.abs(x).max()
        )


def test_half_power_lies_at_the_cutoff():
    """Run forward and backward, the filter's gain at its cutoff is one half."""
    t = np.arange(600) / 30.0
    wave = np.sin(2 * np.pi * 3.0 * t)
    gain = smooth_positions(wave, 3.0, 30.0)[100:-100].std() / wave[100:-100].std()
    assert gain == pytest.approx(0.5, abs=0.01)


def test_a_steady_spin_passes_the_rotation_filter_unchanged():
    """Filtering rotation vectors or Euler angles would break at half a turn."""
    spin = rot.from_axis("y", 2 * np.pi * 1.5 * np.arange(120) / 30.0)
    out = smooth_rotations(spin, 6.0, 30.0)
    assert np.abs(np.abs(np.sum(out * spin, axis=1)) - 1).max() < 1e-6


def test_the_rotation_filter_does_not_depend_on_the_frame_or_on_signs():
    q = smooth_motion(open_body(), frames=90, seed=3).joint_quat[:, 5]
    turn = rot.from_rotvec(np.array([1.0, -2.0, 0.5]))
    signs = np.where(np.arange(90)[:, None] % 7 == 0, -1.0, 1.0)
    direct = rot.multiply(np.broadcast_to(turn, q.shape), smooth_rotations(q, 6.0, 30.0))
    turned = smooth_rotations(rot.multiply(np.broadcast_to(turn, q.shape), q) * signs, 6.0, 30.0)
    assert np.abs(np.abs(np.sum(direct * turned, axis=1)) - 1).max() < 1e-12


def test_a_motion_smoothed_at_several_cutoffs_is_smoothed_at_each():
    motion = generate("run", 3.0, 1).motion
    cutoffs = [(3.0, 6.0), (9.0, 9.0)]
    for found, (root, rotation) in zip(smooth_each(motion, cutoffs), cutoffs):
        np.testing.assert_array_equal(found.root_pos, smooth_positions(motion.root_pos, root, motion.fps))
        np.testing.assert_array_equal(found.joint_quat, smooth_rotations(motion.joint_quat, rotation, motion.fps))
