"""Run the policy of a training run by torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from phuma.core.rotations import Array
from phuma.errors import PhumaError, ReadError
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import Actor
from phuma.learning.nets.weights import load_weights
from phuma.learning.recipes.recipe import recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.robots.robot import Robot


class TorchPolicy:
    """A policy that acts by the mean of what was learned, without noise."""

    def __init__(self, net: Actor, info: PolicyInfo) -> None:
        self.net, self.info = net, info

    @torch.no_grad()
    def act(self, observation: Observation, features: Mapping[str, Array]) -> Array:
        device = next(self.net.parameters()).device
        given = {name: torch.as_tensor(group, device=device) for name, group in observation.items()}
        frames = {name: torch.as_tensor(values, device=device) for name, values in features.items()}
        return self.net.actor(given, frames).cpu().numpy()


def policy_of_run(folder: RunFolder, robot: Robot, stage: str | None = None) -> TorchPolicy:
    """Return the policy of a run's stage, by default the last one that has a checkpoint; every fault of the checkpoint
    is a ReadError."""
    torch.set_num_threads(1)
    run = folder.info()
    stage = stage or folder.reached_stage()
    info = run.policy(stage)
    info.check(robot)
    recipe, cfg = recipe_named(run.cfg.algo), run.cfg.stages[stage]
    arrays = folder.load(stage)
    try:
        task = recipe.task(stage, cfg.environment)
        net = recipe.stages[stage].network(task, task.tracked(robot), cfg.network)
        load_weights(net, arrays)
        steps = int(arrays["counts"][1])
    except (PhumaError, RuntimeError, TypeError, ValueError, LookupError) as e:
        raise ReadError(folder.checkpoint(stage), f"is not of this run: {e}") from None
    net.eval().requires_grad_(False)
    return TorchPolicy(net, replace(info, steps=steps))
