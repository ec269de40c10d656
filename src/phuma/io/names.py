"""Names of which no two are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable


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


def mistakable(names: Iterable[str]) -> frozenset[str]:
    """Return those of the names, in lower case, that a part of another could have: `walk_0` where there is a `walk`."""
    lower = {name.lower() for name in names}
    found = ((name, re.fullmatch(r"(.+)_\d+(~\d+)?", name)) for name in lower)
    return frozenset(name for name, match in found if match and match.group(1) in lower)


def part_name(name: str, number: int, others: Collection[str] = ()) -> str:
    """Return a name for one of several motions in the recording `name`; `others` are the `mistakable` ones."""
    return unique_name(f"{name}_{number}", set(others))
