"""Names that people type: forgiven where it is clear which is meant, and answered by the nearest where it is not."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from phuma.errors import ConfigError

MAKERS = ("unitree_",)
"""What people put before a robot's name"""


def known_name(given: str, valid: Collection[str], what: str) -> str:
    """Return the one of the valid names that is given, whatever its case, dashes and maker; a ConfigError names the
    nearest and all of them."""
    if given in valid:
        return given
    same = [name for name in valid if _plain(name) == _plain(given)]
    if len(same) == 1:
        return same[0]
    raise ConfigError(f"unknown {what} {given!r}{did_you_mean(given, valid)}; there are: {', '.join(valid) or 'none'}")


def did_you_mean(given: str, valid: Collection[str]) -> str:
    """Return `, did you mean 'walk'?` where one of the valid names is near to what is given, else nothing."""
    names = {_plain(name): name for name in valid}
    near = get_close_matches(_plain(given), names, n=1)
    return f", did you mean {names[near[0]]!r}?" if near else ""


def _plain(name: str) -> str:
    word = name.strip().casefold().replace("-", "_").replace(" ", "_")
    for maker in MAKERS:
        word = word.removeprefix(maker)
    return word
