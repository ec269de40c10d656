"""Feedback aims where the performance does, from the moment of it that the robot is nearest to."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.core.rollout import Rollout
from phuma.core.trajectory import split_qpos
from phuma.sim.coordinates import Coordinates, tangent
from phuma.sim.feedback import AWAY, BY_THE_CLOCK, LATENESS, Feedback, Strand, Strands, aim, feedback_of

STEPS, JOINTS = 40, 2
SIZE = 2 * (6 + JOINTS)
FIRST_JOINT = 6


def swing(rate: float = 0.5, lateness: float = LATENESS) -> Feedback:
    """A performance whose first joint turns by `rate` a step: K halves its deviation, which costs 100 its square."""
    qpos = np.zeros((STEPS, 7 + JOINTS))
    qpos[:, 2], qpos[:, 3], qpos[:, 7] = 1.0, 1.0, rate * np.arange(STEPS)
    gains, value = np.zeros((STEPS, JOINTS, SIZE), dtype=np.float16), np.zeros((STEPS, 1, SIZE), dtype=np.float32)
    gains[:, 0, FIRST_JOINT], value[:, 0, FIRST_JOINT] = -0.5, 10.0
    target = np.stack([qpos[:, 7] + 0.1, np.zeros(STEPS)], axis=1)
    return Feedback(qpos, np.zeros((STEPS, 6 + JOINTS)), target, gains, value, np.full(STEPS, lateness))


def at(feedback: Feedback, step: int, joint: float = 0.0, place: float = 0.0) -> Coordinates:
    """The state of a step with the first joint and the place on the floor off by so much, of one environment."""
    qpos = feedback.qpos[step : step + 1].copy()
    qpos[:, 7] += joint
    qpos[:, :2] += place
    return Coordinates(qpos, feedback.qvel[step : step + 1])


def aimed(feedback: Feedback, state: Coordinates, clock: int, first: int = 0, last: int = STEPS - 1):
    return aim(feedback, state, np.array([clock]), np.array([first]), np.array([last]))


def test_on_the_performance_its_own_target_is_aimed_at():
    feedback = swing()
    target, cost = aimed(feedback, at(feedback, 7), 7)
    np.testing.assert_allclose(target[0], feedback.target[7])
    assert cost == 0.0


def test_what_is_off_is_pulled_back_by_the_gains():
    feedback = swing(rate=0.0)
    target, cost = aimed(feedback, at(feedback, 7, joint=0.2), 7)
    np.testing.assert_allclose(target[0], [0.1 - 0.5 * 0.2, 0.0], atol=1e-6)
    assert cost == pytest.approx((10 * 0.2) ** 2, rel=1e-5)


@pytest.mark.parametrize("late", [-AWAY, -3, 2, AWAY])
def test_who_is_early_or_late_goes_on_from_the_moment_reached(late):
    """What it would cost to be back in time is more than being out of it."""
    feedback = swing(rate=2.0)
    target, cost = aimed(feedback, at(feedback, 20 + late), 20)
    np.testing.assert_allclose(target[0], feedback.target[20 + late], atol=1e-6)
    assert cost == 0.0


def test_the_clock_decides_where_moments_are_alike():
    """A moment off costs w; a deviation that costs less is worth none."""
    feedback = swing(rate=0.5 * np.sqrt(LATENESS) / 10)
    target, _ = aimed(feedback, at(feedback, 21), 20)
    assert target[0, 0] != pytest.approx(feedback.target[21, 0])


@pytest.mark.parametrize(("factor", "there"), [(0.9, 21), (1.1, 20)])
def test_how_much_the_clock_counts_is_the_performances_own(factor, there):
    """A step off costs 100 rate^2, and going on from there w."""
    feedback = swing(rate=0.5, lateness=factor * 100 * 0.5**2)
    target, _ = aimed(feedback, at(feedback, 21), 20)
    np.testing.assert_allclose(target[0, 0], feedback.target[there, 0] - 0.5 * 0.5 * (21 - there), atol=1e-6)


def under(feedback: Feedback, lateness: float) -> Feedback:
    return Feedback(*[*feedback][:-1], np.full(STEPS, lateness))


def test_by_the_clock_alone_it_is_the_clocks_target_and_gains():
    """target + K x and |L x|^2 exactly, however near another moment is."""
    rng, free = np.random.default_rng(0), swing(rate=2.0)
    free.gains[:], free.value[:] = rng.normal(size=free.gains.shape), rng.normal(size=free.value.shape)
    alone, state = under(free, BY_THE_CLOCK), at(free, 22, 0.1, place=0.3)
    x = tangent(state, Coordinates(free.qpos[20:21], free.qvel[20:21])).astype(np.float32)[0]
    x[:2] = 0.0
    target, cost = aimed(alone, state, 20)
    np.testing.assert_array_equal(target[0], free.target[20] + free.gains[20].astype(np.float32) @ x)
    assert cost[0] == pytest.approx(((free.value[20] @ x) ** 2).sum(), rel=1e-5)
    assert np.abs(aimed(free, state, 20)[0] - target).max() > 0.1
    heavy = aimed(under(free, 1e12), state, 20)
    np.testing.assert_allclose(heavy[0], target, rtol=1e-6)


def test_each_environment_goes_by_the_law_of_its_performance():
    free, alone = swing(rate=2.0), swing(rate=2.0, lateness=BY_THE_CLOCK)
    strands = Strands([[Strand(0, free)], [Strand(0, alone)]])
    early = at(free, 22)
    both = Coordinates(*(np.repeat(values, 3, axis=0) for values in early))
    target, cost = strands.aim(both, np.array([1, 0, 1]), np.full(3, 20))
    np.testing.assert_allclose(target[:, 0], [free.target[20, 0] - 2.0, free.target[22, 0], free.target[20, 0] - 2.0])
    np.testing.assert_allclose(cost, [1600.0, 0.0, 1600.0], rtol=1e-5)


@pytest.mark.parametrize("lateness", [None, 50.0, BY_THE_CLOCK])
def test_a_stored_performance_has_its_law_and_an_older_one_the_usual(lateness):
    qpos = np.tile([0, 0, 1.0, 1, 0, 0, 0, 0, 0], (STEPS + 1, 1))
    stored = Rollout(
        "robot", ("a", "b"), 50.0, *split_qpos(qpos), motion="m", velocity=np.zeros((STEPS + 1, 8)),
        target=np.zeros((STEPS, 2)), gains=np.zeros((STEPS, 2, SIZE)), value=np.zeros((STEPS, 3, SIZE)),
        lateness=lateness,
    )  # fmt: skip
    assert (feedback_of(stored).lateness == (5.0 if lateness is None else lateness)).all()
    assert feedback_of(stored).lateness.shape == (STEPS,)


def by_strands(strands: Strands, state: Coordinates, motion: int, clock: int):
    target, cost = strands.aim(state, np.array([motion]), np.array([clock]))
    return target[0], cost[0]


def test_nobody_goes_on_in_the_performance_of_another_motion():
    """Each motion has its own, however near another one's is."""
    one, other = swing(), swing()
    other.target[:] += 5.0
    both = Strands([[Strand(0, one)], [Strand(0, other)]])
    for motion, own in enumerate((one, other)):
        target, cost = by_strands(both, at(own, 2), motion, 1)
        np.testing.assert_allclose(target, own.target[2])
        assert cost == 0.0


