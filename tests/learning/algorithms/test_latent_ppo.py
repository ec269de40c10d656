"""PPO of a teacher that knows: its guess learns in iterations of its own, and nothing else does then."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.config import LatentPPOCfg
from phuma.learning.algorithms.latent_ppo import LatentPPO
from tests.learning.nets.test_latent_net import FEATURES, seen, teacher

CFG = LatentPPOCfg(horizon=2, epochs=2, minibatches=2, guess_every=3, std=(0.3, 0.6), learning_rate=1e-3)


def algorithm(cfg=CFG) -> LatentPPO:
    net = teacher()
    net.use(FEATURES)
    return LatentPPO(net, cfg, seen(), torch.Generator().manual_seed(0))


def iterate(own: LatentPPO, times: int = 1) -> dict[str, float]:
    for _ in range(times):
        for n in range(own.cfg.horizon):
            observation = seen(seed=n)
            action = own.act(observation)
            never = torch.zeros(len(action), dtype=torch.bool)
            own.record(observation, action, Outcome(-(action**2).sum(-1), ~never, never, None))
        told = own.update(seen())
    return told


def parts(own: LatentPPO) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in own.net.named_parameters()}


def changed(before, after) -> set[str]:
    return {".".join(name.split(".")[:2]) for name in before if not torch.equal(before[name], after[name])}


def test_every_third_iteration_acts_by_the_guess_and_the_guess_alone_learns():
    own = algorithm()
    for n in range(6):
        before = parts(own)
        guessing = n % 3 == 2
        assert own.guessing == guessing
        own.act(seen())
        expected = own.net.label(seen(), FEATURES) if guessing else own.net.mean(seen())
        torch.testing.assert_close(own._mean, expected)
        iterate(own)
        learned = changed(before, parts(own))
        if guessing:
            assert learned == {"actor.history_encoder"}
        else:
            assert {"actor.layers", "actor.privileged_encoder", "critic.layers"} <= learned
            assert "actor.history_encoder" not in learned


def test_the_regulariser_rises_along_a_line():
    own = algorithm()
    weights = []
    for own.progress in (0.0, 0.05, 0.1, 1.0):
        weights.append(own.weight)
    np.testing.assert_allclose(weights, [0, 0.05, 0.1, 0.1])


@pytest.mark.parametrize(("entropy", "bound"), [(10.0, 0.6), (-10.0, 0.3)])
def test_the_actions_deviation_stays_within_its_bounds(entropy, bound):
    own = algorithm(LatentPPOCfg(horizon=2, minibatches=1, std=(0.3, 0.6), entropy=entropy, critic_rate=0.1))
    iterate(own, 8)
    torch.testing.assert_close(own.net.log_std.exp(), torch.full((3,), bound))


def test_a_training_that_was_stored_goes_on_as_it_would_have():
    one, other = algorithm(), algorithm()
    iterate(one, 4)
    other.restore(one.snapshot())
    other.net.load_state_dict(one.net.state_dict())
    other.generator.set_state(one.generator.get_state())
    for own in (one, other):
        iterate(own, 3)
    for (name, a), b in zip(parts(one).items(), parts(other).values()):
        assert torch.equal(a, b), name
