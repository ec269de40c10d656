"""Progress of a command: a bar on a terminal, through a pipe a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

LINE_EVERY = 10.0
"""Seconds between lines through a pipe"""


def progress_bar(unit: str, total: int | None = None, done: int = 0, title: str | None = None) -> Any:
    """Return a bar with `update(count)`, the number `n` that is done, and `close()`."""
    if not sys.stderr.isatty():
        return Lines(unit, total, done, title)
    from tqdm import tqdm

    return tqdm(total=total, initial=done, unit=unit, desc=title, file=sys.stderr)


class Lines:
    """Progress as lines, for logs: the first after a while, so that what is quick says nothing."""

    def __init__(self, unit: str, total: int | None, done: int, title: str | None) -> None:
        self.unit, self.total, self.n, self.title = unit, total, done, title
        self._began = self._told = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, count: int = 1) -> None:
        """Note that more is done."""
        self.n += count
        if (now := time.monotonic()) - self._told >= LINE_EVERY:
            self._told = now
            title = f"{self.title}: " if self.title else ""
            whole = "" if self.total is None else f" of {self.total}"
            seconds = now - self._began
            print(f"{title}{self.n}{whole} {self.unit}s, {seconds:.0f} s", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End; there is nothing to clear away."""
