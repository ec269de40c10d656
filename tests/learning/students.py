"""Students of MaskedMimic that learned nothing, for tests: they see what they are told, and fall."""

from __future__ import annotations

from dataclasses import replace

import torch

from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.nets.config import TransformerCfg
from phuma.learning.recipes.recipe import CPU, EXPERTS, recipe_named
from phuma.learning.run.runner import StageRunner
from phuma.robots import Robot
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import stand

SMALL = {"width": 16, "layers": 2, "heads": 2, "feedforward": 16, "embedding": (16,), "hidden": (16,), "critic": (16,)}


def student(robot: Robot, condition: str, action: float = 1.0) -> TorchPolicy:
    """A student that is told what a condition says; its actions are so many times those of its network."""
    library = MotionLibrary(robot)
    library.add("still", stand(robot), None, made_up(robot, stand(robot), 0.0))
    cfg = recipe_named("maskedmimic").settings(CPU, stage="student", teacher=EXPERTS)
    cfg = cfg.with_environment(condition=condition)
    own = cfg.stages["student"]
    own = replace(
        own, environment=replace(own.environment, environments=1), network=TransformerCfg(**SMALL),
        algorithm=replace(own.algorithm, horizon=4, updates=1, batch=4, memory=8),
    )  # fmt: skip
    torch.manual_seed(0)
    net = StageRunner(library, replace(cfg, stages={"student": own}), "student", threads=1).net
    with torch.no_grad():
        last = net.actor.layers[-1]
        last.weight.mul_(action)
        last.bias.mul_(action)
    return TorchPolicy(net, info_of(robot, cfg.algo, "student", own.environment))
