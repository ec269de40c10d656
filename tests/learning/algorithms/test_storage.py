"""What environments observed and did, handed out in batches."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.storage import Storage
from tests.learning.small_nets import JOINTS, any_observation

STEPS, ROBOTS = 6, 4


def numbered():
    """Every sample's number t E + e is in all that is stored of it, fields of several shapes among it."""
    own = Storage(STEPS, any_observation(ROBOTS), {"action": (JOINTS,), "label": (2, 3), "reward": (), "done": ()})
    for t in range(STEPS):
        number = t * ROBOTS + torch.arange(ROBOTS)
        wide = number[:, None].float().expand(-1, JOINTS)
        seen = {name: torch.zeros_like(g) + number[:, None] for name, g in any_observation(ROBOTS).items()}
        label = (number + 0.5)[:, None, None].expand(-1, 2, 3)
        own.add(seen, action=wide, label=label, done=number % 2 == 0)
    own["reward"][:] = 2 * torch.arange(STEPS * ROBOTS).view(STEPS, ROBOTS)
    return own


def batches(own, epochs=1, minibatches=5, seed=0):
    return list(own.batches(epochs, minibatches, torch.Generator().manual_seed(seed)))


def test_each_epoch_has_each_sample_once():
    found = batches(numbered(), epochs=3, minibatches=5)
    assert len(found) == 15
    for epoch in range(3):
        numbers = torch.cat([b.fields["action"][:, 0] for b in found[5 * epoch : 5 * epoch + 5]])
        assert sorted(numbers.tolist()) == list(range(24))


def test_epochs_have_other_orders_and_a_seed_has_its_own():
    def orders(seed):
        found = batches(numbered(), epochs=2, minibatches=1, seed=seed)
        return [b.fields["action"][:, 0].tolist() for b in found]

    first, second = orders(0)
    assert first != second != list(range(24))
    assert orders(0) == [first, second]
    assert orders(1) != [first, second]


def test_what_belongs_to_a_sample_stays_together():
    for batch in batches(numbered()):
        number = batch.fields["action"][:, 0]
        for name, group in batch.observation.items():
            torch.testing.assert_close(group[:, 0].float(), number, msg=name)
        torch.testing.assert_close(batch.fields["label"][:, 1, 2], number + 0.5)
        torch.testing.assert_close(batch.fields["reward"], 2 * number)


def test_fields_are_kept_by_step_and_environment():
    own = numbered()
    assert own["reward"][2].tolist() == [16, 18, 20, 22]
    assert own["done"][2].tolist() == [1, 0, 1, 0]
    assert own.flat()["goal"][:, 0].tolist() == list(range(24))
    assert own.flat()["future"].dtype == torch.int64


def test_it_begins_anew():
    own = numbered()
    assert own.filled == STEPS
    own.begin()
    assert own.filled == 0
