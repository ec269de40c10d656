"""Experts label what environments do: nothing where they are on the performance, the way back where they are not."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.errors import PhumaError
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.motions.experts import Experts
from phuma.learning.motions.library import MotionLibrary, Performance
from phuma.learning.motions.references import expand
from phuma.learning.recipes import beyondmimic
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import LATENESS, Feedback, Strand
from phuma.sim.feedforward import BASES, between
from phuma.sim.reference import at_control_rate
from tests.learning.sample_motions import dip, stand

TASK = beyondmimic.task(EnvironmentCfg(base="certified", differences=True))


def made_up(robot, motion, lower: float) -> Performance:
    """A performance that is the motion with its root lower; targets are the joints plus 0.1, gains -1 per joint."""
    path = at_control_rate(motion).double()
    rates = derivatives(path)
    qpos = path.qpos - lower * (np.arange(path.qpos.shape[1]) == 2)
    steps, joints = len(path) - 1, robot.n_joints
    gains = np.zeros((steps, joints, 2 * (6 + joints)), dtype=np.float16)
    gains[:, np.arange(joints), 6 + np.arange(joints)] = -1.0
    value = np.zeros((steps, 1, gains.shape[-1]), dtype=np.float32)
    target = path.joint_pos[:-1] + 0.1
    feedback = Feedback(qpos[:-1], rates.velocity[:-1], target, gains, value, np.full(len(target), LATENESS))
    states = Coordinates(qpos.astype(np.float32), rates.velocity.astype(np.float32))
    return Performance(states, target.astype(np.float32), lambda: [Strand(0, feedback)])


@pytest.fixture(scope="module")
def library(g1):
    out = MotionLibrary(g1)
    out.add("still", stand(g1), None, made_up(g1, stand(g1), 0.01))
    out.add("down", dip(g1), None, made_up(g1, dip(g1), 0.02))
    out.add("bare", dip(g1, 0.7))
    return out


def test_the_performance_is_what_is_followed(library):
    """Its states and targets, where there is one; the motion and the feed-forward base where there is none."""
    references = expand(library, [1, 2], TASK)
    down, bare = library.performances[1], library.motions[2].double()
    np.testing.assert_array_equal(references.state.root_pos[:51], down.states.qpos[:, :3])
    np.testing.assert_array_equal(references.state.joint_vel[:51], down.states.qvel[:, 6:])
    np.testing.assert_array_equal(references.base[1:51], down.target)
    base = between(BASES["feedforward"].target(library.robot, bare, derivatives(bare)))
    np.testing.assert_allclose(references.base[51:], base, atol=1e-6)


def test_with_both_every_motion_comes_as_it_is_too(library):
    references = expand(library, [0, 1, 2], TASK, both=True)
    assert references.clips.tolist() == [0, 0, 1, 1, 2]
    heights = references.state.root_pos[references.first, 2]
    assert heights[1] - heights[0] == pytest.approx(0.01, abs=1e-6)
    assert heights[3] - heights[2] == pytest.approx(0.02, abs=1e-6)


def test_another_base_knows_no_performance(library):
    references = expand(library, [1], beyondmimic.task(EnvironmentCfg(base="feedforward")), both=True)
    np.testing.assert_array_equal(references.state.root_pos, library.motions[1].root_pos)


def test_labels_lead_back_to_the_performance_of_the_motion_that_is_followed(library):
    references = expand(library, [0, 1], TASK, both=True)
    experts = Experts(library, references)
    frames = references.first[[2, 3]] + 7  # the second motion, performed and as it is
    down = library.performances[1]
    qpos, qvel = (np.repeat(values[7:8].astype(float), 2, axis=0) for values in down.states)
    qpos[1, 7] += 0.3
    target, cost = experts(Coordinates(qpos, qvel), frames)
    np.testing.assert_allclose(target[0], down.target[7], atol=1e-3)
    np.testing.assert_allclose(target[1, 0], down.target[7, 0] - 0.3, atol=1e-3)
    np.testing.assert_allclose(target[1, 1:], down.target[7, 1:], atol=1e-3)
    assert cost.tolist() == [0.0, 0.0]


def test_who_has_no_expert_is_named(library):
    with pytest.raises(PhumaError, match="bare has no performance to learn from; certify it first"):
        Experts(library, expand(library, [0, 2], TASK))
