"""What robots saw and did, handed out in batches."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.storage import Storage
from tests.learning.small_nets import JOINTS, any_observation

STEPS, ROBOTS = 6, 4


def numbered():
    """Every sample's number t E + e is in all that is stored of it."""
    own = Storage(STEPS, any_observation(ROBOTS), JOINTS)
    own.begin(torch.full((JOINTS,), -1.0))
    for t in range(STEPS):
        number = t * ROBOTS + torch.arange(ROBOTS)
        wide = number[:, None].float().expand(-1, JOINTS)
        seen = {name: torch.zeros_like(g) + number[:, None] for name, g in any_observation(ROBOTS).items()}
        own.add(seen, wide, wide + 0.5, number + 0.25, number * 2.0, number % 2 == 0)
    order = torch.arange(STEPS * ROBOTS).view(STEPS, ROBOTS).float()
    own.value[:], own.target[:], own.advantage[:] = order + 1, order + 2, order**2
    return own


def batches(own, epochs=1, minibatches=5, seed=0):
    return list(own.batches(epochs, minibatches, torch.Generator().manual_seed(seed)))


def test_each_epoch_has_each_sample_once():
    found = batches(numbered(), epochs=3, minibatches=5)
    assert len(found) == 15
    for epoch in range(3):
        numbers = torch.cat([b.action[:, 0] for b in found[5 * epoch : 5 * epoch + 5]])
        assert sorted(numbers.tolist()) == list(range(24))


def test_epochs_have_other_orders_and_a_seed_has_its_own():
    def orders(seed):
        found = batches(numbered(), epochs=2, minibatches=1, seed=seed)
        return [b.action[:, 0].tolist() for b in found]

    first, second = orders(0)
    assert first != second != list(range(24))
    assert orders(0) == [first, second]
    assert orders(1) != [first, second]


def test_what_belongs_to_a_sample_stays_together():
    for batch in batches(numbered()):
        number = batch.action[:, 0]
        for name, group in batch.observation.items():
            torch.testing.assert_close(group[:, 0].float(), number, msg=name)
        torch.testing.assert_close(batch.mean[:, 1], number + 0.5)
        torch.testing.assert_close(batch.log_likelihood, number + 0.25)
        torch.testing.assert_close(batch.value, number + 1)
        torch.testing.assert_close(batch.target, number + 2)
        torch.testing.assert_close(batch.log_std, torch.full((JOINTS,), -1.0))


def test_advantages_have_mean_nought_and_deviation_one_over_all_samples():
    found = batches(numbered())
    all_of_them = torch.cat([b.advantage for b in found])
    assert all_of_them.mean() == pytest.approx(0, abs=1e-5)
    assert all_of_them.std() == pytest.approx(1, abs=1e-4)
    assert abs(float(found[0].advantage.mean())) > 1e-3, "over all, not within each batch"
    numbers = torch.cat([b.action[:, 0] for b in found])
    expected = (numbers**2 - (numbers**2).mean()) / (numbers**2).std()
    torch.testing.assert_close(all_of_them, expected)


def test_rewards_and_ends_are_kept_by_step_and_robot():
    own = numbered()
    assert own.reward[2].tolist() == [16, 18, 20, 22]
    assert own.done[2].tolist() == [1, 0, 1, 0]
    assert own.flat()["goal"][:, 0].tolist() == list(range(24))
    assert own.flat()["future"].dtype == torch.int64


def test_it_begins_anew_with_the_spread_of_then():
    own, spread = numbered(), torch.zeros(JOINTS)
    own.begin(spread)
    spread += 5
    assert own.filled == 0
    assert own.log_std.tolist() == [0, 0, 0]
