"""Compiled rotations of many bodies are those of `core.rotations`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.learning.env import turning

CLOSE = {"rtol": 1e-6, "atol": 1e-6}
SHAPES = [((5, 4), (5, 4)), ((5, 1), (5, 4)), ((5, 4), (1, 4)), ((1, 1), (5, 4)), ((5,), (5,)), ((5, 1, 1), (5, 2, 3))]


def quaternions(shape, seed: int) -> np.ndarray:
    return rot.normalize(np.random.default_rng(seed).normal(size=(*shape, 4))).astype(np.float32)


def vectors(shape, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*shape, 3)).astype(np.float32)


@pytest.mark.parametrize(("one", "other"), SHAPES)
@pytest.mark.parametrize("name", ["multiply", "rotate", "rotate_back"])
def test_each_body_is_turned_by_its_own_rotation_or_by_the_one_of_all(tensor, name, one, other):
    """Also where its numbers do not lie together."""
    q = quaternions(one, 0)
    turned = quaternions(other, 1) if name == "multiply" else vectors(other, 1)
    expected = getattr(rot, name)(q.astype(float), turned.astype(float))
    found = np.asarray(getattr(turning, name)(tensor(q.repeat(2, -1))[..., ::2], tensor(turned)))
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("shape", [(5, 4), (5,), (5, 2, 3)])
def test_two_columns_are_those_of_the_matrix(tensor, shape):
    q = quaternions(shape, 0)
    found = np.asarray(turning.two_columns(tensor(q)))
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found, rot.to_matrix(q.astype(float))[..., :2].swapaxes(-1, -2).reshape(*shape, 6), **CLOSE
    )


def test_double_precision_is_kept():
    q = rot.normalize(np.random.default_rng(0).normal(size=(5, 4, 4)))
    np.testing.assert_array_equal(turning.multiply(q, q), rot.multiply(q, q))
