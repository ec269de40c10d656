"""The force of the ground against mechanics: free fall, Newton, and Euler by the momentum itself."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.body import open_body
from phuma.body.mass import JOINT_WEIGHTS, centre_of_mass
from phuma.contacts.force import GRAVITY, ground_force, second_difference
from phuma.core import rotations as rot
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
