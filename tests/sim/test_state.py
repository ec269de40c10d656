"""States: of some robots, and of some robots changed."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from phuma.sim.state import State
from tests.learning.sample_states import any_states, as_tensors

NAMES = [f.name for f in fields(State)]


def test_its_length_is_the_number_of_robots(tensor):
    assert len(as_tensors(tensor, any_states(0, robots=7))[0]) == 7


@pytest.mark.parametrize("rows", [np.array([4, 1, 1]), np.array([True, False, False, True, False]), slice(1, 3)])
def test_rows_are_those_of_every_array(tensor, rows):
    (state,) = as_tensors(tensor, any_states(0, robots=5))
    for name in NAMES:
        expected = np.asarray(getattr(state, name))[rows]
        np.testing.assert_array_equal(np.asarray(getattr(state[rows], name)), expected)


@pytest.mark.parametrize("rows", [np.array([4, 1, 1]), np.array([True, False, False, True, False])])
def test_rows_that_are_taken_when_asked_for_are_the_same_rows(tensor, rows):
    (state,) = as_tensors(tensor, any_states(0, robots=5))
    taken = state.at(rows)
    assert len(taken) == len(state[rows])
    for name in NAMES:
        np.testing.assert_array_equal(np.asarray(getattr(taken, name)), np.asarray(getattr(state[rows], name)))
        assert getattr(taken, name) is getattr(taken, name), "taken once"
        assert getattr(taken[:2], name).shape == getattr(state[rows][:2], name).shape
    assert not hasattr(taken, "hands")


@pytest.mark.parametrize("rows", [np.array([4, 1]), np.array([False, True, False, True, False])])
def test_replaced_robots_are_the_others_and_the_rest_is_as_it_was(tensor, rows):
    state, other = as_tensors(tensor, any_states(0, robots=5), any_states(1, robots=2))
    before = [np.asarray(getattr(state, name)).copy() for name in NAMES]
    changed = state.replaced(rows, other)
    for name, old in zip(NAMES, before):
        expected = old.copy()
        expected[rows] = np.asarray(getattr(other, name))
        np.testing.assert_array_equal(np.asarray(getattr(changed, name)), expected)
        np.testing.assert_array_equal(np.asarray(getattr(state, name)), old)
        assert getattr(changed, name).dtype == getattr(state, name).dtype
