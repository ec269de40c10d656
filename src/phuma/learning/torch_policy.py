"""The policy of a training run, as it learned it."""

from __future__ import annotations

from dataclasses import replace

import torch

from phuma.errors import PhumaError, ReadError
from phuma.learning.groups import future_group, goal_group, proprioception_group
from phuma.learning.mdp.observations import FUTURE_FRAMES
from phuma.learning.networks import ActorCritic
from phuma.learning.policy import PolicyInfo
from phuma.learning.run import RunFolder
from phuma.learning.task import Observation
from phuma.learning.trainer import load_net
from phuma.robots.robot import Robot
from phuma.rotations import Array


class TorchPolicy:
    """Acts by the mean of what was learned, without noise."""

    def __init__(self, net: ActorCritic, info: PolicyInfo) -> None:
        self.net, self.info = net, info

    @property
    def base(self) -> str:
        return self.info.base

    @torch.no_grad()
    def act(self, observation: Observation, features: Array) -> Array:
        device = self.net.log_std.device
        given = {name: torch.as_tensor(group, device=device) for name, group in observation.items()}
        return self.net.actor(given, torch.as_tensor(features, device=device)).cpu().numpy()


def policy_of_run(folder: RunFolder, robot: Robot) -> TorchPolicy:
    """The last checkpoint of a run on this robot; every fault of it is a ReadError."""
    torch.set_num_threads(1)
    run = folder.info()
    run.policy.check(robot)
    joints, bodies = robot.n_joints, len(robot.key_bodies)
    own, goal, future = proprioception_group(joints), goal_group(joints, ""), future_group(joints, bodies)
    widths = {"proprioception": own.shape[0], "goal": goal.shape[0], "critic": 5 * joints + 9 * bodies + 12}
    example = {name: torch.zeros(1, width) for name, width in widths.items()}
    example["future"] = torch.zeros(1, FUTURE_FRAMES, dtype=torch.long)
    arrays = folder.load()
    try:
        net = ActorCritic(example, torch.zeros(1, future.shape[1]), joints, run.cfg)
        load_net(net, arrays)
        steps = int(arrays["counts"][1])
    except (PhumaError, RuntimeError, TypeError, ValueError, LookupError) as e:
        raise ReadError(folder.checkpoint, f"is not of this run: {e}") from None
    net.eval().requires_grad_(False)
    return TorchPolicy(net, replace(run.policy, steps=steps))
