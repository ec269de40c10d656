"""The law of a performance's feedback is the one that brings most robots back, and the usual one wherever it does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.control import laws
from phuma.control.bundle import strands_of
from phuma.control.dynamics import SUBSTEPS, Dynamics
from phuma.control.expert import perform
from phuma.control.gains import COMING_BACK, REGULATORS
from phuma.control.laws import OTHERS, ROLLOUTS, USUAL, Law, brought_back, law_of, under_laws, with_feedback
from phuma.control.recording import replay
from phuma.core.rollout import Bundle, Rollout
from phuma.core.trajectory import split_qpos
from phuma.errors import ConfigError
from phuma.sim.feedback import BY_THE_CLOCK, feedback_of
from phuma.sim.reference import at_control_rate
from tests.learning.sample_motions import dip

WILD = Law("wild", 5.0)
"""A law that throws robots over"""


@pytest.fixture(scope="module")
def performed(g1):
    """A knee bend, its episode and its performance without feedback."""
    motion = at_control_rate(dip(g1)).double()
    episode = perform(motion, g1, "quick")
    recorded = replay(g1, episode.qpos[0], episode.qvel[0], episode.targets, SUBSTEPS)
    root_pos, root_quat, joint_pos = split_qpos(recorded.qpos.astype(np.float32))
    performance = Rollout(
        g1.name, g1.joint_names, 50.0, root_pos, root_quat, joint_pos, "dip", velocity=recorded.qvel,
        target=episode.targets,
    )  # fmt: skip
    return motion, episode, performance


@pytest.fixture
def tried(monkeypatch):
    """The laws that are tried, in their order, each with its starts; there is a wild regulator too."""
    monkeypatch.setitem(REGULATORS, "wild", replace(COMING_BACK, offset=1e-6, joint_vel=0.0))
    out = []

    def noted(dynamics, performance, motion, start, threads=1):
        count = brought_back(dynamics, performance, motion, start, threads)
        out.append((law_of(performance), start, count))
        return count

    monkeypatch.setattr(laws, "brought_back", noted)
    return out


def test_the_usual_law_is_kept_where_it_brings_all_back_and_no_other_is_tried(g1, performed, tried):
    motion, episode, performance = performed
    found = with_feedback(Dynamics(g1), performance, episode, motion)
    assert law_of(found) == USUAL
    assert tried == [(USUAL, laws.START, ROLLOUTS)]


def test_where_the_usual_law_loses_robots_the_one_with_more_survivors_is_taken(g1, performed, tried, monkeypatch):
    motion, episode, performance = performed
    wild_too = Law("wild", BY_THE_CLOCK)
    monkeypatch.setattr(laws, "USUAL", WILD)
    monkeypatch.setattr(laws, "OTHERS", (wild_too, Law("soft", 50.0)))
    found = with_feedback(Dynamics(g1), performance, episode, motion)
    counts = {law: count for law, start, count in tried if start == laws.START}
    assert list(counts) == [WILD, wild_too, Law("soft", 50.0)]
    assert counts[law_of(found)] == max(counts.values()) > counts[WILD]
    (other,) = under_laws(Dynamics(g1), performance, episode, [Law("soft", 50.0)])
    np.testing.assert_array_equal(found.gains, other.gains)
    np.testing.assert_array_equal(found.value, other.value)


def test_of_equals_the_one_is_taken_that_comes_back_from_farther_off(g1, performed, monkeypatch):
    """And the first where they are equal there too."""
    motion, episode, performance = performed
    for far, best in (((3, 9, 9, 2, 1), OTHERS[0]), ((9, 9, 9, 9, 9), USUAL), ((0, 0, 0, 0, 7), OTHERS[3])):
        from_afar = dict(zip((USUAL, *OTHERS), far))
        monkeypatch.setattr(
            laws, "brought_back",
            lambda _, performance, motion, start, threads=1, from_afar=from_afar: (
                5 if start == laws.START else from_afar[law_of(performance)]
            ),
        )  # fmt: skip
        assert law_of(with_feedback(Dynamics(g1), performance, episode, motion)) == best


def test_the_law_does_not_depend_on_threads(g1, performed):
    motion, episode, performance = performed
    one, two = (with_feedback(Dynamics(g1, n), performance, episode, motion, n) for n in (1, 2))
    assert law_of(one) == law_of(two)
    np.testing.assert_array_equal(one.gains, two.gains)


def test_ways_back_go_by_the_law_of_their_performance(g1, performed):
    """A way back that is a part of the performance itself has the performance's feedback, up to its end's cost."""
    motion, episode, performance = performed
    laws_ = [USUAL, Law("damped", BY_THE_CLOCK)]
    strands = []
    first, count = len(motion) - 20, 20
    way = Bundle(
        np.array([first]), np.array([count]), np.array([1]), episode.qpos[first:], episode.qvel[first:],
        episode.targets[first:],
    )  # fmt: skip
    for own in under_laws(Dynamics(g1), performance, episode, laws_):
        own, back = strands_of(replace(own, bundle=way), g1)
        strands.append(back.feedback)
        np.testing.assert_array_equal(back.feedback.lateness, own.feedback.lateness[first:])
        np.testing.assert_allclose(back.feedback.gains, own.feedback.gains[first:], rtol=1e-2, atol=1e-2)
    assert np.abs(strands[0].gains.astype(float) - strands[1].gains.astype(float)).max() > 0.1


def test_a_regulator_that_is_not_known_is_named(g1, performed):
    _, episode, performance = performed
    (own,) = under_laws(Dynamics(g1), performance, episode, [USUAL])
    assert len(feedback_of(own)) == len(episode.targets)
    way = Bundle(np.array([0]), np.array([5]), np.array([1]), episode.qpos[:5], episode.qvel[:5], episode.targets[:4])
    with pytest.raises(ConfigError, match="unknown regulator 'hard'; there are: soft, damped"):
        strands_of(replace(own, bundle=way, regulator="hard"), g1)
