"""What a policy sees: by hand, its sizes, and what it must not depend on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.learning.env.observation import Observer
from phuma.learning.recipes.beyondmimic import CRITIC, FUTURE, GOAL, PROPRIOCEPTION
from phuma.robots import load_robot
from tests.learning.sample_states import any_states, as_tensors, context, elsewhere, near, resting

ANCHOR = 7
CLOSE = {"rtol": 0, "atol": 2e-5}
ENCODED = 128
"""The paper's size of what its encoder makes of the future"""


def observed(tensor, state, reference, action, default_pose, anchor: int = ANCHOR) -> dict[str, np.ndarray]:
    """All groups of BeyondMimic's recipe, one frame of the future."""
    state, reference = as_tensors(tensor, state, reference)
    seen = context(state, reference, anchor, tensor(action), default_pose=tensor(default_pose))
    groups = (PROPRIOCEPTION, GOAL, FUTURE, CRITIC)
    out = Observer(groups, np.random.default_rng(0), 0.0)(seen)
    assert {value.dtype for value in out.values()} == {state.root_pos.dtype}, "single precision stays"
    return {name: np.asarray(value) for name, value in out.items()}


def some(tensor, state, reference) -> dict[str, np.ndarray]:
    return observed(tensor, state, reference, np.ones((len(state), 29)), np.zeros(29))


@pytest.mark.parametrize("name", ["g1", "h1_2"])
def test_sizes_follow_the_robot(tensor, name):
    robot = load_robot(name)
    joints, bodies = robot.n_joints, len(robot.key_bodies)
    state, reference = (any_states(seed, 3, joints, bodies) for seed in (0, 1))
    anchor = robot.key_bodies.index(robot.anchor_body)
    found = observed(tensor, state, reference, np.zeros((3, joints)), robot.default_pose, anchor)
    size = {group: value.shape[1] for group, value in found.items()}
    assert size == {group.name: group.width(robot) for group in (PROPRIOCEPTION, GOAL, FUTURE, CRITIC)}
    own, goal, future = 3 * joints + 3, 2 * joints + 6, 7 + joints + 3 * bodies
    assert size == {"proprioception": own, "goal": goal, "future": future, "critic": own + goal + 9 * bodies + 3}
    if name == "g1":
        assert (own, goal, future) == (90, 64, 78)
        assert own + goal + ENCODED == 282


def test_the_future_is_twenty_frames_over_95_steps():
    assert FUTURE.coming.offsets.tolist() == [5 * k for k in range(20)]
    assert FUTURE.shape(load_robot("g1")) == (20, 78)


def test_proprioception_by_hand(tensor):
    state = replace(resting(), root_angvel=np.array([[0.1, 0.2, 0.3]]), joint_pos=np.array([[1, 2]]))
    state = replace(state, joint_vel=np.array([[-3, -4]]))
    found = observed(tensor, state, resting(), [[5, 6]], [0.5, 1.0], 0)["proprioception"]
    np.testing.assert_allclose(found, [[5, 6, 0.1, 0.2, 0.3, 0.5, 1.0, -3, -4]], **CLOSE)


def test_goal_by_hand(tensor):
    """The robot looks along x, the reference along y: seen from the robot its x axis is y, and its y axis -x."""
    state, reference = resting(), resting()
    reference.joint_pos[0], reference.joint_vel[0] = [0.1, 0.2], [3, 4]
    reference.body_quat[0, 1] = rot.from_axis("z", np.pi / 2)
    found = observed(tensor, state, reference, [[0, 0]], [0, 0], 1)["goal"]
    np.testing.assert_allclose(found, [[0.1, 0.2, 3, 4, 0, 1, 0, -1, 0, 0]], **CLOSE)


def test_the_goals_rotation_is_seen_from_the_robot(tensor):
    """Robot bowed by 0.3, reference by 0.5 the same way: 0.2 are left, about an axis of the robot's own."""
    state, reference = resting(), resting()
    turn = rot.from_axis("z", 2.0)
    state.body_quat[0, 1] = rot.multiply(turn, rot.from_axis("y", 0.3))
    reference.body_quat[0, 1] = rot.multiply(turn, rot.from_axis("y", 0.5))
    found = context(*as_tensors(tensor, state, reference), 1).anchor_rotation
    np.testing.assert_allclose(np.asarray(found), [rot.from_axis("y", 0.2)], **CLOSE)


def test_future_by_hand(tensor):
    """Looks along y, bows by 0.3, walks ahead at 2 m/s and rises at 1 m/s, turns about the vertical at 0.5 rad/s; one
    body is 0.4 m ahead of the root and 0.1 m above it, the other 0.2 m to its left."""
    reference = resting(bodies=2)
    reference.root_pos[0] = [7, 8, 0.75]
    reference.root_quat[0] = rot.multiply(rot.from_axis("z", np.pi / 2), rot.from_axis("y", 0.3))
    reference.root_linvel[0] = [0, 2, 1]
    reference.root_angvel[0] = rot.rotate(rot.from_axis("y", -0.3), np.array([0, 0, 0.5]))
    reference.joint_pos[0] = [0.6, -0.6]
    reference.body_pos[0] = [[7, 8.4, 0.85], [6.8, 8, 0.75]]
    found = FUTURE.features(
        context(*as_tensors(tensor, reference, reference)).constants, *as_tensors(tensor, reference)
    )
    expected = [0.75, 0, 0.3, 2, 0, 1, 0.5, 0.6, -0.6, 0.4, 0, 0.1, 0, 0.2, 0]
    np.testing.assert_allclose(np.asarray(found), [expected], **CLOSE)


