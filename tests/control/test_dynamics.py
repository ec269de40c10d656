"""A control step is that of the project's simulation, and its derivatives are those of whole control steps."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

import mujoco

from phuma.control.dynamics import SUBSTEPS, Dynamics
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.coordinates import tangent
from phuma.sim.feedforward import feedforward_base
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.reference import at_control_rate
from tests.learning.sample_motions import dip, wandering


@pytest.fixture(scope="module")
def dynamics(g1):
    return Dynamics(g1)


@pytest.fixture(scope="module")
def course(g1, dynamics):
    """States and steps of a knee bend, not one of them on the reference."""
    motion = at_control_rate(dip(g1)).double()
    rates = derivatives(motion)
    base, state = feedforward_base(g1, motion, rates), State(motion.qpos[0], rates.velocity[0])
    steps, states = [], [state]
    for target in base[1:31]:
        steps.append(dynamics.step(states[-1], target))
        states.append(steps[-1].after)
    return states, steps


def test_a_step_is_that_of_the_projects_simulation_to_the_last_bit(g1, course):
    states, steps = course
    simulation = MujocoSimulation(g1, 1, SUBSTEPS, threads=1)
    simulation.restore(states[0].qpos[None], states[0].qvel[None])
    for step in steps:
        simulation.step(step.target[None])
        np.testing.assert_array_equal(simulation.qpos[0], step.after.qpos)
        np.testing.assert_array_equal(simulation.qvel[0], step.after.qvel)
    simulation.close()


def differences(dynamics, state, target, size=1e-7):
    """A and B by simulating whole control steps from states a little beside this one."""
    model, after = dynamics.model, dynamics.step(state, target).after
    nv, columns = model.nv, []

    def column(state, target):
        return tangent(plain_step(dynamics, state, target), after) / size

    for i in range(nv):
        qpos, way = state.qpos.copy(), np.zeros(nv)
        way[i] = size
        mujoco.mj_integratePos(model, qpos, way, 1.0)
        columns.append(column(State(qpos, state.qvel), target))
    for i in range(nv):
        columns.append(column(State(state.qpos, state.qvel + size * np.eye(nv)[i]), target))
    for i in range(model.nu):
        columns.append(column(state, target + size * np.eye(model.nu)[i]))
    return np.stack(columns, axis=1)


def plain_step(dynamics, state, target):
    """A control step with targets in double precision, as small differences need."""
    data = mujoco.MjData(dynamics.model)
    data.qpos, data.qvel, data.ctrl = state.qpos, state.qvel, target
    mujoco.mj_step(dynamics.model, data, SUBSTEPS)
    return State(data.qpos.copy(), data.qvel.copy())


def test_derivatives_are_those_of_whole_control_steps(dynamics, course):
    """In a knee bend, in which contacts begin, end or start to slide within steps."""
    states, steps = course
    settled = [k for k, step in enumerate(steps) if len(set(step.active)) == 1]
    changing = [k for k, step in enumerate(steps) if len(set(step.active)) > 1]
    assert settled
    assert changing
    for k in (settled[-1], *changing[:6]):
        whole = differences(dynamics, states[k], steps[k].target)
        ((a, b),) = dynamics.linearise([steps[k]])
        error = np.linalg.norm(np.concatenate([a, b], axis=1) - whole) / np.linalg.norm(whole)
        assert error < 0.02, (k, error, len(set(steps[k].active)))


@pytest.mark.parametrize("height", [0.005, 0.01, 0.0125, 0.015])
def test_derivatives_know_when_within_the_step_feet_land(g1, dynamics, height):
    """A robot that falls at 1 m/s lands in the first, second or third quarter of the step; to take any one of the four
    physics steps for all of them errs by a half and more."""
    qpos = np.concatenate([[0.0, 0.0, g1.default_height + height, 1.0, 0.0, 0.0, 0.0], g1.default_pose])
    state = State(qpos, np.where(np.arange(6 + g1.n_joints) == 2, -1.0, 0.0))
    step = dynamics.step(state, g1.default_pose)
    assert len(set(step.active)) > 1
    whole = differences(dynamics, state, step.target)

    def error(step):
        ((a, b),) = dynamics.linearise([step])
        return np.linalg.norm(np.concatenate([a, b], axis=1) - whole) / np.linalg.norm(whole)

    assert error(step) < 0.02
    assert error(step._replace(active=(b"",) * SUBSTEPS)) > 0.5


def test_threads_make_no_difference(g1, course, dynamics):
    _, steps = course
    several = Dynamics(g1, threads=3)
    for (a, b), (c, d) in zip(dynamics.linearise(steps[:5]), several.linearise(steps[:5])):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_tangents_are_mujocos(g1, dynamics):
    motion = wandering(g1)
    qpos = motion.qpos
    for one, other in ((0, 5), (7, 30)):
        expected = np.empty(dynamics.model.nv)
        mujoco.mj_differentiatePos(dynamics.model, expected, 1.0, qpos[one], qpos[other])
        still = np.zeros(dynamics.model.nv)
        found = tangent(State(qpos[other], still), State(qpos[one], still + 2.0))
        np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-12)
        np.testing.assert_allclose(found[len(expected) :], -2.0)


def test_a_simulation_that_diverges_is_no_step(g1, dynamics, course):
    from phuma.sim.mujoco_cpu import unreported

    states, _ = course
    with unreported():
        assert dynamics.step(State(states[0].qpos, np.full_like(states[0].qvel, 1e8)), g1.default_pose) is None
