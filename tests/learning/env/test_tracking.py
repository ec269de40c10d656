"""The environment: robots that follow motions, one control step at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import action_scale
from phuma.learning.env.terms import observations as obs
from phuma.learning.env.terms import terminations
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.references import expand
from phuma.learning.recipes import beyondmimic
from phuma.sim import events as d
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.learning.sample_motions import library, stand

SUBSTEPS = 2
N = 29
CALM = EventsCfg()
TASK = beyondmimic.task(EnvironmentCfg())
WEIGHTS = {term.name: term.weight for term in TASK.rewards}
TRACKING = [name for name, weight in WEIGHTS.items() if weight > 0]


@pytest.fixture(scope="module")
def references(g1):
    """Frames 0 to 50 stand, 51 to 131 bend the knees, 132 to 167 do so briefly."""
    return expand(library(g1), [0, 1, 2], TASK)


@pytest.fixture
def track(g1, references):
    """Makes a task of robots that begin at these frames, always; `told` lists what each step reached."""

    def make(frames=(10, 60, 135), cfg=CALM, seed=0, motions=references, simulation=None, longest=500, task=TASK):
        simulation = simulation or MujocoSimulation(g1, len(frames), SUBSTEPS, 1)

        def note(reached, failed):
            env.told.append((reached.copy(), failed.copy(), env.state))

        def draw(rows):
            return np.array(frames)[rows]

        env = TrackingEnv(g1, simulation, task, motions, draw, np.random.default_rng(seed), cfg, note, longest)
        env.told = []
        return env

    return make


def still(env):
    return np.zeros((len(env.frame), N), dtype=np.float32)


def any_actions(env, seed=0, size=0.3):
    return size * np.random.default_rng(seed).standard_normal((len(env.frame), N)).astype(np.float32)


def fell(env, *rows):
    """These robots lie on their backs now."""
    rows = np.array(rows)
    state = env.state[rows]
    flat = np.tile(rot.from_axis("y", -np.pi / 2), (len(rows), 1))
    env.simulation.reset(rows, replace(state, root_pos=state.root_pos * [1, 1, 0.2], root_quat=flat))


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_episodes_begin_on_the_reference_with_its_velocities(track, references):
    env = track()
    start = references.state[np.array([10, 60, 135])]
    for name in ("root_pos", "root_linvel", "root_angvel", "joint_pos", "joint_vel", "body_pos", "body_linvel"):
        np.testing.assert_allclose(getattr(env.state, name), getattr(start, name), atol=1e-5, err_msg=name)


def test_who_does_what_the_reference_does_gets_the_whole_reward(track):
    """The base alone keeps a robot on these motions, to millimetres."""
    env = track()
    for _ in range(10):
        step = env.step(still(env))
    assert {name: step.terms[name] for name in TRACKING} == pytest.approx(dict.fromkeys(TRACKING, 1.0), abs=1e-3)
    assert all(step.terms[name] == 0 for name in WEIGHTS if name not in TRACKING)
    best = sum(WEIGHTS[name] for name in TRACKING) / 50
    np.testing.assert_allclose(step.reward, best, rtol=1e-3)
    assert not step.terminated.any()
    assert not step.truncated.any()


def test_a_step_s_reward_is_the_weighted_sum_of_its_terms_times_the_step(track):
    env = track()
    env.step(any_actions(env))
    step = env.step(any_actions(env, 1, 1.0))
    assert step.terms.keys() == WEIGHTS.keys()
    assert step.terms["action_rate"] > 0
    assert float(step.reward.mean()) == pytest.approx(sum(WEIGHTS[n] * v for n, v in step.terms.items()) / 50, rel=1e-5)


def test_without_actions_controllers_aim_at_the_base_of_the_coming_frame(track, g1, references):
    env, alone = track(), MujocoSimulation(g1, 3, SUBSTEPS, 1)
    alone.reset(np.arange(3), references.state[np.array([10, 60, 135])])
    for t in range(1, 4):
        env.step(still(env))
        alone.step(references.base[np.array([10, 60, 135]) + t])
    np.testing.assert_array_equal(env.simulation.qpos, alone.qpos)


def test_an_action_of_one_asks_for_a_quarter_of_a_motor_s_torque(track, g1, references):
    np.testing.assert_allclose(g1.stiffness * action_scale(g1), 0.25 * g1.torque_limit)
    env, alone = track(), MujocoSimulation(g1, 3, SUBSTEPS, 1)
    alone.reset(np.arange(3), references.state[np.array([10, 60, 135])])
    action = any_actions(env)
    env.step(action)
    alone.step(references.base[np.array([11, 61, 136])] + action_scale(g1).astype(np.float32) * action)
    np.testing.assert_array_equal(env.simulation.qpos, alone.qpos)


def test_the_goal_is_the_coming_frame_and_the_reward_is_of_the_frame_reached(track, references):
    env = track()
    for t in range(3):
        frames = np.array([10, 60, 135]) + t
        seen = env.observe()
        np.testing.assert_array_equal(env.frame, frames)
        np.testing.assert_array_equal(seen["goal"][:, :N], references.state.joint_pos[frames + 1])
        np.testing.assert_array_equal(seen["goal"][:, N : 2 * N], references.state.joint_vel[frames + 1])
        np.testing.assert_array_equal(seen["future"], references.coming(beyondmimic.FUTURE.coming, frames + 1))
        env.step(still(env))
        reached, failed, _ = env.told[-1]
        np.testing.assert_array_equal(reached, frames + 1)
        assert not failed.any()


def test_the_reward_compares_with_the_frame_reached_not_with_the_one_before(track, references):
    """Put exactly on a frame of the fastest part of the knee bend, so that a frame makes a difference."""
    env = track((80,))
    step = env.step(still(env))
    apart = {f: env.state.body_linvel - references.state.body_linvel[f] for f in (80, 81, 82)}
    by_hand = {f: np.exp(-np.mean((off**2).sum(-1))) for f, off in apart.items()}
    assert step.terms["body_linear_velocity"] == pytest.approx(by_hand[81], abs=1e-6)
    assert abs(by_hand[80] - by_hand[81]) > 1e-5
    assert abs(by_hand[82] - by_hand[81]) > 1e-5


def test_sizes_of_what_is_seen(track, references):
    seen = track().observe()
    assert {name: group.shape for name, group in seen.items()} == {
        "proprioception": (3, 90), "goal": (3, 64), "future": (3, 20), "critic": (3, 90 + 64 + 9 * 14 + 3),
    }  # fmt: skip
    assert references.features["future"][seen["future"]].shape == (3, 20, 78)
    assert all(group.dtype == np.float32 for name, group in seen.items() if name != "future")


def test_the_last_action_is_seen_and_changes_of_it_cost(track):
    env = track()
    first, second = any_actions(env), any_actions(env, 1)
    assert env.step(first).terms["action_rate"] == pytest.approx((first**2).sum(1).mean(), rel=1e-5)
    np.testing.assert_array_equal(env.observe()["proprioception"][:, :N], first)
    assert env.step(second).terms["action_rate"] == pytest.approx(((second - first) ** 2).sum(1).mean(), rel=1e-5)
    assert env.step(second).terms["action_rate"] == 0


def test_who_falls_begins_anew_alone(track, references):
    env, other = track(), track()
    for both in (env, other):
        both.step(any_actions(both, 3, 0.1))
    fell(env, 1)
    action = any_actions(env, 4, 0.1)
    step, undisturbed = env.step(action), other.step(action)
    assert step.terminated.tolist() == [False, True, False]
    assert not step.truncated.any()
    assert step.final is None
    assert env.told[-1][1].tolist() == [False, True, False]
    assert env.frame.tolist() == [12, 60, 137]
    assert env.age.tolist() == [2, 0, 2]
    np.testing.assert_allclose(env.simulation.qpos[1, 7:], references.state.joint_pos[60], atol=1e-6)
    others = np.array([0, 2])
    np.testing.assert_array_equal(env.simulation.qpos[others], other.simulation.qpos[others])
    for name, group in step.observation.items():
        np.testing.assert_array_equal(group[others], undisturbed.observation[name][others])
    np.testing.assert_array_equal(step.observation["proprioception"][:, :N], action * [[1], [0], [1]])
    joints = step.observation["proprioception"][1, N + 3 : 2 * N + 3] + env.robot.default_pose
    np.testing.assert_allclose(joints, references.state.joint_pos[60], atol=1e-6)
    np.testing.assert_array_equal(step.observation["goal"][1, :N], references.state.joint_pos[61])


def test_at_a_motion_s_end_an_episode_is_cut_short_not_failed(track, references):
    env = track((48, 60, 166))
    last = any_actions(env, 1, 0.1)
    step = env.step(last)
    assert step.truncated.tolist() == [False, False, True]
    assert not step.terminated.any()
    _, _, state = env.told[-1]
    final = step.final
    assert {len(group) for group in final.values()} == {1}
    np.testing.assert_array_equal(final["proprioception"][0, :N], last[2])
    np.testing.assert_array_equal(final["proprioception"][0, -N:], state.joint_vel[2])
    np.testing.assert_array_equal(final["goal"][0, :N], references.state.joint_pos[167])
    assert (final["future"] == 167).all()
    assert env.frame.tolist() == [49, 61, 166]
    np.testing.assert_array_equal(step.observation["goal"][2, :N], references.state.joint_pos[167])
    np.testing.assert_array_equal(step.observation["proprioception"][2, :N], 0)
    assert env.step(last).truncated.tolist() == [True, False, True]


def test_who_falls_at_the_very_end_has_failed(track):
    env = track((49, 60, 166))
    fell(env, 0)
    step = env.step(still(env))
    assert step.terminated.tolist() == [True, False, False]
    assert step.truncated.tolist() == [False, False, True]
    assert len(step.final["goal"]) == 1


@pytest.mark.parametrize("one", range(3))
def test_each_termination_ends_an_episode_by_itself(track, one):
    def strikes(which):
        return lambda context: np.array([False, False, which == one])

    env = track(task=replace(TASK, terminations=tuple(map(strikes, range(3)))))
    assert env.step(still(env)).terminated.tolist() == [False, False, True]


def test_the_recipe_has_all_three_terminations():
    assert TASK.terminations == (terminations.anchor_height, terminations.anchor_tilt, terminations.end_height)


def test_a_task_without_rewards_and_critic_goes_the_same_way(track):
    """As policies are evaluated: the actor alone observes, and nothing is rewarded."""
    one, other = track(cfg=EventsCfg(noise=1.0)), track(cfg=EventsCfg(noise=1.0), task=TASK.acting)
    for t in range(5):
        a, b = one.step(any_actions(one, t)), other.step(any_actions(other, t))
        same({name: a.observation[name] for name in b.observation}, b.observation)
        assert set(a.observation) - set(b.observation) == {"critic"}
        assert not b.reward.any()
    np.testing.assert_array_equal(one.simulation.qpos, other.simulation.qpos)


def test_episodes_are_cut_short_when_their_time_is_over(track):
    env = track(longest=3)
    assert [env.step(still(env)).truncated.tolist() for _ in range(4)] == [
        [False] * 3, [False] * 3, [True] * 3, [False] * 3,
    ]  # fmt: skip
    assert env.frame.tolist() == [11, 61, 136]


def test_a_foot_in_the_air_that_should_stand_ends_an_episode(track, g1):
    """However well the rest does."""
    env = track()
    joints = env.state.joint_pos[1:2].copy()
    joints[:, g1.joint_names.index("left_hip_pitch_joint")] = -1.8
    env.simulation.reset(np.array([1]), replace(env.state[np.array([1])], joint_pos=joints))
    assert env.step(still(env)).terminated.tolist() == [False, True, False]


def test_non_finite_values_end_an_episode(track):
    env = track()
    action = still(env)
    action[1] = np.nan
    step = env.step(action)
    assert step.terminated.tolist() == [False, True, False]
    assert np.isfinite(step.observation["proprioception"]).all(), "a new episode has no action before it"
    again = env.step(still(env))
    assert not again.terminated.any()
    assert np.isfinite(again.observation["critic"]).all()


def test_noise_is_what_the_actor_s_sensors_have_and_no_one_else(track):
    frames = tuple(range(60, 100))
    clean, noisy = track(frames).observe(), track(frames, EventsCfg(noise=2.0)).observe()
    for name in ("critic", "future"):
        np.testing.assert_array_equal(clean[name], noisy[name])
    own = noisy["proprioception"] - clean["proprioception"]
    np.testing.assert_array_equal(own[:, :N], 0)
    assert own[:, N : N + 3].std() == pytest.approx(2 * obs.root_angvel.noise, rel=0.25)
    assert own[:, N + 3 : 2 * N + 3].std() == pytest.approx(2 * obs.joint_pos.noise, rel=0.1)
    assert own[:, 2 * N + 3 :].std() == pytest.approx(2 * obs.joint_vel.noise, rel=0.1)
    goal = noisy["goal"] - clean["goal"]
    np.testing.assert_array_equal(goal[:, : 2 * N], 0)
    assert goal[:, 2 * N :].std() == pytest.approx(2 * obs.anchor_rotation.noise, rel=0.2)


def test_noise_changes_what_is_seen_and_not_what_happens(track):
    one, other = track(), track(cfg=EventsCfg(noise=1.0))
    action = any_actions(one)
    a, b = one.step(action), other.step(action)
    np.testing.assert_array_equal(a.reward, b.reward)
    np.testing.assert_array_equal(one.simulation.qpos, other.simulation.qpos)


def test_encoders_that_read_too_much_shift_what_is_seen_and_what_is_aimed_at(track, g1, references):
    bias = np.random.default_rng(0).uniform(-0.05, 0.05, (3, N)).astype(np.float32)
    clean, env = track(), track(cfg=EventsCfg(joint_bias=bias))
    seen, expected = env.observe(), clean.observe()
    off = seen["proprioception"] - expected["proprioception"]
    np.testing.assert_allclose(off[:, N + 3 : 2 * N + 3], bias, atol=1e-6)
    np.testing.assert_array_equal(np.delete(off, np.arange(N + 3, 2 * N + 3), axis=1), 0)
    for name in ("goal", "critic", "future"):
        np.testing.assert_array_equal(seen[name], expected[name])
    env.step(still(env))
    alone = MujocoSimulation(g1, 3, SUBSTEPS, 1)
    alone.reset(np.arange(3), references.state[np.array([10, 60, 135])])
    alone.step(references.base[np.array([11, 61, 136])] - bias)
    np.testing.assert_array_equal(env.simulation.qpos, alone.qpos)


def test_a_bias_stays_with_its_robot_when_others_begin_anew(track):
    bias = np.random.default_rng(0).uniform(-0.05, 0.05, (3, N)).astype(np.float32)
    env = track((10, 60, 166), EventsCfg(joint_bias=bias))
    step = env.step(still(env))
    final = step.final["proprioception"][0, N + 3 : 2 * N + 3] + env.robot.default_pose
    np.testing.assert_allclose(final, env.told[-1][2].joint_pos[2] + bias[2], atol=1e-6)
    again = step.observation["proprioception"][:, N + 3 : 2 * N + 3] + env.robot.default_pose
    np.testing.assert_allclose(again, env.state.joint_pos + bias, atol=1e-6)


def test_first_states_are_off_the_reference_where_that_is_wanted(track, references):
    env = track((60,) * 20, EventsCfg(start=1.0))
    off = np.abs(env.state.joint_pos - references.state.joint_pos[60])
    assert 0.5 * d.START_JOINTS < off.max() < 1.01 * d.START_JOINTS
    assert len(np.unique(env.state.root_pos[:, 0])) == 20


class Pushed(MujocoSimulation):
    """Notes pushes."""

    def push(self, linear, angular):
        self.pushes.append((self.clock, linear, angular))
        super().push(linear, angular)


def test_robots_are_pushed_every_1_to_3_seconds_of_an_episode(track, g1):
    simulation = Pushed(g1, 4, SUBSTEPS, 1)
    simulation.pushes, simulation.clock = [], 0
    motions = expand(library(g1, stand=stand(g1, 8.0)), [0], TASK)
    env = track((0,) * 4, EventsCfg(pushes=True), motions=motions, simulation=simulation)
    since = np.zeros(4, dtype=int)
    waits = []
    for _ in range(350):
        simulation.clock += 1
        seen = len(simulation.pushes)
        step = env.step(still(env))
        since += 1
        for _, linear, angular in simulation.pushes[seen:]:
            hit = np.abs(linear).max(1) > 0
            np.testing.assert_array_equal(np.abs(angular).max(1) > 0, hit)
            assert (np.abs(linear) <= d.PUSH_LINEAR).all()
            assert (np.abs(angular) <= d.PUSH_ANGULAR).all()
            waits += since[hit].tolist()
            since[hit] = 0
        since[np.asarray(step.terminated | step.truncated)] = 0
        assert since.max() <= 151
    assert len(waits) >= 6
    assert min(waits) >= 50
    assert max(waits) <= 151
    assert len(set(waits)) > 3


def test_nobody_is_pushed_where_pushes_are_not_wanted(track, g1):
    simulation = Pushed(g1, 1, SUBSTEPS, 1)
    simulation.pushes, simulation.clock = [], 0
    motions = expand(library(g1, stand=stand(g1, 4.0)), [0], TASK)
    env = track((0,), motions=motions, simulation=simulation)
    for _ in range(160):
        env.step(still(env))
    assert not simulation.pushes


@pytest.mark.parametrize("cfg", [CALM, EventsCfg(noise=1.0, pushes=True, start=0.5)], ids=["calm", "rough"])
def test_a_restored_task_goes_on_as_the_first_would_have(track, cfg, monkeypatch):
    """Wherever it is interrupted: before, at and after pushes, falls and ends of motions."""
    monkeypatch.setattr(d, "PUSH_EVERY", (0.06, 0.1))
    one, other = track(cfg=cfg), track(cfg=cfg, seed=5)
    for t in range(60):
        one.step(any_actions(one, t))
        other.restore(one.snapshot())
        other.rng.bit_generator.state = one.rng.bit_generator.state
        same(one.observe(), other.observe())
        other.rng.bit_generator.state = one.rng.bit_generator.state
    for t in range(20):
        a, b = one.step(any_actions(one, 100 + t)), other.step(any_actions(other, 100 + t))
        same(a.observation, b.observation)
        np.testing.assert_array_equal(a.reward, b.reward)
        np.testing.assert_array_equal(one.wait, other.wait)


def test_a_snapshot_does_not_change_afterwards(track):
    env = track()
    taken = env.snapshot()
    kept = {name: value.copy() for name, value in taken.items()}
    for t in range(3):
        env.step(any_actions(env, t))
    same(taken, kept)


def test_other_motions_begin_anew(track, g1):
    env = track()
    env.step(any_actions(env))
    motions = expand(library(g1, stand=stand(g1, 2.0)), [0], TASK)
    env.use(motions, lambda rows: np.full(len(rows), 7), lambda *step: None)
    assert env.frame.tolist() == [7, 7, 7]
    assert env.age.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(env.observe()["proprioception"][:, :N], 0)
    np.testing.assert_allclose(env.state.joint_pos, motions.state.joint_pos[np.full(3, 7)], atol=1e-6)


PRESENT = replace(TASK, actor=(beyondmimic.DIFFERENCE,), critic=())
REMEMBERING = replace(TASK, actor=(replace(beyondmimic.DIFFERENCE, history=3),), critic=())
SELDOM = replace(TASK, actor=(replace(beyondmimic.DIFFERENCE, history=3, every=2),), critic=())


@pytest.mark.parametrize("remembering", [REMEMBERING, SELDOM])
def test_a_history_is_what_was_observed_in_the_last_steps(track, remembering):
    """The oldest comes first; where an episode begins, its first observation stands for what came before it."""
    env, plain = (track(frames=(10, 60, 163), cfg=EventsCfg(noise=1.0), task=task) for task in (remembering, PRESENT))
    every = remembering.actor[0].every
    plain.rng.bit_generator.state = env.rng.bit_generator.state
    env.use(env.references, env.draw, env.on_step)
    plain.use(plain.references, plain.draw, plain.on_step)
    plain.observe()  # as the one with a history does when it begins
    seen, began = [], []
    for t in range(7):
        step = [each.step(any_actions(each, t)) if t else None for each in (env, plain)]
        observation, present = (each.observe() if s is None else s.observation for each, s in zip((env, plain), step))
        seen.append(present["difference"])
        began.append(env.age == 0)
        history = observation["difference"]
        assert history.shape == (3, 3, seen[0].shape[1])
        for e in range(3):
            first = max(n for n in range(t + 1) if began[n][e])
            for k in range(3):
                np.testing.assert_array_equal(history[e, k], seen[max(first, t - every * (2 - k))][e])
    assert began[4][2], "the last motion ends, and another episode begins"


def test_a_history_goes_on_from_a_snapshot(track):
    env = track(cfg=EventsCfg(noise=1.0), task=SELDOM)
    env.observe()
    for t in range(3):
        env.step(any_actions(env, t))
    stored, state = env.snapshot(), env.rng.bit_generator.state
    expected = env.step(any_actions(env, 3)).observation
    again = track(cfg=EventsCfg(noise=1.0), task=SELDOM)
    again.restore(stored)
    again.rng.bit_generator.state = state
    same(again.step(any_actions(again, 3)).observation, expected)
