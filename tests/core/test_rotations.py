"""Rotations agree with SciPy's, which is written by others."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from phuma.core import rotations as rot

RNG = np.random.default_rng(0)


def random_quats(n=200):
    return rot.normalize(RNG.normal(size=(n, 4)))


def scipy_of(q):
    return Rotation.from_quat(q[:, [1, 2, 3, 0]])


def same_rotation(a, b, tolerance=1e-9):
    return np.all(np.abs(np.abs(np.sum(a * b, axis=-1)) - 1) < tolerance)


def test_products_and_rotations_equal_scipys():
    a, b, v = random_quats(), random_quats(), RNG.normal(size=(200, 3))
    product = (scipy_of(a) * scipy_of(b)).as_quat()[:, [3, 0, 1, 2]]
    assert same_rotation(rot.multiply(a, b), product)
    np.testing.assert_allclose(rot.rotate(a, v), scipy_of(a).apply(v), atol=1e-12)
    np.testing.assert_allclose(rot.to_matrix(a), scipy_of(a).as_matrix(), atol=1e-12)


def test_maps_are_inverse_to_each_other():
    q = random_quats()
    assert same_rotation(rot.from_matrix(rot.to_matrix(q)), q)
    assert same_rotation(rot.from_rotvec(rot.to_rotvec(q)), q)
    np.testing.assert_allclose(rot.to_rotvec(q), scipy_of(q).as_rotvec(), atol=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_half_turns_survive_the_matrix(axis):
    """Half turns are where a naive conversion divides by zero."""
    q = np.zeros(4)
    q[1 + axis] = 1
    assert same_rotation(rot.from_matrix(rot.to_matrix(q)), q)


def test_tiny_and_zero_angles_are_exact():
    v = np.array([[0, 0, 0], [1e-12, 0, 0], [0, -1e-9, 0]], dtype=float)
    np.testing.assert_allclose(rot.to_rotvec(rot.from_rotvec(v)), v, rtol=1e-6, atol=1e-20)


def test_between_turns_one_direction_into_the_other_also_when_opposite():
    a, b = RNG.normal(size=(2, 100, 3))
    b[0] = -a[0]
    turned = rot.rotate(rot.between(a, b), a)
    np.testing.assert_allclose(
        turned / np.linalg.norm(turned, axis=1)[:, None], b / np.linalg.norm(b, axis=1)[:, None], atol=1e-7
    )


def test_continuous_changes_signs_only():
    spin = rot.from_axis("z", np.linspace(0, 20, 500))
    broken = spin * RNG.choice([-1.0, 1.0], size=(500, 1))
    mended = rot.continuous(broken)
    assert np.all(np.sum(mended[1:] * mended[:-1], axis=1) > 0)
    assert np.all(np.abs(np.abs(mended) - np.abs(spin)) < 1e-12)


def test_slerp_has_constant_speed_and_takes_the_short_way():
    a, b = random_quats(50), random_quats(50)
    whole = np.linalg.norm(rot.to_rotvec(rot.multiply(rot.conjugate(a), b)), axis=1)
    for t in (0.0, 0.3, 1.0):
        part = np.linalg.norm(rot.to_rotvec(rot.multiply(rot.conjugate(a), rot.slerp(a, b, np.full(50, t)))), axis=1)
        np.testing.assert_allclose(part, t * whole, atol=1e-7)
