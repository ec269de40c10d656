"""What was assumed or guessed of a robot, and how its owner settles it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Doubt(NamedTuple):
    """One thing that was not sure."""

    what: str
    settle: str
    """What to look at and what to edit"""


def as_text(doubts: Sequence[Doubt]) -> str:
    """The list as Markdown."""
    if not doubts:
        return "Nothing was in doubt.\n"
    return "".join(f"{n}. {d.what}\n   To settle it: {d.settle}\n" for n, d in enumerate(doubts, 1))


def some(names: Iterable[str], most: int = 6) -> str:
    """Names for a sentence, the first few of many."""
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
