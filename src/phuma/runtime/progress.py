"""Progress of long work: a bar on a terminal, through a pipe a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator
from threading import Event, Thread
from typing import Any, TypeVar

from phuma.core.words import count_of

T = TypeVar("T")

FIRST_LINE = 1.0
"""Seconds until the first line through a pipe: what is quicker says nothing"""
LINE_EVERY = 10.0
"""Seconds between lines through a pipe"""


def progress_bar(unit: str, total: int | None = None, done: int = 0, title: str | None = None) -> Any:
    """Return a bar with `update(count)`, the number `n` that is done, `total`, `set_postfix_str(note)`,
    `clear()` before something else is printed, and `close()`, which a `with` does."""
    if not sys.stderr.isatty():
        return Lines(unit, total, done, title)
    from tqdm import tqdm

    return tqdm(total=total, initial=done, unit=unit, desc=title, file=sys.stderr)


def with_progress(items: Iterable[T], unit: str, total: int | None = None, title: str | None = None) -> Iterator[T]:
    """Yield items with a bar; their number is `total` where they do not say it."""
    if total is None and isinstance(items, Collection):
        total = len(items)
    with progress_bar(unit, total, title=title) as bar:
        for item in items:
            yield item
            bar.update(1)


class Lines:
    """Progress as lines, for logs: after a second, then now and then, also while one item takes long."""

    def __init__(self, unit: str, total: int | None, done: int, title: str | None) -> None:
        self.unit, self.total, self.n, self.title = unit, total, done, title
        self._note = ""
        self._began = time.monotonic()
        self._ended = Event()
        Thread(target=self._tell, daemon=True).start()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        title = f"{self.title}: " if self.title else ""
        done = count_of(self.n, self.unit) if self.total is None else f"{self.n} of {count_of(self.total, self.unit)}"
        return f"{title}{done}, {time.monotonic() - self._began:.0f} s{self._note}"

    def set_postfix_str(self, note: str, refresh: bool = False) -> None:
        """Set what the next line says besides."""
        self._note = f", {note}" if note else ""

    def update(self, count: int = 1) -> None:
        """Note that more is done."""
        self.n += count

    def clear(self) -> None:
        """Make room for what is printed; lines are in nobody's way."""

    def close(self) -> None:
        """Say nothing more."""
        self._ended.set()

    def _tell(self) -> None:
        wait = FIRST_LINE
        while not self._ended.wait(wait):
            print(self, file=sys.stderr, flush=True)
            wait = LINE_EVERY
