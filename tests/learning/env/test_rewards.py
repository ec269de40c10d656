"""Rewards: by hand, and what they must not depend on."""

from __future__ import annotations

import inspect
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.learning.env.context import SOFT_LIMIT
from phuma.learning.env.terms import rewards
from phuma.learning.recipes.beyondmimic import LIMITS, REWARDS
from tests.learning.sample_states import any_states, as_tensors, context, elsewhere, mirrored, near, resting
from tests.robots.posing import swap

ANCHOR = 7
WEIGHTS = {term.name: term.weight for term in (*REWARDS, *LIMITS.values())}
GLOBAL = ("anchor_position", "anchor_rotation", "body_linear_velocity", "body_angular_velocity")
RELATIVE = ("body_position", "body_rotation")


def tracking(tensor, state, reference, anchor: int = ANCHOR) -> dict[str, np.ndarray]:
    """(E,) each of the six rewards for tracking."""
    state, reference = as_tensors(tensor, state, reference)
    seen = context(state, reference, anchor)
    out = {name: getattr(rewards, name)(seen) for name in GLOBAL + RELATIVE}
    assert {value.dtype for value in out.values()} == {state.root_pos.dtype}, "single precision stays"
    return {name: np.asarray(value) for name, value in out.items()}


def alike(a: dict[str, np.ndarray], b: dict[str, np.ndarray], names=GLOBAL + RELATIVE) -> None:
    for name in names:
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=1e-5, err_msg=name)


def pair() -> tuple:
    """Robots and their references, which are near them."""
    reference = any_states(0)
    return near(reference, 1), reference


def test_every_term_is_in_the_recipe_with_the_paper_s_weight():
    terms = {name for name, f in vars(rewards).items() if inspect.isfunction(f) and f.__module__ == rewards.__name__}
    assert {name for name in terms if not name.startswith("_")} == set(WEIGHTS)
    assert [WEIGHTS[name] for name in GLOBAL + RELATIVE] == [0.5, 0.5, 1, 1, 1, 1]
    assert [WEIGHTS[n] for n in ("action_rate", "joint_limits", "undesired_contacts")] == [-0.1, -100, -0.5]
    assert LIMITS[False].name == "joint_limits"
    assert LIMITS[True].weight == -100
    assert SOFT_LIMIT == 0.9


@pytest.mark.parametrize(
    ("off", "expected"), [([0.3, 0, 0], exp(-1)), ([0.1, -0.2, 0.2], exp(-1)), ([0, 0, 0.6], exp(-4))]
)
def test_anchor_position_by_hand(tensor, off, expected):
    state, reference = resting(), resting()
    state.body_pos[0, 2] = off
    state.body_pos[0, 1] = 5.0  # another body does not count
    found = rewards.anchor_position(context(*as_tensors(tensor, state, reference), 2))
    np.testing.assert_allclose(np.asarray(found), [expected], rtol=1e-5)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize(("angle", "expected"), [(0.4, exp(-1)), (-0.8, exp(-4)), (0.2, exp(-0.25))])
def test_anchor_rotation_by_hand(tensor, axis, angle, expected):
    state, reference = resting(), resting()
    state.body_quat[0, 2] = -rot.from_axis(axis, angle)
    state.body_quat[0, 1] = rot.from_axis("x", 2.0)
    found = rewards.anchor_rotation(context(*as_tensors(tensor, state, reference), 2))
    np.testing.assert_allclose(np.asarray(found), [expected], rtol=1e-5)


@pytest.mark.parametrize(
    ("term", "value", "size"),
    [
        (rewards.body_linear_velocity, "body_linvel", 1.0),
        (rewards.body_angular_velocity, "body_angvel", np.pi),
        (rewards.body_position, "body_pos", 0.3),
    ],
    ids=["body_linear_velocity", "body_angular_velocity", "body_position"],
)
def test_means_over_bodies_by_hand(tensor, term, value, size):
    """One of four bodies off by twice the size, or all of them by the size: a mean square of one."""
    state, reference = resting(robots=3), resting(robots=3)
    getattr(state, value)[0, 1] = [0, 2 * size, 0]
    getattr(state, value)[1] = [0, 0, -size]
    getattr(state, value)[2, :2] = [[size, size, 0], [0, size, size]]
    found = term(context(*as_tensors(tensor, state, reference), 3))
    np.testing.assert_allclose(np.asarray(found), [exp(-1)] * 3, rtol=1e-5)


def test_body_rotation_by_hand(tensor):
    state, reference = resting(robots=2), resting(robots=2)
    state.body_quat[0, 1] = rot.from_axis("y", 0.8)
    state.body_quat[1] = -rot.from_axis("x", 0.4)
    found = rewards.body_rotation(context(*as_tensors(tensor, state, reference), 3))
    np.testing.assert_allclose(np.asarray(found), [exp(-1)] * 2, rtol=1e-5)


def test_costs_by_hand(tensor):
    before, action = tensor([[1, 1, 1], [0, 0, 0]]), tensor([[2, -1, 1.5], [0, 0, 0]])
    lower, upper, joints = tensor([-1, -2, 0]), tensor([1, 2, 0.5]), tensor([[1.25, -2.5, 0.25], [-1, 2, 0.5]])
    force = tensor([[0, 0.5, 1.0, 1.5, 30], [0, 0, 0, 0, 1.0]])
    state = replace(resting(2, 3), joint_pos=joints)
    seen = context(state, state, 0, action, lower=lower, upper=upper, previous_action=before, touching=force)
    costs = (
        (rewards.action_rate(seen), [1 + 4 + 0.25, 0]),
        (rewards.joint_limits(seen), [0.25 + 0.5, 0]),
        (rewards.undesired_contacts(seen), [2, 0]),  # 1 N is not more than 1 N
    )
    for found, expected in costs:
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert found.dtype == action.dtype


