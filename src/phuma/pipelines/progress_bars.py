"""Show how far long work on a dataset is: its recordings, or its clips."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from phuma.dataset.builder import Progress
from phuma.runtime.progress import progress_bar, with_progress


class RecordingBar:
    """Show the progress: recordings done, clips per second, share kept, time left."""

    def __enter__(self) -> RecordingBar:
        self._bar: Any = None
        self._began, self._first = time.monotonic(), Progress(0, 0, 0, 0)
        return self

    def __call__(self, now: Progress) -> None:
        if self._bar is None:
            self._first = now
            self._bar = progress_bar("recording", now.total, now.done)
            return
        rate = (now.clips - self._first.clips) / max(time.monotonic() - self._began, 1e-9)
        share = f", {100 * now.kept / now.clips:.0f} % kept" if now.clips else ""
        self._bar.set_postfix_str(f"{rate:.1f} clips/s{share}", refresh=False)
        self._bar.update(now.done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class ClipBar:
    """Show the progress: clips that were performed, `done` of them now."""

    def __init__(self, title: str | None = None) -> None:
        self._title = title

    def __enter__(self) -> ClipBar:
        self._bar: Any = None
        self.done = 0
        return self

    def __call__(self, done: int, before: int, total: int) -> None:
        if self._bar is None:
            self._bar = progress_bar("clip", total, before, self._title)
        self.done = done - before
        self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def reading_bar(entries: list) -> Iterator:
    """Yield entries with a progress bar."""
    return with_progress(entries, "clip", title="reading")
