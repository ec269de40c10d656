"""A gentle end of long work: the first Ctrl-C lets an iteration end, the second ends at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Note Ctrl-C and SIGTERM in a list and let the iteration end; the second signal ends at once."""
    noted: list[int] = []

    def note(number: int, _: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)
        print("stopping after this iteration; once more to end at once, without saving", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
