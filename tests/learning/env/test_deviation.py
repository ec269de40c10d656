"""How far a robot is from its reference, as a policy says it, and where that is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core import rotations as rot
from phuma.learning.env.deviation import UNSENSED, deviated, deviation, size, units
from phuma.learning.env.terms.estimator import SENSED
from tests.learning.sample_states import any_states, context, near, seen


def test_a_deviation_leads_back_to_the_state_that_it_is_of():
    now = any_states(0)
    state = near(now, 1)
    found = deviated(now, deviation(state, now))
    np.testing.assert_allclose(found.qpos[:, :2], now.root_pos[:, :2])  # the place on the floor is not told
    np.testing.assert_allclose(found.qpos[:, 2], state.root_pos[:, 2])
    same = np.abs((found.qpos[:, 3:7] * state.root_quat).sum(-1))
    np.testing.assert_allclose(same, 1.0)
    np.testing.assert_allclose(found.qpos[:, 7:], state.joint_pos)
    expected = np.concatenate([state.root_linvel, state.root_angvel, state.joint_vel], axis=-1)
    np.testing.assert_allclose(found.qvel, expected)


def test_who_looks_from_elsewhere_sees_the_same_deviation():
    now = any_states(0)
    state, yaw = near(now, 1), np.linspace(-3, 3, len(now))
    shift = np.column_stack([yaw, -yaw, np.zeros(len(now))])
    np.testing.assert_allclose(deviation(seen(state, yaw, shift), seen(now, yaw, shift)), deviation(state, now))


def test_its_numbers_are_in_their_units(g1):
    """By hand: 4 cm higher, 0.6 m/s ahead of a reference that looks to the left, a joint 0.3 rad off."""
    now = any_states(0, robots=1)
    now.root_quat[0] = rot.from_axis("z", np.array(np.pi / 2))
    state = near(now, 1, spread=0.0)
    state.root_pos[0, 2] += 0.04
    state.root_linvel[0, 1] += 0.6
    state.joint_pos[0, 3] += 0.3
    expected = np.zeros(size(29))
    expected[[0, 1, UNSENSED + 3 + 3]] = 0.2, 0.5, 0.2
    np.testing.assert_allclose(deviation(state, now)[0], expected, atol=1e-12)
    assert len(units(29)) == size(29) == 2 * (6 + 29) - 2


def test_what_sensors_say_are_its_last_numbers():
    now = any_states(0)
    state = near(now, 1)
    told = context(state, now, now=now)
    sensed = np.concatenate([term.value(told) for term in SENSED], axis=-1)
    np.testing.assert_allclose(sensed / units(29)[UNSENSED:], deviation(state, now)[:, UNSENSED:])
