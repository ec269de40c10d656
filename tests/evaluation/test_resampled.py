"""Laws of the paired bootstrap: by hand, by all draws there can be, and of what is equal."""

from itertools import product

import numpy as np
import pytest

from phuma.evaluation.resampled import Sample, compare, estimate, estimate_share


def sample(values, count=None) -> Sample:
    """Values by seed and recording, each of one clip unless counts are given."""
    total = np.asarray(values, dtype=float)
    return Sample(total, np.ones_like(total) if count is None else np.asarray(count, dtype=float))


def test_two_recordings_by_hand():
    """Of two recordings, both are drawn in half of the draws and each alone in a quarter: the interval is from one to
    the other. The mean of what has more clips counts more."""
    found = estimate(sample([[30.0, 70.0]]))
    assert found == (50.0, 30.0, 70.0)
    assert estimate(sample([[30.0, 3 * 70.0]], [[1, 3]])).value == 60.0


def test_a_difference_that_all_have_is_certain():
    """Hard and easy recordings differ by more than the rows: pairs take that out."""
    values = np.array([[0.0, 50.0, 90.0, 20.0, 5.0, 7.0], [10.0, 55.0, 80.0, 0.0, 9.0, 1.0]])
    one, other = sample(values + 5), sample(values)
    assert np.allclose(compare(one, other), 5.0)
    assert compare(one, other).tells
    assert not np.allclose(estimate(one).low, estimate(one).high)


def test_what_is_equal_cannot_be_told_apart():
    one = sample(np.random.default_rng(0).uniform(0, 100, (3, 7)))
    assert compare(one, one) == (0.0, 0.0, 0.0)
    assert not compare(one, one).tells


def test_seeds_are_drawn_too():
    """Where all motions of a seed succeed and none of another, nothing is known, however many motions there are."""
    found = estimate(sample([[100.0] * 50, [0.0] * 50]))
    assert found == (50.0, 0.0, 100.0)


def test_ends_are_those_of_all_draws():
    """Every draw of two seeds and three recordings, by brute force."""
    rng = np.random.default_rng(1)
    one = sample(rng.uniform(0, 100, (2, 3)), rng.integers(1, 4, (2, 3)))
    means = [
        one.total[np.ix_(seeds, recordings)].sum() / one.count[np.ix_(seeds, recordings)].sum()
        for seeds in product(range(2), repeat=2)
        for recordings in product(range(3), repeat=3)
    ]
    found, step = estimate(one), np.diff(np.sort(means)).max()
    assert [found.low, found.high] == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=step)


def test_few_recordings_tell_nothing_apart():
    """Five that all agree do by chance more often than once in twenty times; six do not."""
    for count, told in ((5, False), (6, True)):
        one, other = sample(np.full((3, count), 100.0)), sample(np.zeros((3, count)))
        assert compare(one, other).tells == told
        assert compare(one, other).value == 100.0


def test_where_nothing_succeeds_the_share_is_not_certain():
    """None of four recordings: by Wilson up to z^2 / (n + z^2) may."""
    found = estimate_share(sample(np.zeros((3, 4))))
    assert found.value == found.low == 0.0
    assert found.high == pytest.approx(100 * 1.96**2 / (4 + 1.96**2), abs=0.1)


def test_one_recording_has_no_interval():
    found = estimate(sample([[40.0, 0.0]], [[2, 0]]))
    assert (found.value, found.low, found.high) == (20.0, None, None)
