"""Words for people: numbers of things."""

from __future__ import annotations


def count_of(number: int, thing: str, things: str | None = None) -> str:
    """Return a number of things in words, `1 clip` or `1,200 clips`; `things` where its plural is irregular."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
