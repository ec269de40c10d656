"""A live episode is a rollout, step by step; what it is told changes it from the next step on."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

from phuma.errors import PhumaError
from phuma.learning.env.telling import told_by
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.pipelines.evaluate_policy import live_episode, try_out
from phuma.sim.worlds import World
from tests.learning.sample_motions import dip, stand
from tests.learning.students import student


@pytest.fixture(scope="module")
def policy(g1):
    return student(g1, "any", action=20.0)


@pytest.fixture(scope="module")
def down(g1) -> MotionLibrary:
    return library_of(g1, [("down", dip(g1), None, None)])


def live(policy, library):
    return live_episode(World(), policy, library)


def test_it_is_the_rollout_and_begins_anew_where_that_ends(policy, down):
    (rollout,) = try_out(policy, down)
    episode = live(policy, down)
    seen = [episode.step() for _ in range(len(rollout) + 4)]
    states = np.array([each.qpos for each in seen])
    np.testing.assert_allclose(states[: len(rollout) - 1, :3], rollout.root_pos[1:], atol=1e-6)
    np.testing.assert_allclose(states[: len(rollout) - 1, 7:], rollout.joint_pos[1:], atol=1e-6)
    ended = [k for k, each in enumerate(seen) if each.failed or each.over]
    assert ended == [len(rollout) - (rollout.terminated_at is None) - 1]
    assert seen[ended[0]].failed == (rollout.terminated_at is not None)
    assert seen[ended[0] + 1].frame == 1
    np.testing.assert_allclose(states[ended[0] + 1], states[0], atol=1e-6)


def test_what_is_told_counts_from_the_next_step_on(policy, down):
    def states(change):
        episode = live(policy, down)
        for step in range(12):
            if step == 5:
                episode.told = change
            yield episode.step().qpos

    plain, same, less = (np.array(list(states(each))) for each in (
        None, told_by("any"), told_by("any").changed("left_foot", "position", False),
    ))  # fmt: skip
    np.testing.assert_array_equal(plain, same)
    np.testing.assert_array_equal(plain[:6], less[:6])  # what it sees is of the step before
    assert np.abs(plain[6:] - less[6:]).max(axis=1).min() > 1e-7


def test_it_goes_on_along_another_motion_from_where_it_is(policy, down, g1):
    episode = live(policy, down)
    for _ in range(5):
        before = episode.step().qpos
    episode.go_on(library_of(g1, [("still", stand(g1), None, None)]), 7)
    assert episode.frame == 7
    np.testing.assert_array_equal(episode.qpos, before)
    after = episode.step()
    assert after.frame == 8
    assert np.abs(after.qpos - before).max() < 0.1
    for _ in range(3):
        episode.wait()
        assert episode.step().frame == 8
    episode.restart(3)
    assert episode.step().frame == 4


def test_a_policy_that_is_not_finite_is_named(policy, down):
    class Broken:
        info = policy.info

        def act(self, observation, features):
            return np.full((1, 29), np.nan, dtype=np.float32)

    with pytest.raises(PhumaError, match=r"the policy is faulty: at control step 1 .* for left_hip_pitch_joint"):
        live(Broken(), down).step()
