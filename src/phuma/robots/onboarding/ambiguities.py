"""Ambiguities are what was assumed or guessed of a robot, and how its owner settles it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Ambiguity(NamedTuple):
    """An ambiguity is one thing that the model file leaves open."""

    what: str
    settle: str
    """What to look at and what to edit"""


def as_text(ambiguities: Sequence[Ambiguity]) -> str:
    """Return the list as Markdown."""
    if not ambiguities:
        return "Nothing was ambiguous.\n"
    return "".join(f"{n}. {d.what}\n   To settle it: {d.settle}\n" for n, d in enumerate(ambiguities, 1))


def some(names: Iterable[str], most: int = 6) -> str:
    """Return names for a sentence, the first few of many."""
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
