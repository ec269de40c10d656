"""Compare two evaluations of the same motions: how much more or less of them succeeds, with a 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from phuma.evaluation.judging import SUCCESS
from phuma.evaluation.summary import wilson


class Difference(NamedTuple):
    """A difference of success rates in percentage points, with its interval."""

    points: float
    low: float
    high: float

    @property
    def loses(self) -> bool:
        """Return whether the interval is below zero as a whole."""
        return self.high < 0


def difference(one: Mapping[str, Any], other: Mapping[str, Any], share: str = SUCCESS) -> Difference:
    """Return what `one` document of `summarise` has more than `other` of the same motions, by Newcombe's interval for
    paired shares:

        low = d - sqrt((p - l)^2 - 2 r (p - l) (u' - p') + (u' - p')^2),  high alike with the other ends,

    where d = p - p', [l, u] and [l', u'] are Wilson's intervals of p and p', and r correlates the motions' shares; 0
    where either evaluation has them all alike. A single motion is compared by its rollouts, as if they were not pairs.
    """
    of_one, of_other = (_by_motion(document, share) for document in (one, other))
    assert of_one.keys() == of_other.keys(), "only evaluations of the same motions can be compared"
    values = np.array([[of_one[name], of_other[name]] for name in of_one])
    count = len(values) if len(values) > 1 else one["total"]["rollouts"]
    p, q = values.mean(axis=0)
    related = float(np.corrcoef(values.T)[0, 1]) if values.std(axis=0).all() else 0.0
    (low_p, high_p), (low_q, high_q) = wilson(p, count), wilson(q, count)

    def reach(own: float, others: float) -> float:
        return float(np.sqrt(max(own**2 - 2 * related * own * others + others**2, 0.0)))

    low, high = p - q - reach(p - low_p, high_q - q), p - q + reach(high_p - p, q - low_q)
    return Difference(100 * float(p - q), 100 * float(max(low, -1.0)), 100 * float(min(high, 1.0)))


def _by_motion(document: Mapping[str, Any], share: str) -> dict[str, float]:
    return {row["motion"]: row[share] / 100 for row in document["motions"]}
