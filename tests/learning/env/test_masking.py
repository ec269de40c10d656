"""Each rule by which masks are drawn has the frequency that it should have."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.learning.env import masking
from phuma.learning.env.conditions import ANY, CONDITIONS, ROLES
from phuma.learning.env.masking import Masks, masking_of

MANY = 40_000


def rng():
    return np.random.default_rng(0)


def test_every_number_of_bodies_is_as_likely_as_another_and_a_tenth_of_masks_are_of_few():
    share = np.bincount(masking.body_counts(rng(), MANY), minlength=len(ROLES) + 1) / MANY
    few, many = 0.9 / 6 + 0.1 / 3, 0.9 / 6
    np.testing.assert_allclose(share, [0, few, few, few, many, many, many], atol=0.01)


def test_every_body_is_as_likely_as_another():
    counts = np.full(MANY, 2)
    shown = masking.shown_bodies(rng(), counts)
    assert (shown.sum(1) == 2).all()
    np.testing.assert_allclose(shown.mean(0), 2 / len(ROLES), atol=0.01)


def test_position_rotation_and_both_are_equally_likely():
    kinds = masking.shown_kinds(rng(), MANY)
    assert kinds.any(-1).all()
    np.testing.assert_allclose(kinds.all(-1).mean(), 1 / 3, atol=0.01)
    np.testing.assert_allclose(kinds.mean((0, 1)), 2 / 3, atol=0.01)


def test_a_tenth_of_masks_show_everything_and_none_shows_nothing():
    drawn = masking.drawn_masks(rng(), MANY)
    assert drawn.any((1, 2)).all()
    by_chance = 0.9 * (0.9 / 6) * (1 / 3) ** 6
    assert drawn.all((1, 2)).mean() == pytest.approx(0.1 + by_chance, abs=0.01)


def test_gaps_begin_with_a_tenth_and_last_1_to_16():
    begun = masking.next_gaps(rng(), np.zeros(MANY, dtype=int))
    assert (begun > 0).mean() == pytest.approx(0.1, abs=0.01)
    lengths = begun[begun > 0]
    assert (lengths.min(), lengths.max()) == (1, 16)
    assert lengths.mean() == pytest.approx(8.5, abs=0.3)
    np.testing.assert_array_equal(masking.next_gaps(rng(), np.array([5, 2])), [4, 1])


def test_masks_are_kept_for_98_of_100_steps_and_a_fifth_tells_of_the_far_frame():
    masks = Masks(masking_of(ANY, 3, 1, 20), MANY, rng())
    masks.begin(np.arange(MANY))
    assert masks.far.mean() == pytest.approx(0.2, abs=0.01)
    before = masks.mask.copy()
    masks.advance()
    changed = (masks.mask != before).any((1, 2)).mean()
    assert changed == pytest.approx(0.02, abs=0.004)


@pytest.mark.parametrize("name", [name for name in CONDITIONS if name != ANY])
def test_a_condition_is_told_all_the_time(name):
    masks = Masks(masking_of(name, 3, 1, 20), 4, rng())
    masks.begin(np.arange(4))
    for _ in range(50):
        masks.advance()
    seen = masks.visible(np.arange(4))
    assert seen.shape == (4, 4, len(ROLES), 2)
    own = CONDITIONS[name]
    assert seen[:, :3].sum() == 4 * 3 * len(own.roles) * len(own.kinds)
    assert not seen[:, 3].any()  # the far frame


def test_a_gap_hides_near_frames_alone():
    masks = Masks(masking_of(ANY, 3, 1, 20), 2, rng())
    masks.begin(np.arange(2))
    masks.gap[:], masks.far[:] = (3, 0), True
    seen = masks.visible(np.arange(2))
    assert not seen[0, :3].any()
    assert seen[0, 3].any()
    assert seen[1, :3].any()
