"""A network that remembers estimates what no sensor reads, and acts on the estimate alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.nets.actor_critic import GroupNet
from phuma.learning.nets.config import MLPCfg
from tests.learning.small_nets import JOINTS, OWN, group

PAST, SPEED = replace(group("past", 2), history=4), group("speed", 1)


def net() -> GroupNet:
    torch.manual_seed(0)
    return GroupNet((OWN, PAST), None, MLPCfg(hidden=(8,), encoder=(4, 8), estimator=(32,)), JOINTS, (SPEED,))


def seen(count: int, seed: int = 0) -> dict:
    """Places at which something was, and its speed: what it went in the last step."""
    generator = torch.Generator().manual_seed(seed)
    past = torch.randn(count, 4, 2, generator=generator)
    own = torch.randn(count, 7, generator=generator)
    return {"proprioception": own, "past": past, "speed": (past[:, 3] - past[:, 2])[:, :1]}


def test_what_no_sensor_reads_is_learned_from_the_past():
    own = net()
    optimizer = torch.optim.Adam(own.parameters(), lr=1e-2)
    before = own.estimation_loss(seen(500, 1)).item()
    for n in range(200):
        optimizer.zero_grad()
        own.estimation_loss(seen(64, n)).backward()
        optimizer.step()
    assert own.estimation_loss(seen(500, 1)).item() < 0.05 * before


def test_the_policy_sees_the_past_through_the_estimate_alone():
    """Two pasts of the same estimate give the same action; and what the policy learns does not change the estimator."""
    own, observation = net(), seen(5)
    other = {**observation, "past": observation["past"].flip(0)}
    assert not torch.equal(own(observation), own(other))
    with torch.no_grad():
        for parameter in own.estimator.parameters():
            parameter.zero_()
    assert torch.equal(own(observation), own(other))
    own = net()
    own(observation).sum().backward()
    assert all(parameter.grad is None for parameter in own.estimator.parameters())


def test_the_truth_is_not_needed_to_act():
    observation = seen(3)
    del observation["speed"]
    assert net()(observation).shape == (3, JOINTS)
