"""Experts perform what can be performed, go on where they were, and say when they are lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.control.dynamics import Dynamics
from phuma.control.expert import RUNGS, deviations, perform
from phuma.control.gains import square_root
from phuma.control.guide import BLOCK, Guide
from phuma.control.receding import Done, Horizon, follow_plans, follow_regulator
from phuma.core.trajectory import split_qpos
from phuma.curation import curate
from phuma.pipelines.retarget import retarget
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.reference import at_control_rate
from phuma.synth import generate
from tests.learning.sample_motions import bent, dip, planted, stand

pytestmark = pytest.mark.slow

SHORT = Horizon(window=8, committed=4, iterations=1)


def reference(motion):
    return at_control_rate(motion).double()


@pytest.fixture(scope="module")
def guide(g1):
    return Guide(Dynamics(g1), reference(dip(g1)))


def begin(guide):
    return Done([], [guide.start()])


def test_a_knee_bend_is_performed_by_the_cheapest_way(g1):
    episode = perform(reference(dip(g1)), g1)
    assert episode.whole
    assert episode.good
    assert episode.way == next(iter(RUNGS))
    assert episode.deviation.max() < 0.01
    assert episode.targets.dtype == np.float32


def test_the_regulator_knows_the_ground_though_clips_have_their_soles_where_contacts_just_begin(g1):
    """Somebody who stands and reaches, as retargeting puts it on the robot."""
    motion = reference(retarget(curate(generate("reach", 4.0, 100).motion), g1))
    guide = Guide(Dynamics(g1), motion)
    done = follow_regulator(guide, begin(guide))
    assert len(done.states) == guide.length
    assert deviations(np.stack([state.qpos for state in done.states]), motion, g1).max() < 0.02


def test_plans_come_nearer_than_the_regulator(guide):
    motion = reference(dip(guide.dynamics.robot))
    errors = []
    for done in (follow_regulator(guide, begin(guide)), follow_plans(guide, begin(guide), SHORT)):
        qpos = np.stack([state.qpos for state in done.states])
        assert len(qpos) == guide.length
        errors.append(deviations(qpos, motion, guide.dynamics.robot).mean())
    assert errors[1] < errors[0]


def test_an_episode_that_goes_on_is_the_one_that_was_not_stopped(guide):
    """Nothing is remembered that the states do not hold, but for plans: the regulator has none."""
    whole = follow_regulator(guide, begin(guide))
    half = Done(whole.targets[:20], whole.states[:21])
    again = follow_regulator(guide, half)
    assert len(half.targets) == 20
    for one, other in zip(whole.states, again.states):
        np.testing.assert_array_equal(one.qpos, other.qpos)


def test_it_comes_back_from_a_state_beside_the_reference(guide):
    start = guide.start()
    pushed = State(start.qpos, start.qvel + np.eye(len(start.qvel))[0] * 0.4)
    done = follow_plans(guide, Done([], [pushed]), Horizon(window=15, committed=5))
    assert len(done.states) == guide.length
    assert np.abs(done.states[-1].qpos - guide.state(guide.length - 1).qpos).max() < 0.1


def test_what_nobody_can_do_is_lost_where_it_begins(g1):
    """The robot is to rise from the floor by three metres at half a second; one metre it jumps."""
    still = stand(g1, seconds=1.0)
    root = still.root_pos.copy()
    root[15:, 2] += np.minimum(np.arange(len(root) - 15) / 5, 3.0)
    episode = perform(reference(replace(still, root_pos=root)), g1, "quick")
    assert not episode.whole
    assert 0.4 < len(episode.qpos) / 50 < 0.9
    assert len(episode.targets) == len(episode.qpos) - 1 == len(episode.qvel) - 1


def test_a_long_motion_is_done_block_by_block(g1):
    """What the regulator is at a block's end does not depend on where blocks end."""
    seconds = (BLOCK + 60) / 50
    motion = reference(planted(g1, bent(g1, 0.33 + 0.1 * np.sin(np.linspace(0, 12, round(seconds * 30))))))
    guide = Guide(Dynamics(g1), motion)
    before, after = guide.gain(BLOCK - 1), guide.gain(BLOCK)
    assert np.linalg.norm(before - after) < 0.3 * np.linalg.norm(before)
    np.testing.assert_allclose(guide.value(BLOCK), guide.value(BLOCK).T)
    done = follow_regulator(guide, begin(guide))
    assert len(done.states) == guide.length


def test_a_mirrored_motion_is_performed_as_well(g1):
    """The robot is symmetric: an arm that swings left or right is the same task."""
    motion = dip(g1)
    left, right = (g1.joint_names.index(f"{side}_shoulder_pitch_joint") for side in ("left", "right"))
    joints = motion.joint_pos.copy()
    joints[:, [left, right]] = joints[:, [right, left]]
    errors = [perform(reference(m), g1, "quick").deviation.mean() for m in (motion, replace(motion, joint_pos=joints))]
    assert errors[0] == pytest.approx(errors[1], abs=5e-4)


def test_deviations_are_the_judges(g1):
    from phuma.core.rollout import Rollout
    from phuma.evaluation import judge

    motion = reference(dip(g1))
    qpos = motion.qpos.copy()
    qpos[:, 0] += 0.02
    rollout = Rollout(g1.name, g1.joint_names, 50.0, *split_qpos(qpos), motion="m")
    total, count = judge(rollout, motion, g1).errors["mpjpe_global_mm"]
    assert 1000 * deviations(qpos, motion, g1).mean() == pytest.approx(total / count)
    assert total / count == pytest.approx(20.0)


def test_a_square_root_of_less_rank_is_the_nearest_there_is():
    """L' L keeps the greatest eigenvalues; of full rank it is the matrix itself."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(3, 6, 6))
    matrices = half @ half.swapaxes(1, 2)
    whole, part = square_root(matrices, 6), square_root(matrices, 2)
    np.testing.assert_allclose(whole.swapaxes(1, 2) @ whole, matrices, atol=1e-12)
    left = np.linalg.norm(matrices - part.swapaxes(1, 2) @ part, axis=(1, 2))
    np.testing.assert_allclose(left, np.sqrt((np.linalg.eigvalsh(matrices)[:, :4] ** 2).sum(axis=1)))
