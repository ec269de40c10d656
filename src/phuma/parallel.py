"""Do many independent pieces of work in processes of their own, of which any may die, hang or eat the memory."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from phuma.errors import PhumaError

T = TypeVar("T")
R = TypeVar("R")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
TOO_MUCH_MEMORY = 77  # exit code of a worker that has stopped itself
WATCH_SECONDS = 0.2
TRIES = 2
NO_START = (
    "worker processes end before they begin. If this is called from a script of your own, each of them runs the script "
    'again: put the call below `if __name__ == "__main__":`, or use one job'
)


@dataclass(frozen=True)
class Done:
    """What became of one item."""

    index: int
    value: Any
    """What `work` returned"""
    failure: str | None
    """Why no worker could finish it, in words; None where `value` is the result"""


@dataclass(frozen=True)
class WorkerLimits:
    """What one item may cost before it is given up."""

    seconds: float | None = None
    """of wall time"""
    megabytes: float | None = None
    """of resident memory of its worker"""


def map_in_order(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """work(item) for each item, in order of the items; with one job in this process.

    `work` must be importable by name. A worker that dies ends it all: use `run_all` where the rest should go on.
    """
    if min(jobs, len(items)) <= 1:
        yield from map(work, items)
        return
    waiting: dict[int, R] = {}
    due = 0
    for done in run_all(work, items, jobs):
        if done.failure is not None:
            raise PhumaError(f"{done.failure}; run with --jobs 1 to see where")
        waiting[done.index] = done.value
        while due in waiting:
            yield waiting.pop(due)
            due += 1


def run_all(
    work: Callable[[T], R], items: Sequence[T], jobs: int, limits: WorkerLimits | None = None
) -> Iterator[Done]:
    """work(item) for each item in `jobs` worker processes, as they are done, in any order.

    Workers are spawned, not forked, so that this behaves alike on every system, and hold to one thread each. An item
    whose worker dies, or exceeds a limit, is tried once more by a fresh worker and then given up. An exception that
    `work` raises is raised here. Workers end when this process does, however it ends.
    """
    limits = limits or WorkerLimits()
    todo = [(index, 1) for index in reversed(range(len(items)))]
    workers: list[Worker] = []
    try:
        workers += [Worker(work, limits) for _ in range(min(jobs, len(items)))]
        busy: dict[Worker, tuple[int, int]] = {}
        while todo or busy:
            for worker in workers:
                if worker not in busy and todo:
                    busy[worker] = todo.pop()
                    worker.give(items[busy[worker][0]])
            for worker in _ready(list(busy)):
                index, tries = busy.pop(worker)
                result, failure = worker.take()
                if failure is not None:
                    worker.end()
                    workers[workers.index(worker)] = Worker(work, limits)
                    if tries < TRIES:
                        todo.append((index, tries + 1))
                        continue
                yield Done(index, result, failure)
    finally:
        for worker in workers:
            worker.end()


class Worker:
    """A process of one thread that does one item at a time, until it fails at one."""

    def __init__(self, work: Callable[[Any], Any], limits: WorkerLimits) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._began = context.Event()
        arguments = (work, theirs, limits.megabytes, os.getpid(), self._began)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        with _one_thread_each():
            self.process.start()
        theirs.close()
        self.limits = limits
        self.deadline: float | None = None

    def do(self, item: Any) -> tuple[Any, str | None]:
        """Give one item and wait for what becomes of it; see `take`."""
        self.give(item)
        _ready([self])
        return self.take()

    def give(self, item: Any) -> None:
        self.deadline = None if self.limits.seconds is None else time.monotonic() + self.limits.seconds
        with suppress(OSError):  # if it has died since, take() will say so
            self.pipe.send(item)

    @property
    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def take(self) -> tuple[Any, str | None]:
        """The result, or why there is none. Raises what the work raised."""
        try:
            if self.pipe.poll():
                result, error = self.pipe.recv()
                if error is not None:
                    raise error
                return result, None
        except (EOFError, ConnectionError):
            pass
        if self.process.is_alive() and self.late:
            self.end()
            return None, f"took longer than {self.limits.seconds:g} s"
        self.process.join(5)
        code = self.process.exitcode
        if code == TOO_MUCH_MEMORY:
            return None, f"needed more than {self.limits.megabytes:g} MB of memory"
        if code == 1 and not self._began.is_set():
            raise PhumaError(NO_START)
        signal = f"killed by signal {-code}, perhaps for want of memory" if code and code < 0 else f"exit code {code}"
        return None, f"its worker process died ({signal})"

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _ready(busy: list[Worker]) -> list[Worker]:
    """Workers that have a result, are dead or are late; waits for one."""
    while True:
        deadlines = [w.deadline for w in busy if w.deadline is not None]
        pause = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        signs = {w.pipe: w for w in busy} | {w.process.sentinel: w for w in busy}
        found = {signs[sign] for sign in wait(list(signs), pause)} | {w for w in busy if w.late}  # type: ignore[index]
        if found:
            return sorted(found, key=busy.index)


def _serve(work: Callable[[Any], Any], pipe: Connection, megabytes: float | None, parent: int, began: Event) -> None:
    """The life of a worker."""
    began.set()
    threading.Thread(target=_watch, args=(megabytes, parent), daemon=True).start()
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        if os.getppid() != parent:  # it was given before the parent died: whoever comes after does it
            return
        try:
            answer: tuple[Any, BaseException | None] = work(item), None
        except KeyboardInterrupt:
            return
        except MemoryError:
            os._exit(TOO_MUCH_MEMORY)
        except Exception as e:
            answer = None, e
        pipe.send(answer)


def _watch(megabytes: float | None, parent: int) -> None:
    """End this process when it is orphaned or too big."""
    while True:
        time.sleep(WATCH_SECONDS)
        if os.getppid() != parent:
            os._exit(1)
        if megabytes is not None and resident_megabytes() > megabytes:
            os._exit(TOO_MUCH_MEMORY)


def resident_megabytes() -> float:
    """Memory of this process: now where the system tells it, else at its highest."""
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile hold linear algebra to one thread."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
