"""Words for people: numbers of things, and text from files that a terminal can show."""

from __future__ import annotations


def count_of(number: int, thing: str, things: str | None = None) -> str:
    """Return a number of things in words, `1 clip` or `1,200 clips`; `things` where its plural is irregular."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def harmless(text: str) -> str:
    """Return one line without control characters: a file's name may hold a newline or commands to the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
