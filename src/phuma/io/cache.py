"""The cache folder keeps results that can be made again at any time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_dir"]


def cache_dir() -> Path:
    """Return the user's cache folder of this program, PHUMA_CACHE or the system's folder for caches.

    It need not exist.
    """
    chosen = os.environ.get("PHUMA_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "phuma"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "phuma"
