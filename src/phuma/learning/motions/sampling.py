"""Sample where episodes begin: anywhere in any motion, and more often shortly before what fails."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phuma.core.rotations import Array
from phuma.learning.motions.references import References
from phuma.sim.model import CONTROL_RATE

BIN = round(0.5 * CONTROL_RATE)
"""Length of a bin in frames"""
UNIFORM = 0.3
"""Share of episodes that begin anywhere"""
MEMORY, PASSAGES = 200, 10
"""Control steps that are remembered; more, where these are fewer than PASSAGES passages through each bin"""
BEFORE = 0.7
"""Share of a bin's failures that counts for the bin before it, in which an episode can prepare for them"""
PRIOR = 1.0
"""Passages that a bin is assumed to have had, half of them failed, before there was any"""


class Sampler:
    """A sampler of first frames that learns from what failed where. A share `first` of episodes begins at the first
    frame of the motion that was drawn."""

    def __init__(self, references: References, rng: np.random.Generator, first: float = 0.0) -> None:
        self.references, self.rng, self.first = references, rng, first
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
        """Return a frame to begin at for each of the environments `rows`; never a motion's last."""
        count = len(rows)
        chosen = self.rng.choice(len(self.bin_first), size=count, p=self.probabilities())
        first, end = self.bin_first[chosen], self.bin_end[chosen] - self.ends_clip[chosen]
        frames = first + np.floor(self.rng.random(count) * np.maximum(end - first, 1)).astype(int)
        if not self.first:
            return frames
        begins = self.references.first[self.references.clip_of[frames]]
        return np.where(self.rng.random(count) < self.first, begins, frames)

    def record(self, frames: Array, failed: Array) -> None:
        """Record a control step that reached these frames; `failed` is a bool per frame."""
        bins, left = self.bin_of[frames], 1 - 1 / self.memory(len(frames))
        self.passed = left * self.passed + np.bincount(bins, minlength=len(self.passed)) / BIN
        self.failed = left * self.failed + np.bincount(bins[failed], minlength=len(self.failed))

    def memory(self, environments: int) -> float:
        """Return the control steps after which the outcomes of so many environments are forgotten."""
        return max(MEMORY, PASSAGES * BIN * len(self.passed) / max(environments, 1))

    def snapshot(self) -> dict[str, Array]:
        """Return what was learned of failures."""
        return {"passed": self.passed, "failed": self.failed}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot."""
        self.passed, self.failed = (arrays[name].copy() for name in ("passed", "failed"))

    def failure(self) -> Array:
        """Return (bins,) the estimated share of passages that fail."""
        return np.minimum((self.failed + 0.5 * PRIOR) / (self.passed + self.failed + PRIOR), 1.0)

    def probabilities(self) -> Array:
        """Return (bins,) the probability that an episode begins in each bin."""
        weight = self.failure()
        weight[:-1] += BEFORE * np.where(self.ends_clip[:-1], 0.0, weight[1:])
        return UNIFORM / len(weight) + (1 - UNIFORM) * weight / weight.sum()
