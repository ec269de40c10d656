"""A training that no longer improves comes to its end before its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATIENCE, GAIN = 4, 1.0
"""Evaluations in a row without a gain of so many points, after which nothing more is expected"""
LAST = 0.2
"""How long coming to its end takes, as a share of the time that was spent before"""
BEST = 200.0
"""Points of an evaluation in which every rollout succeeds at both distances"""


class Settling:
    """Notice when evaluations no longer improve, and bring a training to its end early: what is left of its course,
    in which learning rates fall, takes a part of the time that it has taken so far."""

    def __init__(self) -> None:
        self._best, self._waited = float("-inf"), 0
        self._from: tuple[float, float] | None = None

    def add(self, evaluation: Mapping[str, Any]) -> None:
        """Note an evaluation."""
        score = evaluation["success_0.5"] + evaluation["success_0.15"]
        better = score > self._best + GAIN
        self._best, self._waited = max(score, self._best), 0 if better else self._waited + 1

    @property
    def over(self) -> bool:
        """Return whether nothing more is to be gained; where nothing was gained yet, all is."""
        return self._best > 0 and self._waited >= (1 if self._best >= BEST else PATIENCE)

    def progress(self, progress: float, seconds: float) -> float:
        """Return the share of the training that is over, from the share of its budget and the seconds spent."""
        if self._from is None and self.over:
            self._from = progress, seconds
        if self._from is None:
            return progress
        share, at = self._from
        return max(progress, share + (1 - share) * (seconds - at) / (LAST * at))
