"""A policy at work: rollouts from a motion's first frame to its last, or to where it failed."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.evaluation import judge
from phuma.learning.deploy.policy import info_of
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.run import rollouts as rollouts_module
from phuma.learning.run.rollouts import roll_out
from phuma.robots import load_robot
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.learning.sample_motions import library, robot_motion, small_motions

pytestmark = pytest.mark.slow

EXACT = EventsCfg()


class Still:
    """Adds nothing to its base."""

    def __init__(self, base="feedforward"):
        self.info = info_of(load_robot("g1"), "beyondmimic", "policy", EnvironmentCfg(base=base))

    def act(self, observation, features):
        assert observation["future"].max() < len(features["future"])
        return np.zeros((len(observation["goal"]), 29), dtype=np.float32)


class Wild(Still):
    """Adds nothing at first, and then far too much."""

    def __init__(self, after):
        super().__init__()
        self.left = after

    def act(self, observation, features):
        self.left -= 1
        return super().act(observation, features) + np.float32(20 if self.left < 0 else 0)


class Clumsy(Still):
    """One of its robots, that with the shortest motion, does far too much."""

    def act(self, observation, features):
        return super().act(observation, features) + np.float32(20) * (np.arange(len(observation["goal"])) == 0)[:, None]


class Broken(Still):
    """One of its robots, that with the shortest motion, is told nonsense for one joint from some step on."""

    def __init__(self, after, value):
        super().__init__()
        self.left, self.value = after, value

    def act(self, observation, features):
        action = super().act(observation, features)
        self.left -= 1
        if self.left < 0:
            action[0, 3] = self.value
        return action


@pytest.fixture(scope="module")
def small(g1):
    return library(g1)


@pytest.fixture
def tried(small, g1):
    """By the names of motions, lists of rollouts."""

    def run(policy, motions=small, **options):
        out = {}
        for rollout in roll_out(policy, motions, lambda robots: MujocoSimulation(g1, robots, 2, 1), **options):
            out.setdefault(rollout.motion, []).append(rollout)
        return out

    return run


def alike(one, other):
    arrays = ((getattr(r, name) for name in ("root_pos", "root_quat", "joint_pos")) for r in (one, other))
    return one.terminated_at == other.terminated_at and all(map(np.array_equal, *arrays))


def test_each_motion_is_tried_from_its_first_frame_to_its_last(tried, small, g1):
    found = tried(Still(), events=EXACT)
    assert sorted(found) == ["brief", "dip", "stand"]
    for name, motion in zip(small.names, small.motions):
        [rollout] = found[name]
        assert len(rollout) == len(motion)
        assert (rollout.robot, rollout.joint_names, rollout.fps) == ("g1", g1.joint_names, 50)
        assert rollout.terminated_at is None
        np.testing.assert_allclose(rollout.root_pos[0], motion.root_pos[0], atol=1e-6)
        np.testing.assert_allclose(rollout.joint_pos[0], motion.joint_pos[0], atol=1e-6)
        np.testing.assert_allclose(rollout.joint_pos[10], motion.joint_pos[10], atol=0.05)
        np.testing.assert_allclose(rollout.root_pos, motion.root_pos, atol=0.05)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("after", [0, 7])
def test_an_action_that_is_not_finite_ends_its_rollout_alone_and_is_named(tried, g1, after, value):
    found = {name: rollouts[0] for name, rollouts in tried(Broken(after, value), events=EXACT).items()}
    faulty = found.pop("brief")
    assert len(faulty) == faulty.terminated_at == after + 1
    assert faulty.fault == (
        f"at control step {after + 1} ({after / 50:.2f} s) its output `action` is {value} for left_knee_joint; "
        "actions have to be finite"
    )
    score = judge(faulty, small_motions(g1)["brief"], g1)
    assert (score.successful, score.reason, score.fault) == (False, "faulty", faulty.fault)
    unharmed = tried(Still(), events=EXACT)
    assert all(rollout.fault is None and alike(rollout, unharmed[name][0]) for name, rollout in found.items())


def test_who_follows_the_motion_is_judged_a_success(tried, g1):
    motions = small_motions(g1)
    for name, [rollout] in tried(Still(), events=EXACT).items():
        score = judge(rollout, motions[name], g1)
        assert score.shares == {"success_0.15": 1, "success_0.5": 1, "tracked": 1, "progress": 1}
        total, count = score.errors["mpjpe_global_mm"]
        assert total / count < 20


def test_who_fails_is_cut_where_it_failed_and_judged_so(tried, g1):
    motions = small_motions(g1)
    for name, [rollout] in tried(Wild(10), events=EXACT).items():
        assert 10 < rollout.terminated_at == len(rollout) < 36
        score = judge(rollout, motions[name], g1)
        assert score.reason == "terminated"
        assert score.failed_at["tracked"] == rollout.terminated_at
        assert not score.successful


def test_the_first_failure_counts_and_nobody_else_s(tried):
    """While the others go on, the one that fell begins anew and falls again and again."""
    found = tried(Clumsy(), events=EXACT)
    assert 0 < found["brief"][0].terminated_at == len(found["brief"][0]) < 15
    assert [found[name][0].terminated_at for name in ("stand", "dip")] == [None, None]


def test_what_happens_after_a_motion_s_end_is_not_held_against_it(tried):
    """The shortest is over after 35 steps; the others go on, and fail."""
    found = tried(Wild(40), events=EXACT)
    assert (len(found["brief"][0]), found["brief"][0].terminated_at) == (36, None)
    assert 40 < found["stand"][0].terminated_at < 51
    assert 40 < found["dip"][0].terminated_at < 81


def test_up_to_its_failure_a_rollout_is_what_it_would_have_been(tried):
    good, bad = tried(Still(), events=EXACT)["dip"][0], tried(Wild(40), events=EXACT)["dip"][0]
    np.testing.assert_array_equal(bad.joint_pos[:41], good.joint_pos[:41])
    assert not np.array_equal(bad.joint_pos[41], good.joint_pos[41])


def test_motions_longer_than_an_episode_in_training_are_tried_whole(tried, g1):
    """A robot on its back, which needs no policy to stay there, raises an arm for 10.6 s."""
    arm = np.linspace(0, 1, 319)
    joints = np.zeros((319, g1.n_joints))
    joints[:, g1.joint_names.index("left_shoulder_pitch_joint")] = -arm
    back = np.tile(rot.from_axis("y", -np.pi / 2), (319, 1))
    lying = robot_motion(g1, np.tile([0.0, 0.0, 0.1], (319, 1)), back, joints)
    [rollout] = tried(Still("reference"), library(g1, lying=lying), events=EXACT)["lying"]
    assert rollout.terminated_at is None
    assert len(rollout) == 531
    moved = rollout.joint_pos[:, g1.joint_names.index("left_shoulder_pitch_joint")]
    assert np.abs(np.diff(moved)[50:]).max() < 0.02, "nobody begins anew in the middle"
    assert moved[-1] < -0.8


def test_the_base_is_the_policy_s_own(tried):
    fed, plain = (tried(Still(base), events=EXACT)["stand"][0] for base in ("feedforward", "reference"))
    assert np.ptp(fed.root_pos[:, 2]) < np.ptp(plain.root_pos[:, 2]) / 3


def test_a_seed_has_one_outcome_and_another_seed_another(tried):
    one, again, other = (tried(Still(), seed=seed) for seed in (0, 0, 1))
    for name in one:
        assert alike(one[name][0], again[name][0])
        assert not np.array_equal(one[name][0].joint_pos[0], other[name][0].joint_pos[0])


def test_several_episodes_of_a_motion_differ_in_how_they_begin(tried, small):
    found = tried(Still(), episodes=3)
    for name, motion in zip(small.names, small.motions):
        starts = [rollout.joint_pos[0] for rollout in found[name]]
        assert len(starts) == 3
        assert len({tuple(start) for start in starts}) == 3
        assert 0 < max(np.abs(start - motion.joint_pos[0]).max() for start in starts) < 0.05


def test_how_many_are_tried_at_a_time_does_not_matter(tried, monkeypatch):
    whole = tried(Still(), events=EXACT, episodes=2)
    monkeypatch.setattr(rollouts_module, "AT_A_TIME", 2)
    parts = tried(Still(), events=EXACT, episodes=2)
    monkeypatch.setattr(rollouts_module, "AT_A_TIME", 4)
    uneven = tried(Still(), events=EXACT, episodes=2)
    assert whole.keys() == parts.keys() == uneven.keys()
    for name in whole:
        assert len(whole[name]) == len(parts[name]) == len(uneven[name]) == 2
        for each in zip(whole[name], parts[name], uneven[name]):
            assert alike(each[0], each[1])
            assert alike(each[0], each[2])


def test_starts_differ_from_chunk_to_chunk(tried, monkeypatch):
    monkeypatch.setattr(rollouts_module, "AT_A_TIME", 1)
    starts = [tuple(r.joint_pos[0] - r.joint_pos[0].mean()) for r in tried(Still(), episodes=3)["stand"]]
    assert len(set(starts)) == 3


def test_simulators_are_let_go_of_when_their_rollouts_are_there(small, g1):
    """At once, not when a collector comes by: each has threads and models of its own."""
    made = []

    def simulation(robots):
        out = MujocoSimulation(g1, robots, 2, 1)
        made.append(weakref.ref(out))
        return out

    gc.disable()
    try:
        assert list(roll_out(Still(), small, simulation))
        assert [ref() for ref in made] == [None]
    finally:
        gc.enable()
