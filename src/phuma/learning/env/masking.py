"""Masks: which of the coming motion a masked policy is told, drawn anew all the time in training.

A mask is (E, bodies, 2) bool: whether the position and the rotation of each of `conditions.ROLES` are told, in all near
frames alike. Gaps hide near frames for a while; one far frame is told now and then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.learning.env.conditions import ANY, CONDITIONS, KINDS, ROLES

FEW, FEW_SHARE = 3, 0.1
"""Most bodies of a mask of few, and the share of such masks"""
ALL_SHARE = 0.1
"""Share of masks that show everything"""
KEPT = 0.98
"""Share of control steps after which a mask stays as it is"""
GAP_SHARE, LONGEST_GAP = 0.1, 16
"""Share of control steps outside of gaps at which one begins, and its most control steps"""
FAR_SHARE = 0.2
"""Share of masks with which the far frame is told"""


@dataclass(frozen=True)
class Masking:
    """What a masked policy can be told: frames, and the condition by which they are masked."""

    near: tuple[int, ...]
    """Control steps of the near frames after the coming one."""
    far: int
    """Control steps of the far frame after the coming one."""
    condition: str
    """One of CONDITIONS."""
    changing: bool = False
    """Whether masks are drawn at random, as for `any` in training."""

    @property
    def offsets(self) -> Array:
        """Return (K,) control steps of all frames after the coming one."""
        return np.array([*self.near, self.far])


def fixed_mask(condition: str) -> Array:
    """Return (bodies, 2) bool: the mask of a condition."""
    own = CONDITIONS[condition]
    return np.array([[role in own.roles and kind in own.kinds for kind in KINDS] for role in ROLES])


def body_counts(rng: np.random.Generator, count: int) -> Array:
    """Return (count,) how many bodies masks show: 1 to all of them or, with FEW_SHARE, 1 to FEW, one number as likely
    as another."""
    most = np.where(rng.random(count) < FEW_SHARE, FEW, len(ROLES))
    return 1 + np.floor(rng.random(count) * most).astype(int)


def shown_bodies(rng: np.random.Generator, counts: Array) -> Array:
    """Return (E, bodies) bool: so many bodies of each mask, each as likely as another."""
    order = rng.random((len(counts), len(ROLES))).argsort(axis=1).argsort(axis=1)
    return order < counts[:, None]


def shown_kinds(rng: np.random.Generator, count: int) -> Array:
    """Return (count, bodies, 2) bool: of each body the position, the rotation or both, one as likely as another."""
    which = rng.integers(0, 3, (count, len(ROLES)))
    return np.stack([which != 1, which != 0], axis=-1)


def drawn_masks(rng: np.random.Generator, count: int) -> Array:
    """Return (count, bodies, 2) bool: random masks; with ALL_SHARE one shows everything."""
    bodies = shown_bodies(rng, body_counts(rng, count))
    masks = bodies[:, :, None] & shown_kinds(rng, count)
    return masks | (rng.random(count) < ALL_SHARE)[:, None, None]


def next_gaps(rng: np.random.Generator, gaps: Array) -> Array:
    """Return (E,) the control steps that are left of gaps after one more: one begins with GAP_SHARE, and lasts 1 to
    LONGEST_GAP."""
    begun = (gaps == 0) & (rng.random(len(gaps)) < GAP_SHARE)
    return np.where(begun, rng.integers(1, LONGEST_GAP + 1, len(gaps)), np.maximum(gaps - 1, 0))


class Masks:
    """The masks of E environments as they change."""

    def __init__(self, cfg: Masking, count: int, rng: np.random.Generator) -> None:
        self.cfg, self.rng = cfg, rng
        self.mask = np.tile(fixed_mask(cfg.condition), (count, 1, 1))
        self.far = np.zeros(count, dtype=bool)
        self.gap = np.zeros(count, dtype=int)

    def begin(self, rows: Array) -> None:
        """Draw the masks of environments whose episodes begin."""
        if self.cfg.changing:
            self._draw(rows)
            self.gap[rows] = 0

    def advance(self) -> None:
        """Let a control step go by."""
        if self.cfg.changing:
            self._draw(np.flatnonzero(self.rng.random(len(self.gap)) >= KEPT))
            self.gap = next_gaps(self.rng, self.gap)

    def visible(self, rows: Array) -> Array:
        """Return (E, K, bodies, 2) in single precision: 1 where an environment of `rows` is told; the far frame
        is the last."""
        near = self.mask[rows] & (self.gap[rows] == 0)[:, None, None]
        far = self.mask[rows] & self.far[rows][:, None, None]
        return np.stack([*[near] * len(self.cfg.near), far], axis=1).astype(np.float32)

    def snapshot(self) -> dict[str, Array]:
        """Return the masks as arrays, by names."""
        return {"mask": self.mask, "far": self.far, "gap": self.gap}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Continue from a snapshot."""
        self.mask, self.far, self.gap = (arrays[name].copy() for name in ("mask", "far", "gap"))

    def _draw(self, rows: Array) -> None:
        self.mask[rows] = drawn_masks(self.rng, len(rows))
        self.far[rows] = self.rng.random(len(rows)) < FAR_SHARE


def masking_of(condition: str, frames: int, stride: int, far: int) -> Masking:
    """Return the masking of so many near frames, so many control steps apart."""
    near = tuple(stride * k for k in range(frames))
    return Masking(near, max(far, near[-1] + 1), condition, changing=condition == ANY)
