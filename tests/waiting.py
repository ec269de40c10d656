"""Waiting for events: as long as they take on a slow or busy machine, and not for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 600.0
"""Seconds after which an event is held to never come; no test passes or fails by coming near it"""


def wait_for(condition: Callable[[], T], pause: float = 0.02) -> T:
    """Return the first true value of `condition`."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(pause)
    return found


def hang() -> None:
    """Outlast whoever waits for this process."""
    time.sleep(10 * PATIENCE)


def hoard(megabytes: int) -> None:
    """Take so much memory, slowly enough to be watched, and keep it."""
    kept = []
    for _ in range(megabytes // 20):
        kept.append(bytearray(b"x") * 20_000_000)
        time.sleep(0.01)
    hang()
