"""The recordings of a study: found, told apart by their content, and split once for all rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phuma.errors import ConfigError
from phuma.sources import find_recordings
from phuma.sources.registry import refuse_datasets

FEWEST = 4
"""Recordings that a study needs at least: of fewer, none or one would be held out"""
TEST_SHARE = 1 / 3
"""Share of the recordings that are held out: half as many as are learned from"""


@dataclass(frozen=True)
class Source:
    """A recording of a study."""

    path: str
    name: str
    digest: str
    """Hash of its content"""


@dataclass(frozen=True)
class Split:
    """Recordings to learn from and to be judged on, in the order in which they are used."""

    train: tuple[Source, ...]
    test: tuple[Source, ...]

    @property
    def digest(self) -> str:
        """Return a hash that is the same for the same recordings under the same names."""
        lines = sorted(f"{source.name} {source.digest}" for source in (*self.train, *self.test))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def find_sources(data: Sequence[str | Path], leave_out: Path | None = None) -> list[Source]:
    """Return the recordings below `data`, each content once; a dataset that is built already is an error, as all that a
    study compares happens before it is built."""
    refuse_datasets(data)
    for each in map(Path, data):
        if not each.exists():
            raise ConfigError(f"--data {each} does not exist; give folders of recordings, or recordings")
    found: dict[str, Source] = {}
    for recording in find_recordings(data, leave_out):
        digest = hashlib.sha256(recording.path.read_bytes()).hexdigest()
        found.setdefault(digest, Source(str(recording.path.resolve()), recording.name, digest))
    return list(found.values())


def split(sources: Sequence[Source]) -> Split:
    """Return the split: a recording goes one way with all its clips, by its content alone; one in three is held out.

    The recordings are ordered by the hash of their content, and the first third of them is held out, one at least.
    """
    if len(sources) < FEWEST:
        raise ConfigError(
            f"{len(sources)} recording{'' if len(sources) == 1 else 's'} found; a study holds one in three out "
            f"and needs at least {FEWEST}: give more by --data, or make some by `phuma synth`"
        )
    ordered = sorted(sources, key=lambda source: source.digest)
    held_out = max(1, round(TEST_SHARE * len(ordered)))
    return Split(tuple(ordered[held_out:]), tuple(ordered[:held_out]))
