"""Where controllers aim when the policy adds nothing: at what makes the torques that the reference takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

import mujoco

from phuma.learning.env.task import Task
from phuma.learning.motions.references import expand
from phuma.robots.inverse_dynamics import derivatives, inverse_dynamics
from phuma.sim.feedforward import BASES, default_base, feedforward_base, reference_base
from phuma.sim.model import simulation_model
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.learning.sample_motions import dip, library, stand


def along(robot, motion):
    """A motion at control rate, with its velocities and accelerations."""
    path = library(robot, a=motion).motions[0].double()
    return path, derivatives(path)


def test_on_its_reference_a_robot_gets_the_torques_of_inverse_dynamics(g1):
    motion, rates = along(g1, dip(g1))
    target = feedforward_base(g1, motion, rates)
    expected = inverse_dynamics(g1, motion, rates).torque
    assert (np.abs(expected) < g1.torque_limit).all()
    assert np.abs(expected).max() > 10
    model = simulation_model(g1, 4)
    data = mujoco.MjData(model)
    for t in range(0, len(motion), 7):
        data.qpos[:], data.qvel[:], data.ctrl[:] = motion.qpos[t], rates.velocity[t], target[t]
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.actuator_force, expected[t], atol=1e-9)


def test_no_torque_is_aimed_at_that_a_motor_cannot_give(g1):
    motion, rates = along(g1, dip(g1))
    target = feedforward_base(g1, motion, replace(rates, acceleration=50 * rates.acceleration))
    asked = g1.stiffness * (target - motion.joint_pos) - g1.damping * rates.joint_vel
    assert (np.abs(asked) < g1.torque_limit * (1 + 1e-9)).all()
    assert np.isclose(np.abs(asked), g1.torque_limit).any()


def test_the_other_bases_are_the_reference_and_the_default_pose(g1):
    motion, rates = along(g1, dip(g1))
    np.testing.assert_array_equal(reference_base(g1, motion, rates), motion.joint_pos)
    still = default_base(g1, motion, rates)
    np.testing.assert_array_equal(still, np.tile(g1.default_pose, (len(motion), 1)))
    middle = BASES["middle"].target(g1, motion, rates)
    np.testing.assert_allclose(middle - g1.lower, g1.upper - middle)
    assert set(BASES) == {"default", "reference", "middle", "feedforward", "certified"}


@pytest.fixture(scope="module")
def drift(g1):
    """By the names of bases: m that the root of a robot that is to stand still moves within half a second."""
    out = {}
    for base in ("feedforward", "reference"):
        references = expand(library(g1, stand=stand(g1)), [0], Task((), base=base))
        simulation = MujocoSimulation(g1, 1, 4, 1)
        simulation.reset(np.array([0]), references.state[:1])
        for t in range(25):
            simulation.step(references.base[t + 1 : t + 2])
        out[base] = np.linalg.norm(simulation.qpos[0, :3] - references.state.root_pos[0])
    return out


def test_fed_forward_a_standing_robot_stands_still_by_itself(drift):
    assert drift["feedforward"] < 0.002


def test_aiming_at_the_reference_alone_it_sinks(drift):
    """That is what the base is for: a controller gives no torque where it aims."""
    assert drift["reference"] > 10 * drift["feedforward"]
