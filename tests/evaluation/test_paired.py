"""Two evaluations of the same motions are compared with an interval that holds what it should."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.evaluation import difference
from phuma.evaluation.summary import wilson


def document(shares, rollouts=1):
    """Of motions with these shares of success, 0 to 1."""
    rows = [{"motion": str(n), "success_0.5": 100.0 * share} for n, share in enumerate(shares)]
    return {"total": {"rollouts": rollouts * len(rows)}, "motions": rows[::-1]}


def test_a_hand_computed_case():
    """All ten motions against six of them: no correlation, so Wilson's ends add up in squares."""
    low, high = wilson(0.6, 10)
    found = difference(document([1] * 6 + [0] * 4), document([1] * 10))
    assert found.points == pytest.approx(-40)
    assert found.low == pytest.approx(-40 - 100 * (0.6 - low))
    assert found.high == pytest.approx(-40 + 100 * np.hypot(high - 0.6, 1 - wilson(1.0, 10)[0]))
    assert found.loses


def test_the_other_way_round_is_the_mirror_image_and_the_same_is_no_difference():
    one, other = document([1, 0, 1, 1, 0.5, 0]), document([1, 0, 0, 1, 0.25, 0])
    there, back = difference(one, other), difference(other, one)
    assert (there.points, there.low, there.high) == pytest.approx((-back.points, -back.high, -back.low))
    same = difference(one, one)
    assert same.low <= same.points == 0 <= same.high
    assert not same.loses


def test_motions_that_go_together_make_it_narrower():
    half, third = [1, 1, 1, 0, 0, 0] * 4, [1, 1, 0, 0, 0, 0] * 4
    near, far = difference(document(third), document(half)), difference(document(third[::-1]), document(half))
    assert near.points == far.points
    assert near.high - near.low < far.high - far.low


def test_a_single_motion_is_compared_by_its_rollouts():
    few, many = (difference(document([0.5], n), document([1.0], n)) for n in (2, 32))
    assert not few.loses
    assert many.loses


def test_nineteen_of_twenty_intervals_hold_the_true_difference():
    rng, held = np.random.default_rng(0), 0
    for _ in range(1000):
        easy = rng.random(25)
        one, other = (easy < 0.7).astype(float), ((easy + 0.1 * rng.random(25)) < 0.65).astype(float)
        found = difference(document(other), document(one))
        held += found.low <= -10 <= found.high  # P(easy + 0.1 u < 0.65) = 0.6
    assert 0.93 < held / 1000 <= 1