def aside(begin: int, steps: int, off: float) -> Strand:
    """A way back whose first joint is off the performance's by so much, and aims 7 higher."""
    own = swing()
    part = Feedback(*(values[begin : begin + steps].copy() for values in own))
    part.qpos[:, 7] += off
    part.target[:] += 7.0
    return Strand(begin, part)


def test_the_way_back_is_taken_that_costs_least():
    """The performance's own feedback near it, that of a way back near that one, and of two the nearer."""
    own = swing(rate=0.0)
    still = [aside(10, 20, off)._replace(feedback=_still(aside(10, 20, off).feedback, off)) for off in (1.0, 2.0)]
    strands = Strands([[Strand(0, own)], [Strand(0, own), *still]])
    for joint, expected in ((0.1, 0), (0.9, 1), (1.8, 2)):
        target, _ = by_strands(strands, at(own, 15, joint), 1, 15)
        deviation = joint - (0.0, 1.0, 2.0)[expected]
        assert target[0] == pytest.approx((0.1, 7.1, 7.1)[expected] - 0.5 * deviation, abs=1e-3)


def _still(feedback: Feedback, off: float) -> Feedback:
    """The same way back with its first joint at rest."""
    feedback.qpos[:, 7] = off
    feedback.target[:] = [7.1, 7.0]
    return feedback


