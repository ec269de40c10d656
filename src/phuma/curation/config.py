"""Configure curation: settings and presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contacts_by_height
from phuma.contacts.stance import contacts_that_stand
from phuma.core.curation_metrics import DYNAMIC, MENDING, PAPER
from phuma.core.foot_contacts import FootContacts
from phuma.core.metric import Metric
from phuma.core.names import known_name
from phuma.errors import ConfigError

PRESETS: Mapping[str, tuple[Metric, ...]] = {"paper": PAPER, "dynamic": DYNAMIC}
"""Filters of each preset; every one is declared with its limit"""
CONTACTS: Mapping[str, Callable[[Evidence], FootContacts]] = {
    "stance": contacts_that_stand,
    "paper": contacts_by_height,
}
"""Estimators of contacts by name"""
PRESET_CONTACTS: Mapping[str, str] = {"paper": "paper", "dynamic": "stance"}
"""Contacts of each preset, where none are asked for"""

PRESET_MENDS: Mapping[str, bool] = {"paper": False, "dynamic": True}
"""Whether each preset mends recordings, where nobody says"""


@dataclass(frozen=True)
class CurateCfg:
    """Settings by which recordings become clips.

    >>> cfg = phuma.CurateCfg(preset="paper", clip_seconds=2.0)
    >>> len(phuma.curate(phuma.generate("walk", 4.0).motion, cfg).clips)
    3
    """

    preset: str = "dynamic"
    """Set of filters and thresholds: paper (the paper's), dynamic (support judged by forces)"""
    ground: float | None = None
    """Height of the ground in the recording's own frame, in metres; voted from the soles by default"""
    contacts: str | None = None
    """Contacts: stance (what stands, by height, speed and forces), paper (by height alone, low swing feet too); by
    default paper with preset paper, else stance"""
    mend: bool | None = None
    """Mend recordings before they are judged: level, steady, set down and hold still what feet and forces show to be
    off; by default with preset dynamic alone"""
    retime: bool = False
    """Halve or double the frame rate of a recording whose flights show that it plays at twice or half its speed"""
    rate: float = 30.0
    """Frame rate of the clips in Hz"""
    root_cutoff: float = 3.0
    """Cutoff in Hz of the low-pass filter on the pelvis' path"""
    rotation_cutoff: float = 6.0
    """Cutoff in Hz of the low-pass filter on rotations"""
    band: float = 0.025
    """Distance from the ground in m within which a sole point counts as in contact"""
    clip_seconds: float = 4.0
    """Length of a clip in seconds"""
    overlap_seconds: float = 0.5
    """Overlap of neighbouring clips in seconds"""
    min_seconds: float = 1.0
    """Length in seconds of the shortest last piece that is still a clip"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "preset", known_name(self.preset, PRESETS, "preset"))
        if self.contacts is not None:
            object.__setattr__(self, "contacts", known_name(self.contacts, CONTACTS, "contacts"))
        if self.ground is not None and not isfinite(self.ground):
            raise ConfigError(f"the ground cannot be at {self.ground}; expected metres")
        if not 5 <= self.rate <= 1000:
            raise ConfigError(f"clips at {self.rate:g} Hz; expected between 5 and 1000")
        if not 0 < max(self.root_cutoff, self.rotation_cutoff) < self.rate / 2:
            raise ConfigError(f"cutoffs must lie between 0 and half the rate, {self.rate / 2:g} Hz")
        if not (self.band > 0 and 0 <= self.overlap_seconds < self.clip_seconds and self.min_seconds > 0):
            raise ConfigError(
                "band, clip_seconds and min_seconds are above zero, overlap_seconds less than clip_seconds"
            )

    @property
    def estimator(self) -> str:
        """Return the name of the contacts: those asked for, else the preset's."""
        return self.contacts or PRESET_CONTACTS[self.preset]

    @property
    def mends(self) -> bool:
        """Return whether recordings are mended: as asked for, else as the preset does."""
        return PRESET_MENDS[self.preset] if self.mend is None else self.mend

    @property
    def resolved(self) -> dict[str, Any]:
        """Return all settings, with the contacts and the mending that they come to."""
        return {**asdict(self), "contacts": self.estimator, "mend": self.mends}

    @property
    def limits(self) -> dict[str, float]:
        """Return the limits of the preset's filters, and of mends, by the metrics' names."""
        metrics = (*PRESETS[self.preset], *(MENDING if self.mends else ()))
        return {metric.name: metric.limit for metric in metrics if metric.limit is not None}
