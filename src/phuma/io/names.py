"""Names of which no two are the same."""

from __future__ import annotations

from collections.abc import Callable


def unique_name(name: str, taken: set[str], behind: str = "", key: Callable[[str], str] = str.lower) -> str:
    """Return `name` with `behind` added, or the first of `name`~2, `name`~3, ... with it that is not taken; take it.

    Two names are the same where their `key` is: by default where they differ in upper and lower case alone, as they do
    on some file systems. `taken` holds the keys.
    """
    unique, n = name + behind, 1
    while key(unique) in taken:
        n += 1
        unique = f"{name}~{n}{behind}"
    taken.add(key(unique))
    return unique
