"""The ground vote against brute force, and contact ratios by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phuma.contacts.ground import vote_ground
from phuma.contacts.height import contact_ratios

BAND = 0.025


def votes(heights, g):
    """How many heights lie in the band around each of g."""
    return np.sum(np.abs(heights - np.atleast_1d(g)[:, None]) < BAND, axis=1)


# Millimetres, so that no two heights differ by just the width of the band up to rounding.
@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-400, 400), min_size=1, max_size=60))
def test_ground_has_as_many_votes_as_brute_force_finds(millimetres):
    heights = (np.array(millimetres) + 0.3 * np.sin(np.arange(len(millimetres)))) / 1000
    candidates = np.arange(-0.45, 0.45, 0.0001)
    assert votes(heights, vote_ground(heights, BAND)) >= votes(heights, candidates).max()


def test_among_equal_winners_the_middle_one_is_taken():
    assert vote_ground(np.array([0.0, 0.2, 1.0]), BAND) == pytest.approx(0.2)
    assert vote_ground(np.array([0.0, 0.01, 0.5, 0.51, 0.9, 0.91]), BAND) == pytest.approx(0.505)


def test_contact_ratio_counts_points_of_each_region():
    heights = np.full((1, 88), 0.1)
    heights[0, :11] = 0.024  # half of the left heel
    heights[0, 22:44] = -0.024  # all of the left toe
    heights[0, 44:66] = 0.026  # none of the right heel
    np.testing.assert_allclose(contact_ratios(heights, BAND), [[0.5, 1.0, 0.0, 0.0]])
