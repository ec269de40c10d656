"""How robots differ from their model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.learning.env.disturbances import DisturbancesCfg, events_of
from phuma.sim.randomization import DIFFERING, RandomizationCfg, draw_randomization, make_alike

ROBOTS, JOINTS, BODIES = 400, 29, 31


def drawn(cfg, seed=0):
    return draw_randomization(np.random.default_rng(seed), ROBOTS, JOINTS, cfg, BODIES)


def same(values):
    """(E,) bool: whether all of a robot's values are one."""
    return np.ptp(values, axis=1) == 0


def test_a_share_of_robots_is_heavier_and_stiffer_as_a_whole():
    found = drawn(replace(DIFFERING, alike=0.3))
    whole = same(found.mass)
    assert abs(whole.mean() - 0.3) < 4 * (0.3 * 0.7 / ROBOTS) ** 0.5
    for values in (found.stiffness, found.damping):
        assert np.array_equal(same(values), whole)
    assert np.array_equal(found.stiffness[whole], found.damping[whole])  # a weak battery weakens both
    assert not np.array_equal(found.stiffness[whole][:, 0], found.mass[whole][:, 0])


def test_factors_stay_within_their_ranges_and_fill_them():
    found = drawn(DIFFERING)
    for values, (low, high) in ((found.mass, DIFFERING.mass), (found.stiffness, DIFFERING.gain)):
        assert low <= values.min() < low + 0.01
        assert high - 0.01 < values.max() <= high
    assert abs(found.mass[same(found.mass)].mean() - 1) < 0.03
    assert not found.joint_bias.any()
    assert found.delay == 0


def test_robots_that_are_not_alike_are_drawn_as_ever():
    table = RandomizationCfg(mass=(0.9, 1.1))
    one, other = drawn(table), drawn(table)
    make_alike(np.random.default_rng(1), other, table)
    for name in ("stiffness", "damping", "mass", "friction", "com"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_robots_that_differ_have_the_noise_and_pushes_that_are_asked_for_and_no_others(g1):
    found = draw_randomization(np.random.default_rng(0), 4, g1.n_joints, DIFFERING, g1.n_bodies)
    events = events_of(DisturbancesCfg(differ=True, pushes=True, start=0.2), DIFFERING, found, g1)
    assert (events.noise, events.pushes, events.start, events.joint_bias, events.delay) == (0.0, True, 0.2, None, 0)
    np.testing.assert_array_equal(events.facts, found.facts(g1))
    plain = events_of(DisturbancesCfg(pushes=True), RandomizationCfg(), None, g1)
    assert plain.facts is None
