"""States by compiled kinematics are those that MuJoCo has."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

import mujoco

from phuma.core import rotations as rot
from phuma.robots import Robot, load_robot
from phuma.sim.kinematics import AT_LEAST, Kinematics
from phuma.sim.state import State
from tests.learning.sample_states import elsewhere
from tests.robots.posing import NAMES, compiled

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(params=NAMES)
def robot(request) -> Robot:
    return load_robot(request.param)


def any_motion(robot: Robot, count: int = 12) -> tuple[np.ndarray, ...]:
    """Roots and joints as `Kinematics.state` takes them."""
    rng = np.random.default_rng(0)
    size = (count, robot.n_joints)
    return (
        rng.normal(size=(count, 3)), rot.normalize(rng.normal(size=(count, 4))),
        rng.normal(size=(count, 3)), 2 * rng.normal(size=(count, 3)),
        rng.uniform(robot.lower, robot.upper, size), 5 * rng.normal(size=size),
    )  # fmt: skip


def test_bodies_are_where_mujoco_has_them_and_move_as_it_says(robot):
    motion = any_motion(robot)
    state, model = Kinematics(robot).state(*motion), compiled(robot)
    data, velocity = mujoco.MjData(model), np.zeros(6)
    for e, (pos, quat, linvel, angvel, joints, speeds) in enumerate(zip(*motion)):
        data.qpos[:], data.qvel[:] = np.r_[pos, quat, joints], np.r_[linvel, angvel, speeds]
        mujoco.mj_forward(model, data)
        for k, name in enumerate(robot.key_bodies):
            body = model.body(name).id
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
            np.testing.assert_allclose(state.body_pos[e, k], data.xpos[body], **CLOSE)
            assert abs(state.body_quat[e, k] @ data.xquat[body]) == pytest.approx(1, abs=1e-6)
            np.testing.assert_allclose(state.body_angvel[e, k], velocity[:3], **CLOSE)
            np.testing.assert_allclose(state.body_linvel[e, k], velocity[3:], **CLOSE)


def test_the_root_and_the_joints_are_as_given_in_single_precision(robot):
    motion = any_motion(robot)
    state = Kinematics(robot).state(*motion)
    for field, given in zip(fields(State), motion):
        np.testing.assert_array_equal(getattr(state, field.name), given.astype(np.float32))
    for field in fields(State):
        value = getattr(state, field.name)
        assert value.dtype == np.float32
        assert value.flags.c_contiguous, "a robot's numbers lie together"


def test_slices_and_single_precision_serve_as_well(robot):
    motion = [x.astype(np.float32) for x in any_motion(robot)]
    wide = np.concatenate(motion, axis=1)
    ends = np.cumsum([x.shape[1] for x in motion])
    kinematics = Kinematics(robot)
    a = kinematics.state(*(x.astype(float) for x in motion))
    b = kinematics.state(*np.split(wide, ends[:-1], axis=1))
    for field in fields(State):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))


def test_several_threads_give_the_same_to_the_last_bit(robot):
    motion = any_motion(robot, 3 * AT_LEAST + 5)
    alone, together = Kinematics(robot), Kinematics(robot, threads=3)
    expected, found = alone.state(*motion), together.state(*motion)
    together.close()
    for field in fields(State):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


def test_a_robot_turned_and_moved_is_the_same_turned_and_moved(robot):
    motion, kinematics = any_motion(robot), Kinematics(robot)
    expected = elsewhere(kinematics.state(*motion), 1)
    roots = expected.root_pos, expected.root_quat, expected.root_linvel, expected.root_angvel
    found = kinematics.state(*roots, *motion[4:])
    for name in ("body_pos", "body_linvel", "body_angvel"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-5, atol=1e-4)
    alike = np.abs(np.sum(found.body_quat * expected.body_quat, axis=-1))
    np.testing.assert_allclose(alike, 1, atol=1e-6)
