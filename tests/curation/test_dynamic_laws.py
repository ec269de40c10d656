"""Preset dynamic against mechanics: free fall, Newton and Euler by brute force, hulls, means, planes and lines."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from phuma import rotations as rot
from phuma.body import open_body
from phuma.body.mass import JOINT_WEIGHTS, centre_of_mass
from phuma.curation.dynamic import (
    FRICTION,
    frame_dynamics,
    ground_drift,
    ground_tilt,
    helping_force,
    missing_lift,
    missing_push,
    shake,
    sole_slide,
)
from phuma.curation.force import GRAVITY, GroundForce, ground_force, second_difference
from phuma.curation.soles import FASTEST, REACH, Soles, corner_points
from tests.motions import smooth_motion

FPS = 30.0


def still(frames=40):
    motion = smooth_motion(open_body(), frames=1, seed=4)
    return replace(
        motion,
        root_pos=np.repeat(motion.root_pos, frames, axis=0),
        joint_quat=np.repeat(motion.joint_quat, frames, axis=0),
    )


def on_a_path(path):
    """Some pose, carried along `path` (T, 3) without any motion of its own."""
    motion = still(len(path))
    return replace(motion, root_pos=motion.root_pos + path)


def forces(motion):
    return ground_force(motion.pose, motion.fps)


def test_masses_are_shares_of_one_body():
    assert JOINT_WEIGHTS.sum() == pytest.approx(1.0)
    assert (JOINT_WEIGHTS >= 0).all()


def test_who_stands_still_needs_the_weight_and_nothing_else():
    force = forces(still())
    np.testing.assert_allclose(force.vertical, 1.0)
    np.testing.assert_allclose(force.horizontal, 0.0, atol=1e-12)
    np.testing.assert_allclose(force.lever(-0.3), 0.0, atol=1e-9)


def test_who_falls_freely_needs_no_force():
    t = np.arange(30) / FPS
    force = forces(on_a_path(np.stack([2 * t, -t, 3 * t - 0.5 * GRAVITY * t**2], axis=1)))
    for zero in (force.vertical, force.horizontal, force.lever(0.0)):
        np.testing.assert_allclose(zero, 0.0, atol=1e-9)


def test_a_steady_push_is_newtons():
    """Two m/s^2 along x, one up; the force acts behind the centre of mass by height times a / g."""
    t = np.arange(30) / FPS
    motion = on_a_path(np.stack([t**2, 0 * t, 0.5 * t**2], axis=1))
    force, floor = forces(motion), 0.1
    np.testing.assert_allclose(force.vertical, 1 + 1 / GRAVITY, atol=1e-9)
    np.testing.assert_allclose(force.horizontal, np.tile([2 / GRAVITY, 0.0], (30, 1)), atol=1e-9)
    height = centre_of_mass(motion.pose)[:, 2] - floor
    np.testing.assert_allclose(force.lever(floor)[:, 0], -height * 2 / GRAVITY, atol=1e-9)


def test_spin_is_the_rate_of_angular_momentum():
    """A force f at p has the moment (p - c) x f about the centre of mass, which is what L changes by."""
    fps = 480.0
    motion = smooth_motion(open_body(), frames=240, fps=fps, seed=1)
    place, mass = motion.pose.position, centre_of_mass(motion.pose)
    speed = np.gradient(place - mass[:, None], 1 / fps, axis=0)
    momentum = np.einsum("tjk,j->tk", np.cross(place - mass[:, None], speed), JOINT_WEIGHTS)
    changes = np.gradient(momentum, 1 / fps, axis=0)
    force, floor, inner = forces(motion), -1.2, slice(5, -5)
    acts = np.column_stack([force.lever(floor) / force.vertical[:, None], floor - mass[:, 2]])  # from c
    whole = np.column_stack([force.horizontal, force.vertical]) * GRAVITY
    np.testing.assert_allclose(np.cross(acts, whole)[inner, :2], changes[inner, :2], atol=0.02)
    assert np.abs(changes[inner, :2]).max() > 0.5


def test_second_differences_of_a_parabola_are_exact_at_the_ends_too():
    t = np.arange(12) / FPS
    np.testing.assert_allclose(second_difference(3 * t**2, FPS), 6.0, atol=1e-9)


def test_corners_span_every_region():
    """A hull of the corners is as wide and as long as that of all points, but for a tenth."""
    body = open_body()
    corners = corner_points(body)
    assert len(set(corners)) == 16
    for r in range(4):
        own, points = corners[4 * r : 4 * r + 4], body.soles[22 * r : 22 * r + 22]
        assert (own // 22 == r).all()
        np.testing.assert_array_equal(np.ptp(body.soles[own], axis=0), np.ptp(points, axis=0))


@pytest.mark.parametrize(
    ("height", "speed", "carries"),
    [(0.0, 0.0, True), (REACH - 1e-3, 0.0, True), (REACH + 1e-3, 0.0, False), (-REACH + 1e-3, 0.0, True),
     (-REACH - 1e-3, 0.0, False), (0.0, FASTEST - 0.01, True), (0.0, FASTEST + 0.01, False)],
)  # fmt: skip
def test_a_sole_carries_at_the_floor_unless_it_swings(height, speed, carries):
    place = np.zeros((20, 16, 3))
    place[..., 0] = speed * np.arange(20)[:, None] / FPS
    place[..., 2] = 0.4 + height
    np.testing.assert_array_equal(Soles.of(place, FPS).carrying(0.4), carries)


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


def test_the_helping_force_is_a_mean_over_frames_around():
    rng = np.random.default_rng(3)
    lift, push = np.abs(rng.normal(size=50)), rng.normal(size=(50, 5))
    got = helping_force(lift, push, 7)
    for t in range(50):
        near = slice(max(0, t - 3), t + 4)
        up, across = lift[near].sum() / 7, max(0.0, push[near].sum(axis=0).max() / 7)
        assert got[t] == pytest.approx(np.hypot(up, across))


def test_pushes_that_cancel_within_the_window_need_no_help():
    sway = np.zeros((40, 2))
    sway[:, 0], sway[:, 1] = (-1.0) ** np.arange(40), -((-1.0) ** np.arange(40))
    assert helping_force(np.zeros(40), sway, 8 + 1)[10:30].max() < 0.12


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


def test_a_force_does_not_depend_on_the_frame():
    motion = smooth_motion(open_body(), frames=40, seed=6)
    turn = rot.from_axis("z", 1.1)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    there = replace(motion, root_pos=rot.rotate(turn, motion.root_pos) + [3.0, -1.0, 0.5], joint_quat=quat)
    here, moved = forces(motion), forces(there)
    np.testing.assert_allclose(moved.vertical, here.vertical, atol=1e-9)
    matrix = rot.to_matrix(turn)[:2, :2]
    np.testing.assert_allclose(moved.lever(0.5), here.lever(0.0) @ matrix.T, atol=1e-9)
