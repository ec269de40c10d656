"""KungfuBot's observations, rewards and terminations: the table's sizes, by hand, and what they must not depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import Context, constants_of
from phuma.learning.env.observation import Observer
from phuma.learning.env.terms import kungfubot_rewards as terms
from phuma.learning.recipes import kungfubot
from tests.learning.env.test_points import states
from tests.learning.sample_states import as_tensors, elsewhere

TRACKING = [term for term in kungfubot.REWARDS if term.weight > 0]


@dataclass
class Sizes:
    """A G1 whose wrists are locked."""

    n_joints: int = 23
    key_bodies: tuple[str, ...] = ()
    anchor_body: str = "torso_link"


def seen(g1, tensor, state, reference=None, **known) -> Context:
    state, reference = as_tensors(tensor, state, reference or state)
    given = {name: tensor(value) for name, value in known.items() if name != "before"}
    before = as_tensors(tensor, known["before"])[0] if "before" in known else state
    action = given.pop("action", 0 * state.joint_pos)
    constants = constants_of(g1, state.root_pos)
    return Context(constants, reference, state, action, before=before, **given)


def test_sizes_of_the_table_with_23_joints():
    own = {group.name: group.width(Sizes()) for group in kungfubot.teacher_task(EnvironmentCfg(history=10)).groups}
    student = kungfubot.student_task(EnvironmentCfg(history=10))
    own |= {group.name: group.width(Sizes()) for group in student.groups}
    assert own["next"] == own["future"] == 57
    assert own["future_joints"] == 30
    assert own["state"] == 3 + 3 + 3 * 23 + 2 + 9 * 3 + 9 * 6
    assert own["sensed"] == own["history"] == 3 + 3 * 23 + 2
    assert own["error"] == 3 + 6
    assert own["rotation"] == 6
    assert {group.name: group.shape(Sizes()) for group in student.actor}["history"] == (10, 74)
    assert {group.name: group.shape(Sizes()) for group in student.actor}["future_joints"] == (20, 30)


def test_a_student_observes_nothing_that_a_robot_does_not_sense():
    for differences in (False, True):
        task = kungfubot.student_task(EnvironmentCfg(history=10, differences=differences))
        assert all(group.noisy or group.coming is not None for group in task.actor)
        assert not {"state", "error", "privileged", "true_difference"} & {group.name for group in task.groups}


def test_observations_do_not_depend_on_where_a_robot_is_or_what_it_faces(g1, tensor):
    own = states(g1)
    pair = own[np.arange(len(own) - 1)], own[np.arange(1, len(own))]
    task = kungfubot.teacher_task(EnvironmentCfg(history=10, differences=True))
    found = []
    for state, reference in (pair, [elsewhere(s, 3) for s in pair]):
        context = seen(g1, tensor, state, reference)
        found.append(Observer(task.groups, np.random.default_rng(0), 0.0)(replace(context, now=context.state)))
    for name, values in found[0].items():
        np.testing.assert_allclose(np.asarray(values), np.asarray(found[1][name]), atol=2e-4, err_msg=name)


def test_facts_are_told_in_their_places_and_are_zero_without_any(g1, tensor):
    state, group = states(g1)[np.arange(2)], kungfubot.PRIVILEGED
    facts = np.arange(2 * (5 + 2 * 29), dtype=np.float32).reshape(2, -1)
    found = np.asarray(
        Observer((group,), np.random.default_rng(0), 0.0)(seen(g1, tensor, state, facts=facts))[group.name]
    )
    assert found.shape == (2, group.width(g1))
    np.testing.assert_array_equal(found[:, 3:], facts)
    np.testing.assert_allclose(found[:, 2], state.root_pos[:, 2], rtol=1e-6)
    without = np.asarray(Observer((group,), np.random.default_rng(0), 0.0)(seen(g1, tensor, state))[group.name])
    assert not without[:, 3:].any()


def test_noise_is_uniform_and_within_the_table(g1, tensor):
    state = states(g1)
    context = seen(g1, tensor, state)
    group = kungfubot.SENSED
    clean, noisy = (
        np.asarray(Observer((group,), np.random.default_rng(0), noise)(context)["sensed"]) for noise in (0.0, 1.0)
    )
    widths = np.concatenate([np.full(n, w) for n, w in ((3, 0.3), (29, 0.01), (29, 0.15), (29, 0.0), (2, 0.2))])
    off = np.abs(noisy - clean)
    assert (off <= widths + 1e-5).all()
    assert (off.max(axis=0)[widths > 0] > 0.85 * widths[widths > 0]).all()


def test_who_follows_perfectly_has_every_reward_and_is_not_ended(g1, tensor):
    context = seen(g1, tensor, states(g1))
    for term in TRACKING:
        np.testing.assert_allclose(np.asarray(term.value(context)), 1.0, atol=1e-4, err_msg=term.name)
    assert sum(term.weight for term in TRACKING) == 13
    assert not np.asarray(terms.termination(context)).any()


@pytest.mark.parametrize(
    ("term", "off", "expected"),
    [
        (terms.root_position, [0.2, 0.1, 0.0], exp(-0.5)),
        (terms.point_position, [3.0, -4.0, 0.0], 1.0),
        (terms.point_position, [0.0, 0.0, 0.1], exp(-0.1)),
    ],
)
def test_a_robot_that_is_elsewhere_by_hand(g1, tensor, term, off, expected):
    """Where it stands is forgiven to its points, how high is not."""
    state = states(g1)
    moved = replace(state, root_pos=state.root_pos + off, body_pos=state.body_pos + off)
    np.testing.assert_allclose(np.asarray(term(seen(g1, tensor, moved, state))), expected, rtol=2e-3)


def test_rotations_and_velocities_by_hand(g1, tensor):
    state = states(g1)
    faster = replace(state, root_linvel=state.root_linvel + [0, 0.5, 0], body_linvel=state.body_linvel + [1, 0, 0])
    np.testing.assert_allclose(np.asarray(terms.root_velocity(seen(g1, tensor, faster, state))), exp(-0.25), rtol=1e-3)
    np.testing.assert_allclose(np.asarray(terms.point_velocity(seen(g1, tensor, faster, state))), exp(-1), rtol=1e-3)
    lean = np.tile(rot.from_axis("x", 0.3), (len(state), 1))
    turned = replace(state, root_quat=rot.multiply(state.root_quat, lean))
    np.testing.assert_allclose(
        np.asarray(terms.root_rotation(seen(g1, tensor, turned, state))), exp(-0.09 / 0.15), rtol=1e-3
    )


def test_penalties_by_hand(g1, tensor):
    state = states(g1)[np.arange(1)]
    still = replace(state, joint_vel=0 * state.joint_vel, joint_pos=(g1.lower + g1.upper)[None] / 2)
    moving = replace(still, joint_vel=still.joint_vel + 2.0)
    assert float(terms.joint_speed(seen(g1, tensor, moving))[0]) == pytest.approx(4 * 29)
    assert float(terms.joint_acceleration(seen(g1, tensor, moving, before=still))[0]) == pytest.approx(1e4 * 29)
    stretched = still.joint_pos.copy()
    stretched[0, 0] = g1.upper[0]
    beyond = float(terms.joint_limits(seen(g1, tensor, replace(still, joint_pos=stretched)))[0])
    assert beyond == pytest.approx(0.05 * (g1.upper[0] - g1.lower[0]) / 2, rel=1e-3)
    asked = still.joint_pos.copy()
    asked[0, 3] += 0.95 * g1.torque_limit[3] / g1.stiffness[3]
    asked[0, 4] += 9 * g1.torque_limit[4] / g1.stiffness[4]
    found = float(terms.torque_limits(seen(g1, tensor, still, target=asked))[0])
    assert found == pytest.approx(0.10 * g1.torque_limit[3] + 0.15 * g1.torque_limit[4], rel=1e-3)


def test_a_foot_slips_only_on_the_ground(g1, tensor):
    from tests.learning.sample_motions import stand

    state = states(g1, stand(g1))[np.arange(1)]
    sliding = replace(state, body_linvel=state.body_linvel * 0 + [3.0, 0, 4.0])
    assert float(terms.foot_slip(seen(g1, tensor, sliding))[0]) == pytest.approx(10, rel=1e-3)
    above = replace(sliding, body_pos=sliding.body_pos + [0, 0, 0.02])
    assert float(terms.foot_slip(seen(g1, tensor, above))[0]) == 0


@pytest.mark.parametrize(("height", "ends"), [(0.24, False), (0.26, True), (-0.26, True)])
def test_an_episode_ends_where_a_point_is_too_high_or_too_low(g1, tensor, height, ends):
    """An elbow does not end it by itself, nor do bodies that are no points."""
    state = states(g1)
    knee, shoulder = g1.key_bodies.index("left_knee_link"), g1.key_bodies.index("left_shoulder_roll_link")
    for body, counts in ((knee, True), (shoulder, False)):
        off = np.zeros((len(g1.key_bodies), 3))
        off[body, 2] = height
        context = seen(g1, tensor, replace(state, body_pos=state.body_pos + off), state)
        assert (np.asarray(terms.point_height(context)) == (ends and counts)).all()
        assert (np.asarray(terms.termination(context)) == (ends and counts)).all()
    higher = replace(state, root_pos=state.root_pos + [0, 0, height])
    assert (np.asarray(terms.root_height(seen(g1, tensor, higher, state))) == ends).all()
