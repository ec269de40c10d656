"""Format what curation mended in recordings, which play at a wrong speed, and of which the rate is not known, as lines
for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phuma.core.words import count_of, harmless
from phuma.curation.mending.mend import MENDED
from phuma.curation.pipeline import FLIGHTS

ASSUMED = " Hz assumed"
"""In a recording's notes where its file holds no rate"""
MOST = 10
"""Lines that are shown at most"""


def mend_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each recording and note of the rows' `source` and `notes`, in order, and how many are not
    shown."""
    told = [(row["source"], note) for row in rows for note in row["notes"] if note.startswith((MENDED, FLIGHTS))]
    lines = [harmless(f"  {source}: {note}") for source, note in dict.fromkeys(told)]
    return lines[:MOST] + ([f"  ... and {len(lines) - MOST} more"] if len(lines) > MOST else [])


def rate_lines(rows: Sequence[Mapping[str, Any]], source: str = "source") -> list[str]:
    """Return a line that says of how many recordings the frame rate is assumed, by the rows' `source` and `notes`."""
    guessed = {row[source] for row in rows if any(ASSUMED in note for note in row["notes"])}
    if not guessed:
        return []
    of = count_of(len(guessed), "recording")
    return [f"Warning: the frame rate of {of} is assumed; give the true one with --fps"]


def mend_counts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines that say how many clips were mended and how many play at a wrong speed, by the rows' `clip`,
    `recording` and `notes`; a clip of several robots counts once."""
    out = []
    for start, said in ((MENDED, "mended before being judged"), (FLIGHTS, "at a wrong speed")):
        told = [row for row in rows if any(note.startswith(start) for note in row["notes"])]
        if told:
            clips, recordings = ({row[name] for row in told} for name in ("clip", "recording"))
            of = f"{count_of(len(clips), 'clip')} of {count_of(len(recordings), 'recording')}"
            out.append(f"  {of} {said}: see their notes")
    return out
