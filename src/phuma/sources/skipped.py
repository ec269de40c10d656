"""Say which files of a folder were not looked at because of their names, and what those of known kinds are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from phuma.core.words import count_of
from phuma.errors import ConfigError, PhumaError
from phuma.formats.other_files import what_is
from phuma.io.probe import Probe
from phuma.sources.registry import SUFFIXES, skipped

SHOWN = 6
"""Endings that are named, the most frequent first"""
QUIET = {".txt", ".md", ".json", ".html", ".pdf", ".log", ".yaml", ".yml", ".py", ".sh", ""}
"""Endings of which nobody expects that they are motion"""


def skipped_lines(sources: Iterable[str | os.PathLike[str]], leave_out: Path | None = None) -> list[str]:
    """Return how many files below folders were skipped, by their endings, and what one of each ending is; nothing where
    nobody would expect motion in any of them."""
    by_ending: dict[str, list[Path]] = {}
    for path in skipped(sources, leave_out):
        by_ending.setdefault(path.suffix.lower(), []).append(path)
    if set(by_ending) <= QUIET:
        return []
    endings = sorted(by_ending, key=lambda ending: (-len(by_ending[ending]), ending))
    counts = [f"{len(by_ending[e])} {e or 'without an ending'}" for e in endings[:SHOWN]]
    if others := sum(len(by_ending[e]) for e in endings[SHOWN:]):
        counts.append(count_of(others, "other"))
    total = sum(map(len, by_ending.values()))
    lines = [f"Skipped, as recordings are not called so: {count_of(total, 'file')} ({', '.join(counts)})"]
    for path in (by_ending[ending][0] for ending in endings[:SHOWN] if ending not in QUIET):
        if told := _told(path):
            lines.append(f"  {path} is {told}")
    return lines


def none_found(sources: Iterable[str | os.PathLike[str]], leave_out: Path | None = None) -> ConfigError:
    """Return the error that no recording lies below `sources`, with what lies there instead."""
    where = [str(source) for source in sources]
    lines = skipped_lines(where, leave_out)
    looked = f"no recordings below {', '.join(where)}; looked for {', '.join(sorted(SUFFIXES))}"
    return ConfigError("\n".join([looked, *lines]))


def _told(path: Path) -> str | None:
    """Return what a file is; None where that is not known, or it cannot be read."""
    try:
        return what_is(Probe(path))
    except PhumaError:
        return None
