"""Frames of motions with all that a tracker compares itself with."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.core.trajectory import Trajectory
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import constants_of
from phuma.learning.motions.references import expand
from phuma.learning.recipes import beyondmimic
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.feedforward import BASES
from phuma.sim.model import CONTROL_RATE
from phuma.sim.state import State
from tests.learning.sample_motions import library, wandering

DT = 1 / 50
TIME = DT * np.arange(40)

COMING = beyondmimic.FUTURE.coming


def task(base):
    return beyondmimic.task(EnvironmentCfg(base=base))


@pytest.fixture(scope="module")
def small(g1):
    return library(g1)


@pytest.fixture(scope="module")
def references(small):
    return expand(small, [0, 1, 2], task("reference"))


def moving(root_pos=None, root_quat=None, joints=None):
    """A robot with two joints, still where nothing is given."""
    pos = np.zeros((len(TIME), 3)) if root_pos is None else root_pos
    quat = np.tile(rot.IDENTITY, (len(TIME), 1)) if root_quat is None else root_quat
    angles = np.zeros((len(TIME), 2)) if joints is None else joints
    return Trajectory("made up", ("one", "two"), CONTROL_RATE, pos, quat, angles)


def test_motions_lie_one_after_the_other(references):
    assert len(references) == 168
    assert references.first.tolist() == [0, 51, 132]
    assert references.last.tolist() == [50, 131, 167]
    assert references.clip_of.tolist() == [0] * 51 + [1] * 81 + [2] * 36


def test_each_frame_is_the_library_s(small, references):
    whole = np.concatenate([motion.qpos for motion in small.motions])
    state = references.state
    np.testing.assert_array_equal(np.concatenate([state.root_pos, state.root_quat, state.joint_pos], 1), whole)


def test_some_motions_in_any_order_are_what_they_are_among_all(small, references):
    some = expand(small, [2, 0], task("reference"))
    assert some.clips.tolist() == [2, 0]
    rows = np.r_[132:168, 0:51]
    for f in fields(State):
        np.testing.assert_array_equal(getattr(some.state, f.name), getattr(references.state, f.name)[rows])
    np.testing.assert_array_equal(some.features["future"], references.features["future"][rows])
    np.testing.assert_array_equal(some.base, references.base[rows])


def test_what_comes_is_twenty_frames_over_the_next_95(references):
    assert COMING.offsets.tolist() == list(range(0, 100, 5))
    assert references.coming(COMING, np.array([51])).tolist() == [[min(51 + k, 131) for k in range(0, 100, 5)]]


def test_past_its_end_a_motion_holds_its_last_frame_and_never_becomes_the_next(references):
    every = np.arange(len(references))
    seen = references.coming(COMING, every)
    assert seen.shape == (168, 20)
    assert (seen[:, 0] == every).all()
    assert (references.clip_of[seen] == references.clip_of[:, None]).all()
    assert (seen[:, -1] == references.last[references.clip_of]).sum() > 150
    for frame in references.last:
        assert (references.coming(COMING, np.array([frame])) == frame).all()


def test_features_are_those_of_the_states(references, g1):
    found, state = references.features["future"], references.state
    np.testing.assert_array_equal(found, beyondmimic.FUTURE.features(constants_of(g1, state.root_pos), state))
    assert found.shape == (168, 78)


@pytest.mark.parametrize("base", BASES)
def test_on_the_way_to_a_frame_the_base_lies_between_it_and_the_one_before(small, base, g1):
    """Of each motion alone: on its first frame, to which no way leads, it is that frame's."""
    found = expand(small, [0, 1, 2], task(base))
    motion = small.motions[1].double()
    each = BASES[base].target(g1, motion, derivatives(motion))
    np.testing.assert_allclose(found.base[51], each[0], atol=1e-6)
    np.testing.assert_allclose(found.base[52:132], (each[:-1] + each[1:]) / 2, atol=1e-6)
    assert found.base.dtype == np.float32


