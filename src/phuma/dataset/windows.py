"""Windows of a dataset's motions as PyTorch loads them: pieces of one length at one rate, as tensors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import Dataset as TorchDataset

from phuma.core.robot_motion import RobotMotion
from phuma.errors import ConfigError

if TYPE_CHECKING:
    from phuma.dataset.dataset import Dataset

REMEMBERED = 64
"""Motions that are kept in memory by each process that loads"""


class Window(NamedTuple):
    """Where a window lies."""

    clip: int
    """Number of the clip in `entries`"""
    first: int
    """Its first frame at the windows' rate"""


class Windows(TorchDataset):
    """All whole windows of the kept clips of one robot; each is a dict of tensors in single precision.

    `root_pos` (T, 3) m, `root_quat` (T, 4) wxyz, `joint_pos` (T, N) rad, `contact` (T, 4) in [0, 1]; beside them
    `clip`, the clip's id, and `start`, seconds into it. Clips that are shorter than a window have none.
    """

    def __init__(self, dataset: Dataset, seconds: float, fps: float, stride: float | None, robot: str | None) -> None:
        robots = sorted({str(entry.row["robot"]) for entry in dataset})
        robot = robot or (robots[0] if len(robots) == 1 else None)
        if robot not in robots:
            raise ConfigError(f"windows are of one robot; {dataset!r} has {', '.join(robots) or 'no clip'}: robot=NAME")
        self.fps, self.frames = float(fps), round(seconds * fps)
        step = self.frames if stride is None else round(stride * fps)
        if not (self.frames >= 1 and step >= 1):
            raise ConfigError(f"windows of {seconds:g} s every {stride} s at {fps:g} Hz; expected at least one frame")
        self.entries = [entry for entry in dataset if entry.row["robot"] == robot and entry.row["file"]]
        self.joint_names: tuple[str, ...] | None = None
        self.windows = [
            Window(clip, first)
            for clip, entry in enumerate(self.entries)
            for first in range(0, frames_at(entry.row, self.fps) - self.frames + 1, step)
        ]
        if not self.windows:
            longest = max((row["frames"] / row["fps"] for row in (entry.row for entry in self.entries)), default=0.0)
            raise ConfigError(
                f"windows of {seconds:g} s; the longest clip of {dataset!r} on {robot} has {longest:.1f} s"
            )
        self._motion = lru_cache(maxsize=REMEMBERED)(self._read)

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        window = self.windows[index]
        motion, rows = self._motion(window.clip), slice(window.first, window.first + self.frames)
        arrays = {name: getattr(motion, name)[rows] for name in ("root_pos", "root_quat", "joint_pos", "contact")}
        tensors = {name: torch.from_numpy(values.astype(np.float32)) for name, values in arrays.items()}
        return {**tensors, "clip": self.entries[window.clip].id, "start": window.first / self.fps}

    def __getstate__(self) -> dict[str, Any]:  # workers begin without the motions that are in memory here
        return {name: value for name, value in vars(self).items() if name != "_motion"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._motion = lru_cache(maxsize=REMEMBERED)(self._read)

    def _read(self, clip: int) -> RobotMotion:
        """Return a motion at the windows' rate, with the joints in the order of the first one that was read."""
        motion = self.entries[clip].motion().resample(self.fps)
        return motion.reordered(self.joint_order(motion))

    def joint_order(self, motion: RobotMotion) -> tuple[str, ...]:
        """Return the joints' order of the first motion that was read."""
        self.joint_names = self.joint_names or motion.joint_names
        return self.joint_names


def frames_at(row: dict[str, Any], fps: float) -> int:
    """Return how many frames a clip has at another rate, from its first frame to its last."""
    return int((row["frames"] - 1) / row["fps"] * fps + 1e-9) + 1
