"""What curation is told, and its presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from phuma.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """Thresholds of the six filters of preset `paper`. The defaults are the paper's (appendix A.1)."""

    root_jerk: float = 50.0
    """m/s^3, mean over the clip; at most"""
    contact_score: float = 0.6
    """mean over frames of the best region's contact ratio; at least"""
    pelvis_min: float = 0.6
    """m, lowest height of the pelvis; at least"""
    pelvis_max: float = 1.5
    """m, greatest height of the pelvis; at most"""
    pelvis_support: float = 0.06
    """m, mean distance of the pelvis to the base of support; at most"""
    spine_support: float = 0.11
    """m, mean distance of spine1 to the base of support; at most"""


@dataclass(frozen=True)
class DynamicLimits:
    """Thresholds of preset `dynamic`; all are upper ones. docs/curation.md says what each metric is."""

    helping_force: float = 0.15
    """body weights, the most in the mean over a second"""
    sole_slide: float = 0.15
    """m/s, lower quartile"""
    ground_drift: float = 0.03
    """m/s"""
    ground_tilt: float = 4.0
    """degrees"""
    shake: float = 3.0
    """mm"""


PRESETS: Mapping[str, Limits | DynamicLimits] = {"paper": Limits(), "dynamic": DynamicLimits()}


@dataclass(frozen=True)
class CurateCfg:
    """How recordings become clips."""

    preset: str = "paper"
    """Set of filters and thresholds: paper (the paper's), dynamic (support judged by forces)"""
    ground: float | None = None
    """Height of the ground in the recording's own frame, in metres; voted from the soles by default"""
    rate: float = 30.0
    """Frames a second of the clips"""
    root_cutoff: float = 3.0
    """Hz, low-pass on the pelvis' path"""
    rotation_cutoff: float = 6.0
    """Hz, low-pass on rotations"""
    band: float = 0.025
    """m, how near to the ground a sole point counts as in contact"""
    clip_seconds: float = 4.0
    """Length of a clip"""
    overlap_seconds: float = 0.5
    """By how much clips overlap"""
    min_seconds: float = 1.0
    """Shortest last piece that is still a clip"""

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ConfigError(f"unknown preset {self.preset!r}; there are: {', '.join(PRESETS)}")
        if self.ground is not None and not isfinite(self.ground):
            raise ConfigError(f"the ground cannot be at {self.ground}; expected metres")
        if not 5 <= self.rate <= 1000:
            raise ConfigError(f"clips of {self.rate:g} frames a second; expected between 5 and 1000")
        if not 0 < max(self.root_cutoff, self.rotation_cutoff) < self.rate / 2:
            raise ConfigError(f"cutoffs must lie between 0 and half the rate, {self.rate / 2:g} Hz")
        if not (self.band > 0 and 0 <= self.overlap_seconds < self.clip_seconds and self.min_seconds > 0):
            raise ConfigError(
                "band, clip_seconds and min_seconds are above zero, overlap_seconds less than clip_seconds"
            )

    @property
    def limits(self) -> Limits | DynamicLimits:
        return PRESETS[self.preset]
