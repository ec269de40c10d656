"""Where results may be kept that can be made again at any time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_dir"]


def cache_dir() -> Path:
    """The user's cache folder of this program, which need not exist: PHUMA_CACHE, or the system's place for it."""
    chosen = os.environ.get("PHUMA_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "phuma"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "phuma"
