"""The parts of contacts that stand, each against brute force or by hand."""

from itertools import pairwise, product

import numpy as np
import pytest

from phuma.contacts.bearing import missing_force
from phuma.contacts.force import GroundForce
from phuma.contacts.local_floor import common_floor, local_floor
from phuma.contacts.states import STATES, most_likely


@pytest.mark.slow
def test_the_most_likely_course_is_the_cheapest_of_all():
    rng = np.random.default_rng(0)
    for switch in (0.0, 0.4, 3.0):
        cost = rng.normal(size=(4, 16))

        def total(course, cost=cost, switch=switch):
            switches = sum((STATES[a] != STATES[b]).sum() for a, b in pairwise(course))
            return sum(cost[t, s] for t, s in enumerate(course)) + switch * switches

        best = min(product(range(16), repeat=4), key=total)
        assert tuple(most_likely(cost, switch)) == best


def test_a_state_that_costs_nothing_to_leave_is_left_and_a_dear_one_kept():
    cost = np.zeros((5, 16))
    cost[:, 1:] = 1.0
    cost[2, 0] = 1.5
    assert list(most_likely(cost, 0.0))[2] != 0
    assert not most_likely(cost, 1.0).any()


def corners_of(*centres):
    """(1, 16, 3): each region 10 cm square around its centre."""
    square = np.array([[-0.05, 0.0], [0.05, 0.0], [0.0, -0.05], [0.0, 0.05]])
    flat = np.concatenate([np.asarray(c) + square for c in centres])
    return np.concatenate([flat, np.zeros((16, 1))], axis=1)[None]


def force_at(x, y, vertical=1.0, horizontal=(0.0, 0.0)):
    return GroundForce(
        np.array([[x, y, 1.0]]), np.array([vertical]), np.array([horizontal], dtype=float), np.zeros((1, 2))
    )


CORNERS = corners_of((0.0, 0.1), (0.2, 0.1), (0.0, -0.1), (0.2, -0.1))


def test_weight_above_a_region_is_borne_by_it_and_by_no_other():
    missing = missing_force(force_at(0.0, 0.1), CORNERS, 0.0)[0]
    for state, stands in enumerate(STATES):
        if stands[0]:
            assert missing[state] == 0.0
    assert missing[0] == 1.0
    right_alone = int(np.flatnonzero((STATES == [False, False, True, True]).all(axis=1))[0])
    # The hull of the right foot ends at y = -0.05, 15 cm from below the centre of mass at 1 m.
    np.testing.assert_allclose(missing[right_alone], 0.15, atol=0.01)


def test_more_regions_never_miss_more():
    rng = np.random.default_rng(1)
    for _ in range(20):
        force = force_at(*rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.5, 2.0), rng.normal(size=2))
        missing = missing_force(force, CORNERS, 0.0)[0]
        for a, b in product(range(1, 16), repeat=2):
            if (STATES[a] <= STATES[b]).all():
                assert missing[b] <= missing[a] + 1e-12


def test_in_free_fall_nothing_is_missing_where_nothing_stands():
    assert missing_force(force_at(0.0, 0.0, vertical=0.0), CORNERS, 0.0)[0, 0] == 0.0


def test_the_floor_has_the_most_weight():
    heights = np.array([0.0, 0.005, 0.01, 0.30, 0.31])
    assert abs(common_floor(heights, np.ones(5)) - 0.005) < 1e-9
    assert abs(common_floor(heights, np.array([1.0, 1.0, 1.0, 9.0, 9.0])) - 0.305) < 1e-9


def test_a_floor_that_drifts_is_followed_and_one_that_nobody_touches_is_the_common_one():
    line = 0.1 + 0.002 * np.arange(300.0)
    heights, weight = np.repeat(line[:, None], 4, axis=1), np.ones((300, 4))
    np.testing.assert_allclose(local_floor(heights, weight, 0.1, 30.0), line, atol=0.01)
    np.testing.assert_array_equal(local_floor(heights, np.zeros((300, 4)), 0.1, 30.0), 0.1)
