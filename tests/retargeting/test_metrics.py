"""Metrics of robot motions against cases computed by hand."""

import numpy as np
import pytest

from phuma.retargeting import metrics
from phuma.retargeting.measure import combine


def test_fidelity_needs_both_means_in_a_frame():
    positions = np.array([[0.0, 0.18], [0.0, 0.22], [0.05, 0.05]])  # means 9, 11 and 5 cm
    directions = np.array([[5.0, 5.0], [5.0, 5.0], [12.0, 9.0]])  # means 5, 5 and 10.5 degrees
    assert metrics.fidelity(positions, directions) == pytest.approx(100 / 3)
    assert metrics.strict_fidelity(positions, directions) == 0.0
    # Of twelve samples, 0.18, 0.22 and 12 degrees are beyond their limits.
    assert metrics.sample_fidelity(positions, directions) == pytest.approx(100 * 9 / 12)


def test_direction_errors_are_angles():
    a = np.array([[[1.0, 0, 0], [0, 1.0, 0]]])
    b = np.array([[[0, 1.0, 0], [0, 1.0, 0]]])
    np.testing.assert_allclose(metrics.direction_errors(a, b), [[90.0, 0.0]])


def test_feasibility_counts_range_and_speed():
    lower, upper, speed = np.array([-1.0]), np.array([1.0]), np.array([3.0])
    fine = np.array([[0.0], [0.05], [0.1], [0.1]])
    assert metrics.feasibility(fine, 30.0, lower, upper, speed) == 100.0
    beyond = np.array([[0.97], [0.985], [0.97], [0.97]])  # 98.5 % of the range in one frame of four
    assert metrics.feasibility(beyond, 30.0, lower, upper, speed) == 75.0
    fast = np.array([[0.0], [0.099], [0.1], [0.1]])  # 2.97 rad/s of 3 in one step
    assert metrics.feasibility(fast, 30.0, lower, upper, speed) == 75.0


def test_height_metrics_look_at_contacts_only():
    heights = np.array([[0.011, 0.5, -0.011, 0.0]])
    contact = np.array([[0.9, 0.1, 0.6, 0.5]])  # first and third count
    assert metrics.non_floating(heights, contact) == 50.0
    assert metrics.non_penetration(heights, contact) == 50.0
    assert metrics.non_floating(heights, np.zeros((1, 4))) == 100.0


def test_skating_needs_contact_at_both_ends_of_a_step_and_ignores_height():
    soles = np.zeros((3, 4, 3))
    soles[1, 0] = [0.002, 0.0, 0.5]  # 6 cm/s at 30 Hz, and a leap upwards that does not count
    soles[2, 0] = [0.006, 0.0, 0.0]  # 12 cm/s
    contact = np.zeros((3, 4))
    contact[:, 0] = 1.0
    contact[:, 1] = [1.0, 0.0, 1.0]  # never two frames running
    np.testing.assert_allclose(metrics.slip_speeds(soles, contact, 30.0), [0.06, 0.12])
    assert metrics.non_skating(soles, contact, 30.0) == 50.0


def test_many_motions_count_by_their_samples():
    good = dict.fromkeys(("fidelity", "non_floating", "non_skating"), 100.0)
    bad = dict.fromkeys(good, 0.0)
    base = good | {"frames": 100, "contact_samples": 10, "step_samples": 1}
    other = bad | {"frames": 300, "contact_samples": 10, "step_samples": 3}
    total = combine([base, other])
    assert total["fidelity"] == 25.0
    assert total["non_floating"] == 50.0
    assert total["non_skating"] == 25.0
    assert total["frames"] == 400
