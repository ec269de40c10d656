"""A training ends early where evaluations no longer improve, and only there."""

from __future__ import annotations

import pytest

from phuma.pipelines.settling import LAST, PATIENCE, Settling


def after(*scores: float) -> Settling:
    """Settling after evaluations with so many percent within 0.5 m and half as many within 0.15 m."""
    settling = Settling()
    for score in scores:
        settling.add({"success_0.5": score, "success_0.15": score / 2})
    return settling


def test_a_training_that_improves_takes_its_time():
    settling = after(0, 10, 20, 30, 40, 50, 60)
    assert settling.progress(0.3, 100.0) == 0.3
    assert settling.progress(0.9, 300.0) == 0.9


def test_ups_and_downs_below_the_best_are_no_gain():
    assert not after(50, *[49] * (PATIENCE - 1)).over
    assert after(50, *[49, 50.3] * PATIENCE).over


def test_what_is_left_takes_a_share_of_the_time_so_far():
    settling = after(*[50] * (PATIENCE + 1))
    assert settling.progress(0.4, 100.0) == 0.4
    assert settling.progress(0.45, 100.0 + 50 * LAST) == pytest.approx(0.7)
    assert settling.progress(0.5, 100.0 + 100 * LAST) == pytest.approx(1.0)


def test_success_everywhere_twice_is_enough():
    settling = Settling()
    for _ in range(2):
        assert not settling.over
        settling.add({"success_0.5": 100.0, "success_0.15": 100.0})
    assert settling.over


def test_what_has_not_begun_to_succeed_has_not_settled():
    assert not after(*[0] * (3 * PATIENCE)).over
