"""Terminations strike beyond their thresholds, and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.learning.env.terms import terminations
from tests.learning.sample_states import any_states, as_tensors, context, elsewhere, mirrored, near, resting
from tests.robots.posing import swap

HAIR = np.nextafter(np.float32(0.25), np.float32(1))
"""The next number above a quarter of a metre"""
ENDS = [1, 3]


def strikes(found) -> list[bool]:
    assert "bool" in str(found.dtype)
    return np.asarray(found).tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_anchor_height_strikes_beyond_a_quarter_of_a_metre(tensor, sign):
    state, reference = resting(robots=4), resting(robots=4)
    state.body_pos[:3, 2, 2] = sign * np.array([0.1, 0.25, HAIR])
    state.body_pos[3] = 9.0  # sideways, and other bodies, do not count
    state.body_pos[3, 2, 2] = 0.0
    assert strikes(terminations.anchor_height(context(*as_tensors(tensor, state, reference), 2))) == [
        False,
        False,
        True,
        False,
    ]
    assert strikes(terminations.anchor_height(context(*as_tensors(tensor, reference, state), 2))) == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("axis", ["x", "y"])
def test_tilt_strikes_when_the_cosines_of_the_leans_differ_by_more_than_four_fifths(tensor, axis):
    state, reference = resting(robots=4), resting(robots=4)
    lean = np.arccos([0.2001, 0.1999, -1])  # of an upright one's 1
    state.body_quat[:3, 2] = rot.multiply(rot.from_axis("z", 1.0), rot.from_axis(axis, lean))
    state.body_quat[3, :2] = rot.from_axis("x", np.pi)  # other bodies do not count
    assert strikes(terminations.anchor_tilt(context(*as_tensors(tensor, state, reference), 2))) == [
        False,
        True,
        True,
        False,
    ]
    assert strikes(terminations.anchor_tilt(context(*as_tensors(tensor, reference, state), 2))) == [
        False,
        True,
        True,
        False,
    ]


def test_a_turn_about_the_vertical_is_no_tilt(tensor):
    state, reference = resting(), resting()
    state.body_quat[:] = rot.from_axis("z", np.pi)
    assert strikes(terminations.anchor_tilt(context(*as_tensors(tensor, state, reference), 2))) == [False]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("end", ENDS)
def test_end_height_strikes_beyond_a_quarter_of_a_metre_of_any_end(tensor, sign, end):
    state, reference = resting(robots=5), resting(robots=5)
    state.body_pos[:3, end, 2] = sign * np.array([0.1, 0.25, HAIR])
    state.body_pos[3, [0, 2], 2] = 1.0  # bodies that are no ends
    state.body_pos[4, :, :2] = 1.0  # sideways
    found = terminations.end_height(context(*as_tensors(tensor, state, reference), 0, ends=ENDS))
    assert strikes(found) == [False, False, True, False, False]


def all_strikes(tensor, state, reference, anchor: int = 7, ends=(3, 6, 10, 13)) -> np.ndarray:
    """(3, E)"""
    seen = context(*as_tensors(tensor, state, reference), anchor, ends=ends)
    found = (terminations.anchor_height(seen), terminations.anchor_tilt(seen), terminations.end_height(seen))
    return np.array([strikes(f) for f in found])


def test_the_reference_itself_is_never_terminated(tensor):
    state = any_states(0, robots=200)
    assert not all_strikes(tensor, elsewhere(state, 1), state).any()


def test_where_it_happens_does_not_matter(tensor, g1):
    reference = any_states(0, robots=200)
    state = near(reference, 1, spread=0.3)
    struck = all_strikes(tensor, state, reference)
    assert np.all(struck.any(axis=1))
    assert not np.any(struck.all(axis=1))
    np.testing.assert_array_equal(struck, all_strikes(tensor, elsewhere(state, 2), elsewhere(reference, 3)))
    bodies = swap(g1.key_bodies)
    there = [mirrored(g1, s) for s in (state, reference)]
    anchor, ends = bodies.index(7), [bodies.index(e) for e in (3, 6, 10, 13)]
    np.testing.assert_array_equal(struck, all_strikes(tensor, *there, anchor, ends))