def test_a_way_back_counts_only_while_it_lasts_and_for_its_motion():
    own = swing(rate=0.0)
    way = Strand(10, _still(aside(10, 20, 1.0).feedback, 1.0))
    strands = Strands([[Strand(0, own), way], [Strand(0, own)]])
    near = at(own, 15, 1.0)
    assert by_strands(strands, near, 0, 15)[1] == 0.0
    for motion, clock in ((0, 9), (0, 30), (1, 15)):
        assert by_strands(strands, near, motion, clock)[1] == pytest.approx(100.0, rel=1e-4)


def test_environments_do_not_know_each_other():
    feedback = swing()
    states = [at(feedback, 9, 0.01), at(feedback, 30), at(feedback, 4, 0.3)]
    clocks, ends = np.array([8, 30, 5]), np.full(3, STEPS - 1)
    together = aim(feedback, Coordinates(*map(np.concatenate, zip(*states))), clocks, np.zeros(3, int), ends)
    for n, state in enumerate(states):
        alone = aimed(feedback, state, clocks[n])
        np.testing.assert_array_equal(together[0][n], alone[0][0])
        assert together[1][n] == alone[1][0]


def test_the_place_on_the_floor_does_not_count():
    """Gains and costs of a stored performance know of it; feedback does not."""
    rng = np.random.default_rng(0)
    qpos = np.tile([0, 0, 1.0, 1, 0, 0, 0, 0, 0], (STEPS + 1, 1))
    stored = Rollout(
        "robot", ("a", "b"), 50.0, *split_qpos(qpos), motion="m", velocity=np.zeros((STEPS + 1, 8)),
        target=np.zeros((STEPS, 2)), gains=rng.normal(size=(STEPS, 2, SIZE)), value=rng.normal(size=(STEPS, 3, SIZE)),
    )  # fmt: skip
    feedback = feedback_of(stored)
    here, there = (aimed(feedback, at(feedback, 5, 0.1, place), 5) for place in (0.0, 3.0))
    np.testing.assert_array_equal(here[0], there[0])
    assert here[1] == there[1] > 0


def test_the_place_on_the_floor_counts_within_a_reach():
    """By the clock, as if it were at most so far off, and for the gains alone: not for the moment that is chosen."""
    feedback = swing(rate=0.0)
    feedback.gains[:, 1, 0], feedback.value[:, 0, 0] = -2.0, 50.0
    ends = (np.array([7]), np.array([0]), np.array([STEPS - 1]))
    for place, reach, counted in (
        (0.3, 0.0, 0.0),
        (0.03, 0.1, 0.03),
        (0.3, 0.1, 0.1 / np.sqrt(2)),
        (-0.3, 0.1, -0.1 / np.sqrt(2)),
    ):
        target, cost = aim(feedback, at(feedback, 7, place=place), *ends, reach)
        np.testing.assert_allclose(target[0], [0.1, -2.0 * counted], atol=1e-5)
        assert cost == 0.0
