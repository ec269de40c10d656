"""Arithmetic of quaternions: by hand, against `phuma.core.rotations`, in both libraries and single precision."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core import tensors

RNG = np.random.default_rng(0)
CLOSE = {"rtol": 0, "atol": 2e-6}
S = np.sqrt(0.5)
QUARTER = {"x": [S, S, 0, 0], "y": [S, 0, S, 0], "z": [S, 0, 0, S]}


def quats(*shape: int) -> np.ndarray:
    return rot.normalize(RNG.normal(size=(*shape, 4)))


def same(out, expected) -> None:
    np.testing.assert_allclose(np.asarray(out), expected, **CLOSE)


def test_namespace_is_the_library_of_a_tensor(tensor):
    x = tensor([1.0])
    assert tensors.namespace(x).__name__ == type(x).__module__.split(".")[0]


def test_products_by_hand(tensor):
    one = rot.multiply(tensor([1, 2, 3, 4]), tensor([5, 6, 7, 8]))
    same(one, [5 - 12 - 21 - 32, 6 + 10 + 24 - 28, 7 - 16 + 15 + 24, 8 + 14 - 18 + 20])
    same(rot.multiply(tensor([0, 1, 0, 0]), tensor([0, 0, 1, 0])), [0, 0, 0, 1])  # i j = k


def test_vectors_by_hand(tensor):
    about_z = tensor(QUARTER["z"])
    same(rot.rotate(about_z, tensor([2, 0, 5])), [0, 2, 5])
    same(rot.rotate_back(about_z, tensor([0, 2, 5])), [2, 0, 5])
    same(rot.rotate(tensor(QUARTER["x"]), tensor([2, 3, 0])), [2, 0, 3])
    same(rot.rotate(tensor(QUARTER["y"]), tensor([2, 3, 0])), [0, 3, -2])


def test_single_precision_of_either_library_equals_double_precision(tensor):
    a, b, v = quats(9, 5), quats(9, 5), RNG.normal(size=(9, 5, 3))
    same(rot.multiply(tensor(a), tensor(b)), rot.multiply(a, b))
    same(rot.conjugate(tensor(a)), rot.conjugate(a))
    same(rot.rotate(tensor(a), tensor(v)), rot.rotate(a, v))
    same(rot.rotate_back(tensor(a), tensor(v)), rot.rotate(rot.conjugate(a), v))


def test_one_rotation_serves_many_vectors(tensor):
    q, p, v = quats(9, 1), quats(9, 5), RNG.normal(size=(9, 5, 3))
    same(rot.rotate(tensor(q), tensor(v)), rot.rotate(q, v))
    same(rot.rotate_back(tensor(q), tensor(v)), rot.rotate(rot.conjugate(q), v))
    same(rot.multiply(tensor(q), tensor(p)), rot.multiply(q, p))


@pytest.mark.parametrize("angle", [0.0, 1e-5, 1e-3, 0.02, 0.4, 1.0, 2.5, 3.14, np.pi])
def test_angles_keep_their_digits_however_small(tensor, angle):
    """Single precision resolves a quaternion to 1e-7; an arc cosine would leave 1e-3 rad of that."""
    a, axis = quats(500), RNG.normal(size=(500, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    b = rot.multiply(a, rot.from_rotvec(angle * axis))
    for sign in (1, -1):
        found = np.sqrt(np.asarray(rot.squared_angle(tensor(a), tensor(sign * b)), dtype=float))
        np.testing.assert_allclose(found, angle, rtol=0, atol=1e-6)


def test_a_rotation_and_its_negative_are_no_angle_apart(tensor):
    q = tensor(quats(200))
    assert np.all(np.asarray(rot.squared_angle(q, q)) == 0)
    assert np.all(np.asarray(rot.squared_angle(q, -q)) == 0)


def test_quarter_and_half_turns_have_their_angle(tensor):
    same(rot.squared_angle(tensor(QUARTER["x"]), tensor(rot.IDENTITY)), np.pi**2 / 4)
    same(rot.squared_angle(tensor([0, 0, 1, 0]), tensor(rot.IDENTITY)), np.pi**2)


def test_roll_pitch_and_heading_take_a_rotation_apart(tensor):
    yaw, pitch, roll = (RNG.uniform(-limit, limit, 200) for limit in (3.1, 1.5, 3.1))
    turn = rot.from_axis("z", yaw)
    q = rot.multiply(rot.multiply(turn, rot.from_axis("y", pitch)), rot.from_axis("x", roll))
    np.testing.assert_allclose(np.asarray(rot.roll_pitch(tensor(q))), np.stack([roll, pitch], 1), atol=2e-5)
    found = np.asarray(rot.heading(tensor(q)), dtype=float)
    np.testing.assert_allclose(np.abs(np.sum(found * turn, axis=1)), 1, atol=1e-6)
    assert np.all(found[:, 1:3] == 0)


def test_twist_is_the_turn_about_the_vertical_that_is_nearest(tensor):
    q = quats(300)
    found = np.asarray(rot.twist(tensor(q)), dtype=float)
    angles = np.linspace(-np.pi, np.pi, 2001)
    best = np.abs(q @ rot.from_axis("z", angles).T).max(axis=1)  # cosines of half the angles between them
    np.testing.assert_allclose(np.abs(np.sum(found * q, axis=1)), best, atol=1e-5)
    same(rot.twist(tensor([QUARTER["y"], QUARTER["z"], [0, 1, 0, 0]])), [rot.IDENTITY, QUARTER["z"], rot.IDENTITY])


def test_turns_about_the_vertical_add_to_the_twist_on_either_side(tensor):
    q, turn = quats(300), rot.from_axis("z", RNG.uniform(-3, 3, 300))
    expected = rot.multiply(turn, np.asarray(rot.twist(tensor(q)), dtype=float))
    for turned in (rot.multiply(turn, q), rot.multiply(q, turn)):
        found = np.asarray(rot.twist(tensor(turned)), dtype=float)
        np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1, atol=1e-6)


def test_angles_by_hand(tensor):
    same(rot.roll_pitch(tensor([QUARTER["x"], QUARTER["z"]])), [[np.pi / 2, 0], [0, 0]])
    same(rot.roll_pitch(tensor(rot.from_axis("y", 0.5))), [0, 0.5])
    same(rot.heading(tensor([QUARTER["x"], QUARTER["z"]])), [rot.IDENTITY, QUARTER["z"]])


def test_straight_up_and_down_are_numbers(tensor):
    """Rounding makes the sine of some right angles a hair more than 1."""
    turn = rot.from_axis("z", np.linspace(-3, 3, 500))
    for pitch in (np.pi / 2, -np.pi / 2):
        found = np.asarray(rot.roll_pitch(tensor(rot.multiply(turn, rot.from_axis("y", pitch)))))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found[:, 1], pitch, atol=1e-3)


def test_two_columns_are_those_of_the_matrix(tensor):
    q = quats(9, 5)
    matrix = rot.to_matrix(q)
    same(rot.two_columns(tensor(q)), np.concatenate([matrix[..., 0], matrix[..., 1]], axis=-1))
    same(rot.two_columns(tensor(QUARTER["z"])), [0, 1, 0, -1, 0, 0])


def test_up_component_is_the_cosine_of_the_lean(tensor):
    lean = rot.multiply(rot.from_axis("z", 2.0), rot.from_axis("y", np.array([0, np.pi / 3, np.pi / 2, np.pi])))
    same(rot.up_component(tensor(lean)), [1, 0.5, 0, -1])
    q = quats(50)
    same(rot.up_component(tensor(q)), rot.to_matrix(q)[:, 2, 2])


def test_an_array_becomes_like_an_example(tensor):
    example = tensor([0.0])
    made = tensors.like(example, np.arange(3, dtype=np.float32))
    assert type(made) is type(example)
    assert made.dtype == example.dtype
    same(made, [0, 1, 2])


@pytest.mark.parametrize("function", ["conjugate", "heading", "twist", "roll_pitch", "two_columns", "up_component"])
def test_single_precision_stays_with_one_rotation(tensor, function):
    q = tensor(quats(3))
    assert getattr(rot, function)(q).dtype == q.dtype


@pytest.mark.parametrize("function", ["multiply", "squared_angle", "rotate", "rotate_back"])
def test_single_precision_stays_with_two(tensor, function):
    q, other = tensor(quats(3)), tensor(RNG.normal(size=(3, 3)) if "rotate" in function else quats(3))
    assert getattr(rot, function)(q, other).dtype == q.dtype
