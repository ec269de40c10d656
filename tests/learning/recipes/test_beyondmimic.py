"""BeyondMimic as the paper's authors ran it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.recipes.recipe import SCRATCH, recipe_named
from phuma.learning.run.runner import StageRunner
from tests.learning.sample_motions import library


def few(cfg):
    """The same with two environments, and networks small enough for a test."""
    stage = cfg.stages["policy"]
    network = replace(stage.network, hidden=(16,), encoder=(6, 8), channels=(5, 4))
    environment = replace(stage.environment, environments=2)
    return replace(cfg, stages={"policy": replace(stage, environment=environment, network=network)})


def test_the_paper_s_values():
    stage = recipe_named("beyondmimic").settings("paper", begin=SCRATCH).stages["policy"]
    own = stage.algorithm
    assert (own.learning_rate, own.critic_rate, own.desired_kl, own.weight_decay) == (1e-5, None, 0.01, 0.0)
    assert (stage.environment.first, stage.environment.environments, own.horizon) == (0.2, 8192, 24)
    assert (stage.network.name, stage.network.encoder, stage.network.channels) == ("conv", (60, 128), (40, 20))


@pytest.mark.slow
def test_an_update_by_the_paper_s_values_and_the_policy_as_a_file_that_is_run_without_torch(g1, tmp_path):
    cfg = few(recipe_named("beyondmimic").settings("paper", begin=SCRATCH))
    runner = StageRunner(library(g1), cfg, "policy", threads=1)
    assert runner.iterate()["learning_rate"] >= 1e-5
    info = info_of(g1, "beyondmimic", "policy", cfg.stages["policy"].environment)
    torch.nn.init.normal_(runner.net.actor.layers[-1].weight)
    policy = TorchPolicy(runner.net, info)
    export_policy(policy, tmp_path / "conv.onnx")
    found = load_onnx(tmp_path / "conv.onnx")
    observation, features = runner.env.observe(), runner.env.references.features
    np.testing.assert_allclose(
        found.act(observation, features), policy.act(observation, features), rtol=1e-4, atol=1e-4
    )
