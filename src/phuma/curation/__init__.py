"""Stage 1: from a recording to clips that are physically plausible, each with its verdict."""

from phuma.curation.config import PRESETS, CurateCfg
from phuma.curation.pipeline import Curation, curate, curate_parts, too_short

__all__ = ["PRESETS", "CurateCfg", "Curation", "curate", "curate_parts", "too_short"]