def test_bodies_move_as_their_places_change(g1):
    """Central differences of places, beside velocities that come from those of the joints and of the root."""
    state = expand(library(g1, free=wandering(g1)), [0], task("reference")).state
    moved = (state.body_pos[2:].astype(float) - state.body_pos[:-2]) / (2 * DT)
    np.testing.assert_allclose(state.body_linvel[1:-1], moved, atol=0.02)
    assert np.abs(moved).max() > 2
    turn = rot.multiply(state.body_quat[2:].astype(float), rot.conjugate(state.body_quat[:-2].astype(float)))
    np.testing.assert_allclose(state.body_angvel[1:-1], rot.to_rotvec(turn) / (2 * DT), atol=0.05)


def test_a_constant_spin_about_the_root_s_own_axis_is_that_spin():
    spin = np.array([1.0, -2.0, 3.0])
    quat = rot.multiply(rot.normalize(np.array([0.5, 0.1, -0.7, 0.2])), rot.from_rotvec(TIME[:, None] * spin))
    rates = derivatives(moving(root_quat=quat))
    np.testing.assert_allclose(rates.root_angvel, np.tile(spin, (40, 1)), atol=1e-9)
    np.testing.assert_allclose(rates.acceleration, 0, atol=1e-6)
    np.testing.assert_array_equal(rates.root_linvel, 0)
    np.testing.assert_array_equal(rates.joint_vel, 0)


def test_a_spin_that_grows_has_that_acceleration():
    quat = rot.from_rotvec(0.5 * TIME[:, None] ** 2 * np.array([0.0, 4.0, 0.0]))
    rates = derivatives(moving(root_quat=quat))
    np.testing.assert_allclose(rates.root_angvel[1:-1, 1], 4 * TIME[1:-1], atol=1e-9)
    np.testing.assert_allclose(rates.acceleration[:, 4], 4, atol=1e-6)


def test_a_constant_acceleration_of_root_and_joints_is_found_exactly():
    a = np.array([1.0, -2.0, 9.81, 3.0, -0.5])
    path = 0.5 * TIME[:, None] ** 2 * a + TIME[:, None] * 0.3
    rates = derivatives(moving(path[:, :3], joints=path[:, 3:]))
    velocity, own = rates.velocity, [0, 1, 2, 6, 7]
    np.testing.assert_allclose(rates.acceleration[:, own], np.tile(a, (40, 1)), atol=1e-6)
    np.testing.assert_allclose(velocity[1:-1, own], TIME[1:-1, None] * a + 0.3, atol=1e-9)
    # At the ends there is one side only: half a step off.
    np.testing.assert_allclose(velocity[0, own], 0.5 * DT * a + 0.3, atol=1e-9)


def test_two_frames_have_a_velocity_and_no_acceleration():
    rates = derivatives(moving(np.outer(TIME, [1.0, 0, 0])).frames(slice(2)))
    np.testing.assert_allclose(rates.root_linvel[:, 0], 1)
    np.testing.assert_array_equal(rates.acceleration, np.zeros((2, 8)))


def test_a_frame_takes_about_1400_bytes(references):
    arrays = [getattr(references.state, f.name) for f in fields(State)]
    arrays += [references.base, references.features["future"], references.clip_of]
    assert {x.dtype for x in arrays[:-1]} == {np.dtype(np.float32)}
    assert 1350 < sum(x.nbytes for x in arrays) / len(references) < 1500


def test_as_tensors_of_torch_they_are_the_same_numbers(references):
    torch = pytest.importorskip("torch")
    there = references.on(torch.zeros(1))
    for f in fields(State):
        np.testing.assert_array_equal(getattr(there.state, f.name).numpy(), getattr(references.state, f.name))
    np.testing.assert_array_equal(there.features["future"].numpy(), references.features["future"])
    np.testing.assert_array_equal(there.base.numpy(), references.base)
    frames = np.array([3, 160])
    np.testing.assert_array_equal(there.coming(COMING, frames), references.coming(COMING, frames))
