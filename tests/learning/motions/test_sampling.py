"""Where attempts begin: anywhere, more often shortly before what fails, and never across motions."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.learning.motions.references import References
from phuma.learning.motions.sampling import BIN, MEMORY, PASSAGES, Sampler

LENGTHS = (BIN - 1, 2 * BIN + 10, 5 * BIN + 5)
"""frames: one bin, two bins, five bins"""
NONE = np.array([], dtype=int)


def sampler(seed=0, lengths=LENGTHS):
    """Of motions of which nothing is known but their lengths."""
    lengths = np.array(lengths)
    first = np.cumsum(lengths) - lengths
    clip_of = np.repeat(np.arange(len(lengths)), lengths)
    references = References(np.arange(len(lengths)), first, first + lengths - 1, clip_of, None, None, None)
    return Sampler(references, np.random.default_rng(seed))


def fail(sampler, frame, times=20):
    for _ in range(times):
        sampler.record(np.array([frame]), np.array([True]))


def chances(sampler):
    """(F,) of beginning at each frame: its bin's, shared evenly."""
    count = np.bincount(sampler.bin_of)
    count[np.append(np.diff(sampler.references.clip_of[sampler.bin_first]) > 0, True)] -= 1
    out = (sampler.probabilities() / count)[sampler.bin_of]
    out[sampler.references.last] = 0.0
    return out


def test_bins_are_half_seconds_of_one_motion_each():
    own = sampler()
    assert len(own.bin_first) == 8
    assert (np.diff(own.bin_of) >= 0).all()
    for b in range(8):
        frames = np.flatnonzero(own.bin_of == b)
        assert len(set(own.references.clip_of[frames])) == 1
        assert BIN - 1 <= len(frames) < 2 * BIN, "what is left at a motion's end joins its last bin"
        assert (frames[0], frames[-1] + 1) == (own.bin_first[b], own.bin_end[b])


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happened_chances_are_positive_and_sum_to_one(seed):
    own, rng = sampler(), np.random.default_rng(seed)
    for _ in range(200):
        frames = rng.integers(0, len(own.references), 16)
        own.record(frames, rng.random(16) < 0.3 * (frames > 40))
    assert own.probabilities().sum() == pytest.approx(1)
    assert (own.probabilities() > 0).all()


def test_every_frame_can_be_drawn_but_a_motion_s_last():
    own = sampler()
    drawn = np.bincount(own.draw(np.arange(30_000)), minlength=len(own.references))
    assert set(np.flatnonzero(drawn == 0)) == set(own.references.last)


def test_draws_follow_the_chances():
    own, count = sampler(), 40_000
    fail(own, own.references.first[2] + 3 * BIN)
    share, drawn = chances(own), np.bincount(own.draw(np.arange(count)), minlength=len(own.references))
    assert share.sum() == pytest.approx(1)
    spread = np.sqrt(count * share * (1 - share))
    assert (np.abs(drawn - count * share) <= 5 * spread).all()


def test_what_fails_is_begun_more_often_and_so_is_what_comes_before_it():
    own = sampler()
    before = own.probabilities()
    frame = own.references.first[2] + 3 * BIN + 4
    fail(own, frame)
    after, b = own.probabilities(), own.bin_of[frame]
    assert after[b] > before[b]
    assert after[b - 1] > before[b - 1]
    others = np.delete(np.arange(8), [b - 1, b])
    assert (after[others] < before[others]).all()


def test_a_failure_at_a_motion_s_beginning_says_nothing_of_the_motion_before_it():
    own = sampler()
    before = own.probabilities()
    frame = own.references.first[2]
    fail(own, frame)
    after, b = own.probabilities(), own.bin_of[frame]
    assert after[b] > before[b]
    assert (np.delete(after, b) < np.delete(before, b)).all()


def test_what_is_passed_is_begun_less_often():
    own = sampler()
    before = own.probabilities()
    frames = np.flatnonzero(own.bin_of == 4)
    for _ in range(20):
        own.record(frames, np.zeros(len(frames), dtype=bool))
    assert own.probabilities()[4] < before[4]


def test_who_fails_always_counts_more_than_who_fails_seldom():
    own = sampler()
    seldom, often = (np.flatnonzero(own.bin_of == b) for b in (4, 6))
    for k in range(40):
        own.record(seldom, np.arange(len(seldom)) == (0 if k % 10 == 0 else -1))
        own.record(often, np.arange(len(often)) == 0)
    failure = own.failure()
    assert 0 <= failure[4] < failure[6] <= 1


def test_failures_are_forgotten():
    own = sampler()
    before = own.probabilities()
    fail(own, 40)
    for _ in range(math.ceil(math.log(1e-9) / math.log(1 - 1 / own.memory(0)))):
        own.record(NONE, NONE.astype(bool))
    np.testing.assert_allclose(own.probabilities(), before, atol=1e-6)


def test_many_motions_are_remembered_longer_so_that_each_piece_is_known():
    """Else a failure in a large library is forgotten before the piece comes again."""
    own, rng = sampler(lengths=[4 * BIN] * 100), np.random.default_rng(0)
    assert own.memory(10_000) == MEMORY
    for _ in range(3 * int(own.memory(64))):
        own.record(rng.integers(0, len(own.references), 64), np.zeros(64, dtype=bool))
    assert own.passed.mean() == pytest.approx(PASSAGES, rel=0.1)
    assert own.failure().max() < 0.2


def test_a_failure_counts_whoever_else_is_there():
    """Several robots in one bin in one control step: each is counted."""
    one, many = sampler(), sampler()
    for _ in range(5):
        one.record(np.array([40]), np.array([True]))
        many.record(np.array([40, 40, 41]), np.array([True, True, True]))
    np.testing.assert_allclose(many.failed, 3 * one.failed, rtol=0.01)
    np.testing.assert_allclose(many.passed, 3 * one.passed, rtol=0.01)


def test_a_restored_sampler_goes_on_as_the_first_would_have():
    own, other = sampler(seed=1), sampler(seed=1)
    fail(own, 40)
    taken = own.snapshot()
    other.restore(taken)
    np.testing.assert_array_equal(own.probabilities(), other.probabilities())
    np.testing.assert_array_equal(own.draw(np.arange(9)), other.draw(np.arange(9)))
    kept = {name: value.copy() for name, value in taken.items()}
    fail(own, 100)
    fail(other, 100)
    np.testing.assert_array_equal(own.probabilities(), other.probabilities())
    for name, value in kept.items():
        np.testing.assert_array_equal(taken[name], value, err_msg="a snapshot does not change afterwards")


def test_a_share_of_episodes_begins_with_a_motion_and_the_others_as_they_would():
    own, count = sampler(), 40_000
    fail(own, own.references.first[2] + 3 * BIN)
    share = 0.8 * chances(own)
    np.add.at(share, own.references.first, 0.2 * np.bincount(own.references.clip_of, chances(own)))
    own.first = 0.2
    drawn = np.bincount(own.draw(np.arange(count)), minlength=len(own.references))
    assert share.sum() == pytest.approx(1)
    assert (np.abs(drawn - count * share) <= 5 * np.sqrt(count * share * (1 - share))).all()
