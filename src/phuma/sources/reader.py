"""Every reader of recordings has the same shape.

A reader is a module of this package with three names: `FORMAT`, `recognises(probe)` and `read(probe, cfg)`. Axes, units
and rates are settled there; what comes out is z-up, in metres, with its true rate. Adding a format is adding one such
module to the list in `registry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Literal, Protocol

from phuma.core.human_motion import HumanMotion
from phuma.errors import ConfigError, ReadError
from phuma.io.probe import Probe

MAX_FRAMES = 2_000_000
"""Frames of one recording: eighteen hours at 30 Hz, for which about 1.5 GB of memory are taken"""


@dataclass(frozen=True)
class ReadCfg:
    """Choose how recordings are read.

    >>> phuma.read("walk.bvh", phuma.ReadCfg(start=0.5, end=1.5)).duration
    1.0
    """

    body: str = "open"
    """Whose body SMPL data is put on: `open` (from tables, fitted to each recording) or `smplx:FILE_OR_FOLDER` (your
    licensed SMPL-X model, .npz or .pkl; a folder may hold one file per gender). BVH brings its own skeleton."""
    fps: float | Literal["auto"] | None = None
    """The recording's true frame rate, where the file has none or a wrong one; auto halves or doubles the file's where
    flights show that it plays at twice or half its speed"""
    start: float | None = None
    """Seconds into each recording at which to begin"""
    end: float | None = None
    """Seconds into each recording at which to stop"""
    joint_map: Path | None = None
    """JSON file that says which joint of a BVH skeleton is which: see docs/bvh.md"""

    def __post_init__(self) -> None:
        if isinstance(self.fps, str) and self.fps != "auto":
            raise ConfigError(f"a frame rate of {self.fps!r}; expected between 5 and 1000 Hz, or auto")
        if self.rate is not None and not 5 <= self.rate <= 1000:
            raise ConfigError(f"a frame rate of {self.rate:g} Hz; expected between 5 and 1000 Hz")
        start, end = 0.0 if self.start is None else self.start, inf if self.end is None else self.end
        if not (isfinite(start) and 0 <= start < end):
            raise ConfigError(f"from {start:g} s to {end:g} s is no part of a recording; expected 0 <= start < end")

    @property
    def rate(self) -> float | None:
        """Return the frame rate in Hz that the user gives; None where the file's holds."""
        return None if isinstance(self.fps, str) else self.fps


def check_length(path: Path, frames: int) -> None:
    """Raise an error for a recording of more frames than are read, before memory is taken for them."""
    if frames > MAX_FRAMES:
        raise ReadError(
            path, f"has {frames:,} frames; at most {MAX_FRAMES:,} are read as one recording: cut it into several files"
        )


class Reader(Protocol):
    """A reader module has these names."""

    FORMAT: str
    """Short name, for example `amass-smplx`"""

    def recognises(self, probe: Probe) -> bool:
        """Return whether the file's content, not its name, is of this format. Only headers are read."""
        ...

    def read(self, probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
        """Return the people in the recording, at the file's own rate, uncut.

        `registry.read_all` applies start and end.
        """
        ...
