"""Solve the normal equations of a whole film: frames are coupled to the next two, and all of them to a few numbers.

The matrix is an arrow: a band over time, and a border for what is the same in all frames. Pairs of frames are
eliminated one after another, so that time and memory grow with the number of frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array


@dataclass(eq=False)
class Arrow:
    """Normal equations of T frames of V unknowns each, and G unknowns that all frames share."""

    own: Array
    """(T, V, V)"""
    following: Array
    """(T - 1, V, V), a frame (rows) with the next one (columns)"""
    second: Array
    """(T - 2, V), each unknown with itself two frames on"""
    border: Array
    """(T, V, G)"""
    corner: Array
    """(G, G)"""
    slope: Array
    """(T, V), the gradient"""
    corner_slope: Array
    """(G,)"""
    cost: float = 0.0

    @staticmethod
    def empty(frames: int, size: int, shared: int) -> Arrow:
        """Return equations without a term."""
        return Arrow(
            np.zeros((frames, size, size)),
            np.zeros((max(frames - 1, 0), size, size)),
            np.zeros((max(frames - 2, 0), size)),
            np.zeros((frames, size, shared)),
            np.zeros((shared, shared)),
            np.zeros((frames, size)),
            np.zeros(shared),
        )

    def step(self, damping: float, hold: bool = False) -> tuple[Array, Array]:
        """Return the step (T, V) of the frames and that of what they share (G,), zero if that is held, with so much of
        the diagonal added."""
        solved = self._band(np.concatenate([self.border, self.slope[..., None]], axis=-1), damping)
        shared = np.zeros(len(self.corner_slope))
        if not hold:
            across = np.tensordot(self.border, solved, axes=([0, 1], [0, 1]))
            corner = self.corner + np.diag(damping * np.diag(self.corner) + 1e-12)
            shared = -np.linalg.solve(corner - across[:, :-1], self.corner_slope - across[:, -1])
        return -solved[..., -1] - solved[..., :-1] @ shared, shared

    def _band(self, right: Array, damping: float) -> Array:
        """Return (T, V, K): the band's inverse times right (T, V, K), by elimination of pairs of frames."""
        frames, size = self.slope.shape
        pairs = (frames + 1) // 2
        known = np.zeros((pairs, 2 * size, right.shape[-1]))
        known.reshape(2 * pairs, size, -1)[:frames] = right
        ahead: list[Array] = []
        couples = np.zeros((2 * size, 2 * size))
        for i in range(pairs):
            block, beyond = self._pair(i, damping)
            if i:
                block -= couples.T @ ahead[-1]
                known[i] -= couples.T @ known[i - 1]
            solved = np.linalg.solve(block, np.concatenate([known[i], beyond], axis=1))
            known[i], couples = solved[:, : right.shape[-1]], beyond
            ahead.append(solved[:, right.shape[-1] :])
        for i in range(pairs - 2, -1, -1):
            known[i] -= ahead[i] @ known[i + 1]
        return known.reshape(2 * pairs, size, -1)[:frames]

    def _pair(self, i: int, damping: float) -> tuple[Array, Array]:
        """Return (2 V, 2 V) the equations of frames 2 i and 2 i + 1, and (2 V, 2 V) what couples them to the next
        two; a frame beyond the last one is alone and stays."""
        frames, size = self.slope.shape
        a, b = 2 * i, 2 * i + 1
        block, beyond = np.eye(2 * size), np.zeros((2 * size, 2 * size))
        for n, t in ((0, a), (1, b)):
            if t < frames:
                own = slice(n * size, (n + 1) * size)
                block[own, own] = self.own[t]
                block[own, own] += np.diag(damping * np.diag(self.own[t]) + 1e-9)
            if t + 2 < frames:
                beyond[n * size + np.arange(size), n * size + np.arange(size)] = self.second[t]
        if b < frames:
            block[:size, size:] = self.following[a]
            block[size:, :size] = self.following[a].T
        if b + 1 < frames:
            beyond[size:, :size] = self.following[b]
        return block, beyond
