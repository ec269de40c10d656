"""What a policy is told can be chosen where it was trained for that, with gaps as long as in training."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.errors import ConfigError
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.env.masking import Masks, fixed_mask, masking_of
from phuma.learning.env.telling import LONGEST, told_by


def seen(told, steps=100):
    """(steps, frames, bodies, 2): what an environment is told in each of so many control steps."""
    masks = Masks(masking_of("pelvis", 3, 5, 50), 1, np.random.default_rng(0))
    out = []
    for step in range(steps):
        told.put_on(masks, step)
        out.append(masks.visible(np.array([0]))[0])
    return np.array(out)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_at_first_it_is_told_what_it_was_trained_for(condition):
    shown = seen(told_by(condition))
    np.testing.assert_array_equal(shown[:, :3], np.broadcast_to(fixed_mask(condition), (100, 3, 6, 2)))
    assert not shown[:, 3].any()


def test_one_thing_changes_at_a_time():
    first = told_by("any")
    fewer = first.changed("left_hand", "rotation", False)
    differs = np.argwhere(seen(first)[0] != seen(fewer)[0])
    np.testing.assert_array_equal(differs, [[frame, 4, 1] for frame in range(3)])
    np.testing.assert_array_equal(seen(fewer.changed("left_hand", "rotation", True)), seen(first))
    assert seen(first.with_far(True))[:, 3].all()


def test_a_gap_hides_near_frames_for_so_long_in_every_second():
    shown = seen(told_by("any").with_gap(0.2).with_far(True), steps=200)
    hidden = ~shown[:, :3].any(axis=(1, 2, 3))
    np.testing.assert_array_equal(hidden.reshape(4, 50).sum(axis=1), [10] * 4)
    assert np.abs(np.diff(hidden.astype(int))).sum() == 7, "one gap a second"
    assert shown[:, 3].all()


@pytest.mark.parametrize("condition", sorted(set(CONDITIONS) - {"any"}))
def test_who_was_trained_for_one_thing_says_what_would_do(condition):
    told = told_by(condition)
    for change in (
        lambda: told.changed("head", "position", True), lambda: told.with_gap(0.1), lambda: told.with_far(True),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=f"cannot be chosen: .* told {condition} alone, .* by --condition any"):
            change()


def test_what_there_is_not_is_named():
    told = told_by("any")
    with pytest.raises(ConfigError, match="no position of 'tail'; there are position, rotation of pelvis, head, "):
        told.changed("tail", "position", True)
    for wrong in (-0.1, LONGEST + 0.01, float("nan")):
        with pytest.raises(ConfigError, match=r"expected 0 to 0\.32, as in training"):
            told.with_gap(wrong)
