"""The estimator: what it says is how far the robot is off, and the law of the motion's certificate acts on that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.errors import ConfigError, PhumaError
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.env.deviation import UNSENSED, units
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes.recipe import recipe_named
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import try_out
from phuma.sim.coordinates import Coordinates
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import dip, stand

STAGE = "estimator"


def motions(robot) -> MotionLibrary:
    out = MotionLibrary(robot)
    out.add("still", stand(robot), None, made_up(robot, stand(robot), 0.01))
    out.add("down", dip(robot), None, made_up(robot, dip(robot), 0.02))
    return out


def settings(**environment):
    cfg = recipe_named("estimator").settings()
    own = cfg.stages[STAGE]
    own = replace(
        own, environment=own.environment.changed(environments=8, **environment),
        network=replace(own.network, hidden=(16,)), algorithm=replace(own.algorithm, horizon=4, updates=8, memory=64),
    )  # fmt: skip
    return replace(cfg, stages={STAGE: own})


@pytest.fixture
def runner(g1):
    out = StageRunner(motions(g1), settings(), STAGE, threads=1)
    yield out
    out.simulation.close()


def test_the_truth_as_an_action_is_what_the_law_aims_at(runner):
    """And the place on the floor does not matter."""
    env, simulation = runner.env, runner.simulation
    (truth,) = runner.task.estimated
    law = env.references.law
    expected, _ = law(Coordinates(simulation.qpos.copy(), simulation.qvel.copy()), env.frame)
    aimed = []
    simulation.step, step = (lambda target: (aimed.append(target.copy()), step(target))[1]), simulation.step
    env.step(runner.observation[truth.name].numpy())
    np.testing.assert_allclose(aimed[0], expected, atol=2e-4)


def test_it_learns_the_truth(runner):
    """Its labels are the deviations themselves, what is far off counting less."""
    label = runner._labeller()(runner.observation)
    np.testing.assert_array_equal(label.action, runner.observation["truth"])
    np.testing.assert_allclose(label.cost, runner.observation["truth"].square().sum(-1))
    before = runner.iterate()["imitation_loss"]
    for _ in range(20):
        after = runner.iterate()["imitation_loss"]
    assert after < 0.5 * before


def test_without_layers_it_says_what_is_sensed(runner):
    net = runner.net.actor
    with torch.no_grad():
        net.layers[-1].weight.zero_()
        net.layers[-1].bias.zero_()
    said = net({name: runner.observation[name] for name in net.observed})
    assert not said[:, :UNSENSED].any()
    newest = runner.observation["past"][:, -1]
    np.testing.assert_allclose(said[:, UNSENSED:].detach().numpy() * units(29)[UNSENSED:], newest, rtol=1e-5)


def test_it_goes_on_to_the_last_bit(g1, runner):
    for _ in range(3):
        runner.iterate()
    stored = runner.snapshot()
    other = StageRunner(motions(g1), settings(), STAGE, threads=1)
    other.restore(stored)
    one, two = runner.iterate(), other.iterate()
    other.simulation.close()
    assert one == two
    for name, values in runner.snapshot().items():
        np.testing.assert_array_equal(values, other.snapshot()[name], err_msg=name)


@pytest.mark.slow
def test_its_file_does_as_it_does(g1, runner, tmp_path):
    """An exported policy follows motions that it never saw as the run's does, if they are certified."""
    runner.iterate()
    info = info_of(g1, "estimator", STAGE, settings().stages[STAGE].environment)
    policy = TorchPolicy(runner.net, info)
    export_policy(policy, tmp_path / "policy.onnx")
    stored = load_onnx(tmp_path / "policy.onnx")
    assert [each["name"] for each in stored.info.inputs] == ["past", "reference", "estimate"]
    library = MotionLibrary(g1)
    library.add("deep", dip(g1, depth=0.2), None, made_up(g1, dip(g1, depth=0.2), 0.0))
    (one,), (two,) = (list(try_out(each, library)) for each in (policy, stored))
    np.testing.assert_allclose(one.qpos, two.qpos, atol=1e-4)


def test_what_is_not_certified_is_named(g1, runner):
    library = MotionLibrary(g1)
    library.add("bare", dip(g1))
    policy = TorchPolicy(runner.net, info_of(g1, "estimator", STAGE, settings().stages[STAGE].environment))
    with pytest.raises(
        PhumaError, match=r"bare is not certified, and this policy acts by certificates: `phuma certify`"
    ):
        list(try_out(policy, library))


def test_there_is_no_other_way_to_it():
    with pytest.raises(ConfigError, match="does not begin from 'scratch'; it does from: experts"):
        recipe_named("estimator").settings(begin="scratch")
