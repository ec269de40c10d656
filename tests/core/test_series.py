"""Lengths, rates and medians are those of numpy, to the last bit."""

import numpy as np
import pytest

from phuma.core.median import median
from phuma.core.series import length, rate

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(1, 2), (24, 3), (7, 4, 4, 3), (1000, 16, 2), (5, 4)])
def test_lengths(shape):
    v = RNG.normal(size=shape)
    np.testing.assert_array_equal(length(v), np.linalg.norm(v, axis=-1))
    wide = RNG.normal(size=(*shape[:-1], shape[-1] + 1))
    np.testing.assert_array_equal(length(wide[..., : shape[-1]]), np.linalg.norm(wide[..., : shape[-1]], axis=-1))


@pytest.mark.parametrize("shape", [(2,), (3,), (24, 3), (2, 4, 4, 3), (500, 16, 2)])
def test_rates(shape):
    x = RNG.normal(size=shape)
    np.testing.assert_array_equal(rate(x), np.gradient(x, axis=0))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 41, 1000])
def test_medians(count):
    x = RNG.normal(size=count)
    assert median(x) == np.median(x)
    assert median(np.stack([x, x])) == np.median(np.stack([x, x]))
    assert median(np.round(x)) == np.median(np.round(x))
