"""Where attempts begin: anywhere in any motion, and more often shortly before what fails."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phuma.learning.references import References
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.rotations import Array

BIN = round(0.5 * CONTROL_RATE)
"""frames"""
UNIFORM = 0.3
"""Share of attempts that begin anywhere"""
MEMORY, PASSAGES = 200, 10
"""Control steps that are remembered, and more where these are fewer than so many passages through each bin"""
BEFORE = 0.7
"""What of a bin's failures counts for the bin before it, from which an attempt can prepare for them"""
PRIOR = 1.0
"""Passages that a bin is thought to have had, half of them failed, before there was any"""


class Sampler:
    """Draws first frames; learns from what failed where."""

    def __init__(self, references: References, rng: np.random.Generator) -> None:
        self.references, self.rng = references, rng
        lengths = references.last - references.first + 1
        bins = np.maximum(lengths // BIN, 1)
        start = np.concatenate([[0], np.cumsum(bins)[:-1]])
        inside = np.arange(len(references)) - references.first[references.clip_of]
        self.bin_of = start[references.clip_of] + np.minimum(inside // BIN, bins[references.clip_of] - 1)
        self.bin_first = np.searchsorted(self.bin_of, np.arange(bins.sum()))
        self.bin_end = np.append(self.bin_first[1:], len(references))
        self.ends_clip = np.append(np.diff(references.clip_of[self.bin_first]) > 0, True)
        self.passed = np.zeros(len(self.bin_first))
        self.failed = np.zeros(len(self.bin_first))

    def draw(self, rows: Array) -> Array:
        """A frame to begin at for each of the robots `rows`; never a motion's last, as nothing comes after it."""
        count = len(rows)
        chosen = self.rng.choice(len(self.bin_first), size=count, p=self.probabilities())
        first, end = self.bin_first[chosen], self.bin_end[chosen] - self.ends_clip[chosen]
        return first + np.floor(self.rng.random(count) * np.maximum(end - first, 1)).astype(int)

    def record(self, frames: Array, failed: Array) -> None:
        """A control step reached these frames; in some it `failed`, a bool each."""
        bins, left = self.bin_of[frames], 1 - 1 / self.memory(len(frames))
        self.passed = left * self.passed + np.bincount(bins, minlength=len(self.passed)) / BIN
        self.failed = left * self.failed + np.bincount(bins[failed], minlength=len(self.failed))

    def memory(self, robots: int) -> float:
        """Control steps after which what so many robots did is forgotten."""
        return max(MEMORY, PASSAGES * BIN * len(self.passed) / max(robots, 1))

    def snapshot(self) -> dict[str, Array]:
        """What was learned of failures."""
        return {"passed": self.passed, "failed": self.failed}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        self.passed, self.failed = (arrays[name].copy() for name in ("passed", "failed"))

    def failure(self) -> Array:
        """(bins,) estimated share of passages that fail."""
        return np.minimum((self.failed + 0.5 * PRIOR) / (self.passed + self.failed + PRIOR), 1.0)

    def probabilities(self) -> Array:
        """(bins,) of beginning there."""
        weight = self.failure()
        weight[:-1] += BEFORE * np.where(self.ends_clip[:-1], 0.0, weight[1:])
        return UNIFORM / len(weight) + (1 - UNIFORM) * weight / weight.sum()
