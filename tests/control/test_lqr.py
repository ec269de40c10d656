"""The regulator's feedback is the best there is, by hand, by brute force and by its own value."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from phuma.control.lqr import eliminate, regulate


def problem(seed=0, steps=4, size=3, controls=2):
    rng = np.random.default_rng(seed)
    linear = [(rng.normal(size=(size, size)), rng.normal(size=(size, controls))) for _ in range(steps)]
    roots = rng.normal(size=(steps + 1, size, size))
    return linear, roots @ roots.swapaxes(1, 2)


def test_one_step_by_hand():
    """min over u of 2 u^2 + 3 (x + u)^2 is at u = -3/5 x, and is 6/5 x^2; with the state's own cost 1 it is 11/5."""
    one = np.eye(1)
    found = regulate([(one, one)], np.array([one]), 2.0, 3 * one)
    np.testing.assert_allclose(found.gains[0], [[-0.6]])
    np.testing.assert_allclose(found.values[0], [[2.2]])


def test_the_value_is_what_the_feedback_costs_and_nothing_costs_less():
    linear, costs = problem()
    found = regulate(linear, costs[:-1], 0.5, costs[-1])
    x = first = np.array([1.0, -2.0, 0.5])
    cost, controls = 0.0, []
    for (a, b), q, gain in zip(linear, costs, found.gains):
        u = gain @ x
        controls.append(u)
        cost += x @ q @ x + 0.5 * u @ u
        x = a @ x + b @ u
    cost += x @ costs[-1] @ x
    np.testing.assert_allclose(first @ found.values[0] @ first, cost)

    def price(controls):
        x, cost = first, 0.0
        for (a, b), q, u in zip(linear, costs, controls):
            cost += x @ q @ x + 0.5 * u @ u
            x = a @ x + b @ u
        return cost + x @ costs[-1] @ x

    rng = np.random.default_rng(1)
    for _ in range(50):
        assert price(np.array(controls) + 1e-3 * rng.normal(size=(4, 2))) > cost


def test_slopes_are_those_of_the_least_cost():
    """With linear terms, the least over u of all is  x'Px + 2p'x + const  for every x."""
    (((a, b),), (q, p)) = problem(3, steps=1)
    rng = np.random.default_rng(5)
    pull, push, slope = rng.normal(size=3), rng.normal(size=2), rng.normal(size=3)
    found = eliminate(a, b, q, pull, 0.7, push, p, slope)

    def least(x):
        u = found.gain @ x + found.change
        y = a @ x + b @ u
        return x @ q @ x + 2 * pull @ x + 0.7 * u @ u + 2 * push @ u + y @ p @ y + 2 * slope @ y

    constant = least(np.zeros(3))
    for x in rng.normal(size=(5, 3)):
        np.testing.assert_allclose(least(x), x @ found.value @ x + 2 * found.slope @ x + constant)


def test_what_has_no_minimum_is_an_error():
    one = np.eye(1)
    with pytest.raises(np.linalg.LinAlgError):
        eliminate(one, one, one, np.zeros(1), 1.0, np.zeros(1), -3 * one, np.zeros(1))


def test_a_step_that_is_of_no_use_has_the_feedback_of_the_next():
    linear, costs = problem()
    useless = np.full_like(linear[1][0], np.nan), np.full_like(linear[1][1], np.nan)
    found = regulate([linear[0], useless, *linear[2:]], costs[:-1], 0.5, costs[-1])
    np.testing.assert_array_equal(found.gains[1], found.gains[2])
    np.testing.assert_array_equal(found.values[1], found.values[2])
    assert np.isfinite(found.gains).all()
    last = regulate([*linear[:3], useless], costs[:-1], 0.5, costs[-1])
    assert (last.gains[3] == 0).all()
