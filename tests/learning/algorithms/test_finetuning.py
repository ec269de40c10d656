"""Fine-tuning by hand: the critic learns alone at first, then labels hold the policy, and their hold fades."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.config import FinetuningCfg
from phuma.learning.algorithms.distillation import LARGEST, Label, imitation_loss
from phuma.learning.algorithms.finetuning import Finetuning
from tests.learning.small_nets import JOINTS, any_observation, small_net

ENVIRONMENTS, HORIZON = 32, 4
CFG = FinetuningCfg(horizon=HORIZON, learning_rate=1e-3, desired_kl=0.0, anchor=10.0)


def finetuning(label: float = 0.7, cost: float = 0.0) -> Finetuning:
    """A teacher that always says the same."""

    def teacher(observation):
        count = len(observation["goal"])
        return Label(torch.full((count, JOINTS), label), torch.full((count,), cost))

    return Finetuning(small_net(), CFG, any_observation(ENVIRONMENTS), torch.Generator().manual_seed(0), teacher)


def updated(algorithm: Finetuning, progress: float, times: int = 1) -> None:
    """Updates in which nothing that is done is better than anything else."""
    algorithm.progress = progress
    for n in range(times):
        for t in range(HORIZON):
            observation = any_observation(ENVIRONMENTS, seed=100 * n + t)
            action = algorithm.act(observation)
            no = torch.zeros(ENVIRONMENTS, dtype=torch.bool)
            algorithm.record(observation, action, Outcome(torch.ones(ENVIRONMENTS), no, no, None))
        algorithm.update(any_observation(ENVIRONMENTS, seed=9))


def off(algorithm: Finetuning) -> float:
    """How far mean actions are from the label."""
    mean = algorithm.net.mean(any_observation(200, seed=77)).detach()
    return float(imitation_loss(mean, torch.full_like(mean, 0.7), torch.ones(len(mean))))


def weights(module) -> list:
    return [value.clone() for value in module.state_dict().values()]


def same(one: list, other: list) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other))


def test_at_first_the_critic_learns_alone():
    algorithm = finetuning()
    actor, critic, std = weights(algorithm.net.actor), weights(algorithm.net.critic), algorithm.net.log_std.clone()
    updated(algorithm, progress=0.5 * CFG.warmup)
    assert same(actor, weights(algorithm.net.actor))
    assert torch.equal(std, algorithm.net.log_std)
    assert not same(critic, weights(algorithm.net.critic))
    updated(algorithm, progress=CFG.warmup)
    assert not same(actor, weights(algorithm.net.actor))


def test_labels_hold_the_policy_and_their_hold_fades():
    far = off(finetuning())
    held, late, untrusted = finetuning(), finetuning(), finetuning(cost=1e9)
    updated(held, progress=CFG.warmup, times=40)
    updated(late, progress=1.0, times=40)
    updated(untrusted, progress=CFG.warmup, times=40)
    assert off(held) < 0.1 * far
    assert off(late) > 0.5 * far, "at the end PPO has its own way"
    assert off(untrusted) > 0.5 * far, "a teacher that is far from its way is not believed"


def test_a_label_asks_for_no_more_than_motors_give():
    algorithm = finetuning(label=1e6)
    updated(algorithm, progress=0.0)
    assert algorithm.storage["label"].max() == LARGEST