def at(tensor, joints, lower, upper):
    """Robots with these joint angles and limits."""
    state = replace(resting(len(joints), len(lower)), joint_pos=tensor(joints))
    return context(state, state, lower=tensor(lower), upper=tensor(upper))


def test_joint_limits_are_the_sum_of_both_sides(tensor):
    rng = np.random.default_rng(0)
    lower, upper, joints = -rng.uniform(0, 1, 29), rng.uniform(0, 1, 29), rng.normal(size=(20, 29))
    expected = np.maximum(0, joints - upper).sum(1) + np.maximum(0, lower - joints).sum(1)
    found = rewards.joint_limits(at(tensor, joints, lower, upper))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_the_reference_itself_earns_everything(tensor):
    found = tracking(tensor, any_states(0), any_states(0))
    for name in GLOBAL:
        assert np.all(found[name] == 1), name
    for name in RELATIVE:
        np.testing.assert_allclose(found[name], 1, atol=1e-6, err_msg=name)
    assert sum(WEIGHTS[name] for name in GLOBAL + RELATIVE) == 5


def test_what_is_off_earns_less(tensor):
    for name, value in tracking(tensor, *pair()).items():
        assert np.all((value > 0) & (value < 1)), name
        assert 0.1 < np.mean(value) < 0.9, f"{name}: the laws below would say little"


def test_a_common_turn_and_shift_change_nothing(tensor):
    state, reference = pair()
    alike(tracking(tensor, state, reference), tracking(tensor, elsewhere(state, 2), elsewhere(reference, 2)))


def test_relative_rewards_forgive_place_and_heading_and_global_ones_do_not(tensor):
    state, reference = pair()
    here, there = tracking(tensor, state, reference), tracking(tensor, elsewhere(state, 2), reference)
    alike(here, there, RELATIVE)
    for name in GLOBAL:
        assert np.mean(there[name]) < 0.8 * np.mean(here[name]), name


def test_height_is_not_forgiven(tensor):
    reference = any_states(0)
    up = replace(reference, body_pos=reference.body_pos + np.array([0, 0, 0.3]))
    found = tracking(tensor, up, reference)
    for name in ("anchor_position", "body_position"):
        np.testing.assert_allclose(found[name], exp(-1), rtol=1e-4)


def test_both_libraries_give_the_same_numbers():
    torch = pytest.importorskip("torch")
    ours = tracking(lambda x: np.array(x, dtype=np.float32), *pair())
    theirs = tracking(lambda x: torch.from_numpy(np.array(x, dtype=np.float32)), *pair())
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-5, err_msg=name)


def test_left_and_right_earn_the_same(tensor, g1):
    state, reference = pair()
    other = mirrored(g1, state)
    anchor = swap(g1.key_bodies).index(ANCHOR)
    alike(tracking(tensor, state, reference), tracking(tensor, other, mirrored(g1, reference), anchor))
    limits = g1.lower, g1.upper
    here, there = (np.asarray(rewards.joint_limits(at(tensor, s.joint_pos, *limits))) for s in (state, other))
    assert here.min() > 0
    np.testing.assert_allclose(here, there, rtol=1e-5)


def test_what_the_reference_asks_for_is_no_fault(tensor):
    """Beyond a soft limit, only what is beyond the reference too counts, on its side alone."""
    lower, upper = tensor([-1, -1, -1]), tensor([1, 1, 1])
    state = replace(resting(2, 3), joint_pos=tensor([[1.5, -1.5, 0.5], [1.5, -1.2, 1.0]]))
    asked = replace(resting(2, 3), joint_pos=tensor([[1.25, 1.5, 9.0], [2.0, -1.2, 0.0]]))
    found = rewards.joint_limits_beyond_reference(context(state, asked, 0, lower=lower, upper=upper))
    np.testing.assert_allclose(np.asarray(found), [0.25 + 0.5, 0.0], atol=1e-6)


def test_perfect_following_pays_unless_the_paper_s_limits_are_exceeded(g1):
    """Each tracking term is 1 then: 5 a second. A joint 0.1 rad beyond its soft limit costs 10 by the paper."""
    from phuma.learning.env.config import EnvironmentCfg
    from phuma.learning.env.following import following_reward
    from phuma.learning.recipes import beyondmimic
    from phuma.sim.kinematics import Kinematics

    middle, half = (g1.upper + g1.lower) / 2, SOFT_LIMIT * (g1.upper - g1.lower) / 2
    joints = np.tile(g1.default_pose, (2, 1))
    joints[1, 3] = (middle + half)[3] + 0.1
    zero = np.zeros((2, 3))
    state = Kinematics(g1).state(zero, np.tile(rot.IDENTITY, (2, 1)), zero, zero, joints, np.zeros((2, g1.n_joints)))
    ours, paper = (
        following_reward(state, beyondmimic.task(EnvironmentCfg(forgiving=forgiving)), g1)
        for forgiving in (True, False)
    )
    np.testing.assert_allclose(ours, [5 / 50, 5 / 50], rtol=1e-5)
    np.testing.assert_allclose(paper, [5 / 50, -5 / 50], rtol=1e-4)
