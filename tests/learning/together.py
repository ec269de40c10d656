"""A script for torchrun: update a small network on this process's share of a batch, and save what came of it.

python -m torch.distributed.run --standalone --nproc_per_node 2 -m tests.learning.together OUT
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from phuma.learning.algorithms.algorithm import Algorithm, Outcome
from phuma.learning.algorithms.config import DistillationCfg
from phuma.learning.algorithms.distillation import Distillation, Label
from phuma.learning.algorithms.ppo import PPO
from phuma.learning.algorithms.storage import Batch
from phuma.learning.nets.actor_critic import Actor
from phuma.runtime.distributed import joined, number, processes
from tests.learning.small_nets import JOINTS, any_observation, small_net, small_stage

ENVIRONMENTS, HORIZON, ROUNDS = 8, 4, 3
ALGORITHMS = ("ppo", "distillation")


class Whole(Distillation):
    """Distillation whose batches are all samples of the last round: nothing is drawn."""

    def update(self, observation):
        fields = {name: values.flatten(0, 1) for name, values in self.storage.fields.items()}
        self.memory.draw = lambda count, generator: Batch(self.storage.flat(), fields)  # type: ignore[method-assign]
        return super().update(observation)


def made(algorithm: str, environments: int) -> Algorithm:
    stage = small_stage(horizon=HORIZON, minibatches=1, epochs=3, desired_kl=0.001, weight_decay=0.01)
    net, observation, generator = small_net(stage), any_observation(environments), torch.Generator().manual_seed(0)
    if algorithm == "ppo":
        return PPO(net, stage.algorithm, observation, generator)
    cfg = DistillationCfg(horizon=HORIZON, updates=3, average=0.5)
    student = Actor(net.actor)
    student.features = net.features
    return Whole(student, cfg, observation, generator, lambda o: Label(o["goal"][:, :JOINTS], o["goal"][:, 4].abs()))


def learn(algorithm: Algorithm, mine: slice) -> dict[str, np.ndarray]:
    """Let it learn from these of the environments; actions, rewards and ends are given."""
    for turn in range(ROUNDS):
        rng = np.random.default_rng(turn)
        for step in range(HORIZON):
            seen = {k: v[mine] for k, v in any_observation(ENVIRONMENTS, 10 * turn + step).items()}
            reward = torch.from_numpy(rng.normal(2, 3, ENVIRONMENTS).astype(np.float32))[mine]
            ended = torch.from_numpy(rng.random(ENVIRONMENTS) < 0.2)[mine]
            push = torch.from_numpy(rng.normal(size=(ENVIRONMENTS, JOINTS)).astype(np.float32))[mine]
            action = algorithm.act(seen).detach() * 0 + push
            algorithm.record(seen, action, Outcome(reward, ended, torch.zeros_like(ended), None))
        algorithm.update({k: v[mine] for k, v in any_observation(ENVIRONMENTS, 99).items()})
        algorithm.net.see(algorithm.storage.flat())
    state = {name: value.numpy() for name, value in algorithm.net.state_dict().items()}
    return {"rate": np.array(algorithm.rate), **state}


if __name__ == "__main__":
    torch.set_num_threads(1)
    with joined("cpu"):
        own = ENVIRONMENTS // processes()
        for algorithm in ALGORITHMS:
            result = learn(made(algorithm, own), slice(number() * own, (number() + 1) * own))
            np.savez(f"{sys.argv[1]}_{algorithm}_{number()}.npz", **result)
