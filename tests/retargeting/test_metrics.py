"""Metrics of robot motions against cases computed by hand."""

import numpy as np
import pytest

from phuma.retargeting import metrics
from phuma.retargeting.measure import combine, known_in


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


def test_what_has_no_contact_is_unknown_and_not_perfect():
    heights, nothing = np.full((3, 4), 0.8), np.zeros((3, 4))
    assert metrics.non_floating(heights, nothing) is None
    assert metrics.non_penetration(heights, nothing) is None
    assert metrics.non_skating(np.zeros((3, 4, 3)), nothing, 30.0) is None


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


def test_what_is_unknown_in_a_motion_is_averaged_over_the_others_and_they_are_counted():
    known = {"non_floating": 90.0, "non_skating": 80.0, "frames": 100, "contact_samples": 10, "step_samples": 5}
    unknown = {"non_floating": None, "non_skating": None, "frames": 900, "contact_samples": 0, "step_samples": 0}
    known["stance_roll_deg"], unknown["stance_roll_deg"] = 2.0, None  # weighed by frames, of which there are some
    total = combine([known, unknown])
    assert (total["non_floating"], total["non_skating"], total["stance_roll_deg"]) == (90.0, 80.0, 2.0)
    assert known_in([known, unknown]) == {"non_floating": 1, "non_skating": 1, "stance_roll_deg": 1}
    assert combine([unknown, unknown])["non_floating"] is None


def test_the_fastest_of_some_points_in_every_frame():
    points = np.zeros((3, 2, 3))
    points[1, 1, 0], points[2, 0, 2] = 0.1, 0.2  # 3 m/s at 30 Hz, then back by 3 m/s and up by 6
    np.testing.assert_allclose(metrics.fastest(points, 30.0), [3.0, 6.0, 6.0])
    assert np.isnan(metrics.fastest(points[:1], 30.0)).all()


def test_the_speed_of_joints_is_that_of_the_fastest_by_its_own_limit():
    joints = np.array([[0.0, 0.0], [0.1, 0.05], [0.1, 0.05]])  # 3 and 1.5 rad/s
    assert metrics.joint_speed(joints, 30.0, np.array([6.0, 2.0])) == pytest.approx(75.0)
    assert metrics.joint_speed(joints[:1], 30.0, np.array([6.0, 2.0])) is None