def test_what_the_critic_sees_besides_by_hand(tensor):
    """The anchor lies on its left side and looks along x: its y axis is down, its z axis is y."""
    state = resting(bodies=2)
    state.body_pos[0] = [[1, 2, 3], [1.5, 2.25, 3.75]]
    state.body_quat[0] = rot.from_axis("x", -np.pi / 2), rot.IDENTITY
    state.root_quat[0], state.root_linvel[0] = rot.from_axis("z", np.pi / 2), [0, 2, 1]
    found = observed(tensor, state, resting(bodies=2), [[0, 0]], [0, 0], 0)["critic"]
    places, turns, speed = [0, 0, 0, 0.5, -0.75, 0.25], [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1], [2, 0, 1]
    np.testing.assert_allclose(found[:, -21:], [[*places, *turns, *speed]], **CLOSE)


def test_a_common_turn_and_shift_change_nothing(tensor):
    reference = any_states(0)
    state = near(reference, 1)
    here = some(tensor, state, reference)
    there = some(tensor, elsewhere(state, 2), elsewhere(reference, 2))
    for group, value in here.items():
        np.testing.assert_allclose(value, there[group], **CLOSE, err_msg=group)


def test_both_libraries_give_the_same_numbers():
    torch = pytest.importorskip("torch")
    pair = any_states(0), any_states(1)
    ours = some(lambda x: np.array(x, dtype=np.float32), *pair)
    theirs = some(lambda x: torch.from_numpy(np.array(x, dtype=np.float32)), *pair)
    for group, value in ours.items():
        np.testing.assert_allclose(value, theirs[group], **CLOSE, err_msg=group)


def test_where_the_robot_is_shows_only_in_the_torsos_rotation(tensor):
    reference = any_states(0)
    state = near(reference, 1)
    here, there = some(tensor, state, reference), some(tensor, elsewhere(state, 2), reference)
    np.testing.assert_allclose(here["proprioception"], there["proprioception"], **CLOSE)
    np.testing.assert_allclose(here["future"], there["future"], **CLOSE)
    changed = np.abs(here["goal"] - there["goal"]).max(axis=0) > 0.1
    np.testing.assert_array_equal(changed, np.arange(64) >= 58)


def test_height_shows_in_the_future_once(tensor):
    reference, up = any_states(0), np.array([0, 0, 0.3])
    raised = replace(reference, root_pos=reference.root_pos + up, body_pos=reference.body_pos + up)
    here, there = (some(tensor, reference, r)["future"] for r in (reference, raised))
    np.testing.assert_allclose(there - here, np.tile(0.3 * (np.arange(78) == 0), (20, 1)), **CLOSE)


def test_differences_vanish_on_the_reference_and_are_what_the_robot_is_off(g1):
    from phuma.learning.env.context import Context, constants_of
    from phuma.learning.env.terms import observations as terms
    from phuma.sim.kinematics import Kinematics

    rng = np.random.default_rng(0)
    root, joints = np.array([[0.0, 0.0, 0.8]]), 0.1 * rng.normal(size=(1, g1.n_joints))
    quat, speed = rot.from_rotvec(np.array([[0.1, 0.2, 0.3]])), rng.normal(size=(1, g1.n_joints))
    turned = rot.multiply(quat, rot.from_rotvec(np.array([[0.0, 0.0, 0.25]])))

    def state(quat, spin, joints, speed):
        return Kinematics(g1).state(root, quat, np.zeros((1, 3)), spin, joints, speed)

    now = state(quat, np.zeros((1, 3)), joints, speed)
    moved = state(turned, np.full((1, 3), 0.5), joints, speed + 0.7)
    constants = constants_of(g1, now.root_pos)
    off = (terms.anchor_off, terms.root_angvel_off, terms.joint_pos_off, terms.joint_vel_off)
    for term in off:
        same = Context(constants, moved, now, now.joint_pos, now=now)
        np.testing.assert_allclose(term.value(same), 0.0, atol=1e-6)
    found = [term.value(Context(constants, now, moved, now.joint_pos, now=now))[0] for term in off]
    assert np.linalg.norm(found[0]) == pytest.approx(0.25, abs=1e-5)
    np.testing.assert_allclose(found[1], 0.5, atol=1e-6)
    np.testing.assert_allclose(found[2], 0.0, atol=1e-6)
    np.testing.assert_allclose(found[3], 0.7, atol=1e-6)


def test_one_sensor_has_one_noise_however_often_it_is_read(g1):
    """Else a network could average it away, as no robot can."""
    from phuma.learning.env.context import Context, constants_of
    from phuma.learning.env.observation import Observer
    from phuma.learning.recipes.beyondmimic import DIFFERENCE, PROPRIOCEPTION
    from phuma.sim.kinematics import Kinematics

    zero = np.zeros((4, 3))
    state = Kinematics(g1).state(
        zero, np.tile(rot.IDENTITY, (4, 1)), zero, zero, np.tile(g1.default_pose, (4, 1)), np.zeros((4, g1.n_joints))
    )
    context = Context(constants_of(g1, state.root_pos), state, state, state.joint_pos, now=state)
    seen = Observer((PROPRIOCEPTION, DIFFERENCE), np.random.default_rng(0), 1.0)(context)
    own, off = seen["proprioception"], seen["difference"]
    np.testing.assert_allclose(own[:, 29:], off[:, 3:], atol=1e-6)
    assert np.abs(own[:, 29:]).max() > 0.1
