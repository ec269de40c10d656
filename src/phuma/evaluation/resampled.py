"""Estimate means and differences of means by a bootstrap over recordings and seeds, paired where two are compared.

Clips of one recording are alike, and so are trainings that begin from one seed: what is independent, and drawn anew,
are recordings and seeds. Two samples are compared on the same draws, so that what is hard for both does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.evaluation.summary import RESAMPLES, SEED, wilson

FEWEST = 6
"""Recordings below which no difference is told: that all of five agree happens by chance more often than one in twenty
times, by the sign test"""


class Interval(NamedTuple):
    """A value and its 95 % interval; the ends are None where there are too few recordings to say."""

    value: float
    low: float | None
    high: float | None

    @property
    def tells(self) -> bool:
        """Return whether the interval of a difference excludes zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Sums of values by seed and recording, and how many values each is of; what there is none of has a count of 0."""

    total: Array
    """(S, R) sums"""
    count: Array
    """(S, R) numbers of values"""

    @property
    def value(self) -> float:
        """Return sum(total) / sum(count); NaN of nothing."""
        count = self.count.sum()
        return float(self.total.sum() / count) if count else float("nan")


def estimate(sample: Sample) -> Interval:
    """Return the mean of a sample with its interval."""
    return _interval(sample.value, _means(sample, *_draws(sample)), sample, least=2)


def estimate_share(sample: Sample) -> Interval:
    """Return a mean percentage with its interval; where all draws are alike, as where nothing succeeds, Wilson's."""
    found, recordings = estimate(sample), int((sample.count.sum(axis=0) > 0).sum())
    if found.low is None or found.low != found.high:
        return found
    low, high = wilson(found.value / 100, recordings)
    return Interval(found.value, 100 * low, 100 * high)


def compare(one: Sample, other: Sample) -> Interval:
    """Return mean(one) - mean(other) on the same draws of seeds and recordings; both have the same of these."""
    assert one.total.shape == other.total.shape, "only samples of the same seeds and recordings are pairs"
    draws = _draws(one)
    gaps = _means(one, *draws) - _means(other, *draws)
    return _interval(one.value - other.value, gaps, one, other, least=FEWEST)


def _draws(sample: Sample) -> tuple[Array, Array]:
    """Return (B, S) and (B, R): how often each seed and each recording is drawn in B resamples."""
    rng = np.random.default_rng(SEED)
    seeds, recordings = (rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) for n in sample.total.shape)
    return seeds, recordings


def _means(sample: Sample, seeds: Array, recordings: Array) -> Array:
    """Return (B,) means of resamples: sum_sr u_s w_r total_sr / sum_sr u_s w_r count_sr; NaN of nothing."""
    total, count = ((seeds @ x * recordings).sum(axis=1) for x in (sample.total, sample.count))
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def _interval(value: float, means: Array, *samples: Sample, least: int) -> Interval:
    known = means[np.isfinite(means)]
    if not len(known) or any((sample.count.sum(axis=0) > 0).sum() < least for sample in samples):
        return Interval(value, None, None)
    low, high = np.percentile(known, [2.5, 97.5])
    return Interval(value, float(low), float(high))
