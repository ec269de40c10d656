"""Maximal coordinates are the same whoever computes them, and know no place on the floor and no heading."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import mujoco
import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.rotations import rotate_back
from phuma.learning.env.context import Context, constants_of
from phuma.learning.env.masking import masking_of
from phuma.learning.env.observation import joined
from phuma.learning.env.terms import maximal, maximal_rewards, terminations
from phuma.learning.motions.references import expand
from phuma.learning.recipes import maskedmimic
from phuma.learning.recipes.recipe import CPU
from phuma.robots import load_robot
from phuma.robots.whole import role_bodies, whole_robot
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import simulation_model
from tests.learning.sample_motions import dip, library, wandering

G1 = load_robot("g1")
WHOLE = whole_robot(G1)


def states(robot=WHOLE, count: int = 5, seed: int = 0):
    """Any states, in which nothing is zero."""
    rng, n = np.random.default_rng(seed), robot.n_joints
    quat = rot.from_rotvec(rng.normal(0, 0.5, (count, 3)))
    return Kinematics(robot).state(
        rng.normal(0, 1, (count, 3)), quat, rng.normal(size=(count, 3)), rng.normal(size=(count, 3)),
        rng.normal(0, 0.3, (count, n)), rng.normal(size=(count, n)),
    )  # fmt: skip


def moved(state, yaw: float, place: tuple[float, float, float]):
    """The state turned about the vertical and moved."""
    turn, shift = rot.from_axis("z", yaw).astype(np.float32), np.array(place, dtype=np.float32)
    vectors = {n: rot.rotate(turn, getattr(state, n)) for n in ("root_linvel", "body_linvel", "body_angvel")}
    places = {n: rot.rotate(turn, getattr(state, n)) + shift for n in ("root_pos", "body_pos")}
    turns = {n: rot.multiply(turn, getattr(state, n)) for n in ("root_quat", "body_quat")}
    return replace(state, **vectors, **places, **turns)


def context(state, reference) -> Context:
    return Context(constants_of(WHOLE, state.root_pos), reference, state, state.joint_pos)


def own(state):
    return joined([term.value(context(state, state)) for term in maximal.OWN])


def goal(before, after):
    return joined([term.value(context(before, after)) for term in maximal.GOAL])


def test_sizes_are_the_papers_and_follow_the_robot():
    state = states()
    assert len(WHOLE.body_names) == 33
    assert own(state).shape == (5, 493)
    assert goal(state, state).shape == (5, 594)
    assert maskedmimic.OWN.width(WHOLE) == 493
    assert maskedmimic.COMING.width(WHOLE) == 594
    other = whole_robot(load_robot("h1_2"))
    assert maskedmimic.OWN.width(other) == 1 + 3 * 28 + 12 * 29
    papers = whole_robot(load_robot("h1_2", lock=["wrist*"]))
    assert len(papers.key_bodies) == 25
    assert maskedmimic.OWN.width(papers) == 1 + 3 * 24 + 12 * 25


@pytest.mark.parametrize("name", ["g1-lock-wrist", "h1_2-lock-wrist"])
def test_a_locked_robot_keeps_its_head_and_hands(name):
    locked, free = whole_robot(load_robot(name)), whole_robot(load_robot(name.partition("-")[0]))
    assert role_bodies(locked) == role_bodies(free)
    assert set(role_bodies(locked).values()) < set(locked.key_bodies) < set(free.key_bodies)
    assert len(constants_of(locked, np.zeros(1, dtype=np.float32)).roles) == 6


def test_fixed_bodies_are_where_mujoco_has_them():
    """Head and hands are added to the model without mass: physics stays what it was."""
    model, bare = simulation_model(WHOLE, 4), simulation_model(G1, 4)
    data, state = mujoco.MjData(model), states(count=1)
    data.qpos[:] = np.concatenate([state.root_pos[0], state.root_quat[0], state.joint_pos[0]])
    mujoco.mj_forward(model, data)
    for b, name in enumerate(WHOLE.key_bodies):
        np.testing.assert_allclose(state.body_pos[0, b], data.body(name).xpos, atol=1e-5)
    assert model.nv == bare.nv
    np.testing.assert_allclose(model.body_subtreemass[1], bare.body_subtreemass[1])
    assert role_bodies(WHOLE)["left_hand"] == "left_rubber_hand"
    assert role_bodies(WHOLE)["head"] == "head"


def test_neither_place_nor_heading_are_observed():
    state, after = states(), states(seed=1)
    turned, later = (moved(s, 1.3, (2.0, -1.0, 0.0)) for s in (state, after))
    np.testing.assert_allclose(own(turned), own(state), atol=2e-5)
    np.testing.assert_allclose(goal(turned, later), goal(state, after), atol=2e-5)
    assert np.abs(own(moved(state, 0.0, (0, 0, 0.1))) - own(state)).max() == pytest.approx(0.1, abs=1e-5)


def test_own_state_by_hand():
    """Root height, positions from the root, axes x and z, velocities, in this order."""
    state = states(count=1)
    h = rot.heading(state.root_quat)[0]
    values = own(state)[0]
    assert values[0] == state.root_pos[0, 2]
    np.testing.assert_allclose(values[1:4], rotate_back(h, state.body_pos[0, 1] - state.root_pos[0]), atol=1e-6)
    matrix = rot.to_matrix(rot.multiply(rot.conjugate(h), state.body_quat[0, 0]))
    np.testing.assert_allclose(values[97:103], [*matrix[:, 0], *matrix[:, 2]], atol=1e-6)
    np.testing.assert_allclose(values[-3:], rotate_back(h, state.body_angvel[0, -1]), atol=1e-6)


def test_the_coming_frame_shows_the_robots_own_error():
    state = states()
    off = replace(state, body_pos=state.body_pos + np.float32(0.25), root_pos=state.root_pos + np.float32(0.25))
    step = maximal.step_positions(state, off).reshape(5, -1, 3)
    np.testing.assert_allclose(np.linalg.norm(step, axis=-1), 0.25 * np.sqrt(3), atol=1e-5)
    np.testing.assert_allclose(maximal.step_positions(state, state), 0, atol=1e-6)


@pytest.mark.parametrize("stride", [1, 3])
def test_later_frames_are_each_told_relative_to_the_one_before_and_held_at_the_end(stride):
    cfg = replace(maskedmimic.RECIPE.presets[CPU]["tracker"].environment, frames=5, stride=stride)
    task = maskedmimic.task(cfg)
    both = library(G1, one=wandering(G1, 1.0), two=dip(G1, 0.8))
    refs = expand(replace(both, robot=WHOLE), [0, 1], task)
    group = next(g for g in task.coming)
    for frame in (refs.first[1], refs.last[0] - 4, refs.last[0] - 1, refs.last[1]):
        frames = [min(frame + stride * k, refs.last[refs.clip_of[frame]]) for k in range(5)]
        wanted = np.concatenate(
            [goal(refs.state[np.array([a])], refs.state[np.array([b])]) for a, b in pairwise(frames)]
        )
        rows = refs.coming(group.coming, np.array([frame]))[0]
        np.testing.assert_allclose(refs.features["future"][rows], wanted, atol=1e-5)


def test_what_is_hidden_changes_nothing_and_what_is_told_does():
    from phuma.learning.env.context import Ahead

    state, rng = states(), np.random.default_rng(3)
    masking = masking_of("pelvis-position", 3, 2, 9)
    roles = constants_of(WHOLE, state.root_pos).roles
    pos = state.body_pos[:, roles][:, None].repeat(4, 1) + rng.normal(0, 0.1, (5, 4, 6, 3)).astype(np.float32)
    quat = rot.from_rotvec(rng.normal(size=(5, 4, 6, 3))).astype(np.float32)
    visible = np.zeros((5, 4, 6, 2), dtype=np.float32)
    visible[:, :3, 0, 0] = 1.0
    assert masking.offsets.tolist() == [0, 2, 4, 9]

    def told(pos, quat):
        ahead = Ahead(pos, quat, visible, np.ones((5, 4), dtype=np.float32))
        return maximal.sparse_goals(replace(context(state, state), ahead=ahead))

    before = told(pos, quat)
    assert before.shape == (5, 4 * maximal.sparse_width())
    hidden, shown = pos.copy(), pos.copy()
    hidden[:, :, 1:] += 1.0
    hidden[:, 3] += 1.0
    shown[:, 0, 0] += 1.0
    np.testing.assert_array_equal(told(hidden, rot.multiply(quat, quat)), before)
    assert np.abs(told(shown, quat) - before).max() > 0.5


def test_following_exactly_is_rewarded_most_and_power_is_punished():
    state = states()
    exact = context(state, state)
    for term in (maximal_rewards.global_position, maximal_rewards.global_rotation, maximal_rewards.global_height):
        np.testing.assert_allclose(term(exact), 1.0, atol=1e-5)
    off = replace(state, body_pos=state.body_pos + np.float32(0.1))
    np.testing.assert_allclose(maximal_rewards.global_position(context(state, off)), np.exp(-1), rtol=1e-3)
    constants = exact.constants
    aim = replace(exact, target=state.joint_pos, age=np.full(5, 6))
    torque = np.clip(constants.damping * state.joint_vel, -constants.torque_limit, constants.torque_limit)
    np.testing.assert_allclose(maximal_rewards.power(aim), np.abs(torque * state.joint_vel).sum(-1), rtol=1e-4)
    assert not maximal_rewards.power(replace(aim, age=np.full(5, 5))).any()


def test_bodies_may_be_anywhere_at_first_and_not_later():
    state = states()
    far = replace(state, body_pos=state.body_pos + np.eye(33, 3, dtype=np.float32) * 0.3)
    for age, failed in ((5, False), (6, True)):
        c = replace(context(far, state), age=np.full(5, age))
        assert (terminations.body_off(c) == failed).all()
        assert not terminations.body_off_loosely(c).any()
