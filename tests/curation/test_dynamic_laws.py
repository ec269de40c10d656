"""Preset dynamic against mechanics: forces by brute force, hulls, means, planes and lines."""

import numpy as np
import pytest
from scipy.optimize import linprog

from phuma.contacts.force import FRICTION, GroundForce
from phuma.contacts.soles import Soles
from phuma.curation.dynamic import (
    external_support_force,
    frame_dynamics,
    ground_drift,
    ground_tilt,
    missing_lift,
    missing_push,
    shake,
    sole_slide,
)

FPS = 30.0


def test_a_sole_that_carries_for_a_moment_may_have_done_so_one_frame_earlier_or_later():
    """Smoothing blurs by as much. The force is one body weight throughout."""
    frames = 9
    place = np.full((frames, 16, 3), [0.0, 0.0, 1.0])
    place[4, :, 2] = 0.0
    zeros = np.zeros((frames, 2))
    force = GroundForce(np.tile([0.0, 0.0, 0.9], (frames, 1)), np.ones(frames), zeros, zeros)
    still_soles = Soles(place, np.zeros((frames, 16)))
    found = frame_dynamics(force, still_soles, 0.0, np.zeros(frames), FPS, np.ones(frames, dtype=bool))
    np.testing.assert_array_equal(found.lift, [1, 1, 1, 0, 0, 0, 1, 1, 1])


def test_the_ground_can_push_but_not_pull_and_only_where_soles_are():
    supported = np.array([True, True, True, False, False])
    np.testing.assert_allclose(missing_lift(np.array([1.0, 2.5, -0.4, 0.9, -0.3]), supported), [0, 0, 0.4, 0.9, 0.3])


def random_support(rng, frames):
    """Forces of somebody 1 m high, and soles around below them of which some carry."""
    force = GroundForce(
        centre=np.column_stack([rng.normal(size=(frames, 2)), np.full(frames, 1.0)]),
        vertical=rng.uniform(0.3, 2.0, frames),
        horizontal=0.1 * rng.normal(size=(frames, 2)),
        spin=0.3 * rng.normal(size=(frames, 2)),
    )
    corners = np.zeros((frames, 16, 3))
    corners[..., :2] = force.centre[:, None, :2] + 0.3 * rng.normal(size=(frames, 16, 2))
    carrying = rng.uniform(size=(frames, 16)) < 0.25
    carrying[:, 0] = True
    return force, corners, carrying


def test_toppling_is_missed_by_no_choice_of_forces():
    """Linear programming over all forces at the corners: least help at the height of c, in any horizontal direction."""
    rng = np.random.default_rng(0)
    force, corners, carrying = random_support(rng, 60)
    toppling = missing_push(force, 0.0, corners, carrying)[:, :16].max(axis=1)
    seen = 0
    for t in range(60):
        points = corners[t, carrying[t], :2] - force.centre[t, :2]
        n = len(points)
        # Unknowns: share of the force at each corner, help along +x, -x, +y, -y; the height is 1.
        equal = np.vstack([np.column_stack([points.T, [[1, -1, 0, 0], [0, 0, 1, -1]]]), [1.0] * n + [0.0] * 4])
        given = [*force.lever(0.0)[t], force.vertical[t]]
        found = linprog([0.0] * n + [1.0] * 4, A_eq=equal, b_eq=given, bounds=[(0, None)] * (n + 4))
        least = found.fun  # |help_x| + |help_y|, between its length and sqrt(2) times that
        size = np.linalg.norm(np.ptp(points, axis=0)) * force.vertical[t]
        fine, coarse = np.cos(np.pi / 16), np.sin(np.pi / 16)  # sixteen directions miss some, and never invent any
        assert fine * least / np.sqrt(2) - coarse * size - 1e-7 <= max(toppling[t], 0) <= least + 1e-7
        seen += least > 0.01
    assert 5 < seen < 55


def test_slipping_is_what_friction_does_not_hold():
    pushed = np.array([[1.4, 0], [0, 0.4], [0.3, 0]])
    force = GroundForce(np.array([[0, 0, 1.0]] * 3), np.array([1.0, 0.5, 1.0]), pushed, spin=pushed)
    corners = np.zeros((3, 16, 3))
    carrying = np.ones((3, 16), dtype=bool)
    carrying[2] = False
    push = missing_push(force, 0.0, corners, carrying)[:, 16:].max(axis=1)
    np.testing.assert_allclose(push, [1.4 - FRICTION, 0.4 - 0.5 * FRICTION, 0.3], atol=1e-9)


def test_the_external_support_force_is_a_mean_over_frames_around():
    rng = np.random.default_rng(3)
    lift, push = np.abs(rng.normal(size=50)), rng.normal(size=(50, 5))
    got = external_support_force(lift, push, 7)
    for t in range(50):
        near = slice(max(0, t - 3), t + 4)
        up, across = lift[near].sum() / 7, max(0.0, push[near].sum(axis=0).max() / 7)
        assert got[t] == pytest.approx(np.hypot(up, across))


def test_pushes_that_cancel_within_the_window_need_no_help():
    sway = np.zeros((40, 2))
    sway[:, 0], sway[:, 1] = (-1.0) ** np.arange(40), -((-1.0) ** np.arange(40))
    assert external_support_force(np.zeros(40), sway, 8 + 1)[10:30].max() < 0.12


def test_slide_drift_and_shake_by_hand():
    assert sole_slide(np.array([0.1, 0.2, 0.3, 0.4, 0.5])) == pytest.approx(0.2)
    assert sole_slide(np.array([])) == 0.0
    time = np.array([0.0, 0.1, 0.5, 2.0])
    assert ground_drift(time, 0.4 - 0.05 * time) == pytest.approx(0.05)
    assert ground_drift(time, np.array([0.0, 0.0, 0.0, 0.0])) == 0.0
    assert ground_drift(time[:1], np.array([0.3])) == ground_drift(time[:0], np.array([])) == 0.0
    assert shake(np.array([0.003, -0.004])) == pytest.approx(1000 * np.sqrt(0.0000125))


def test_a_tilted_world_is_found_by_soles_and_lean_together():
    """Both say the same, so that it comes out whatever either is worth."""
    rng = np.random.default_rng(2)
    tilt = np.radians([4.0, -3.0])
    points = rng.normal(size=(100, 3)) * [0.3, 0.1, 0.0] + [5.0, 2.0, 0.4]
    points[:, 2] -= points[:, :2] @ tilt
    for spread in (np.diag([0.01, 0.002]), np.eye(2)):
        assert ground_tilt(points, tilt, spread, 0.9) == pytest.approx(5.0)
    level = points * [1.0, 1.0, 0.0]
    assert ground_tilt(level, np.zeros(2), np.eye(2), 0.9) == pytest.approx(0.0, abs=1e-9)


def test_the_wider_the_feet_the_less_lean_counts():
    lean, said = np.radians([6.0, 0.0]), []
    for width in (0.03, 0.1, 0.5):
        points = np.array([[width, width, 0], [-width, width, 0], [width, -width, 0], [-width, -width, 0]], dtype=float)
        said.append(ground_tilt(points, lean, width**2 * np.eye(2), 0.9))
    assert 6.0 > said[0] > said[1] > said[2]
    assert said[0] > 4.5
    assert said[2] < 0.5
