"""Run independent items in worker processes; any item may crash its worker, hang or exhaust the memory."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from phuma.errors import PhumaError, lack_of

T = TypeVar("T")
R = TypeVar("R")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
TOO_MUCH_MEMORY = 77  # exit code of a worker that has stopped itself
NO_MEMORY = 78  # exit code of a worker that the system gives no more memory
WATCH_SECONDS = 0.2
EXIT_SECONDS = 60.0  # that a process whose pipe is closed may take to end; its memory may have to be freed
TRIES = 2  # of an item, before it fails
NO_START = (
    "worker processes end before they begin. If this is called from a script of your own, each of them runs the script "
    'again: put the call below `if __name__ == "__main__":`, or use one job'
)


@dataclass(frozen=True)
class Done:
    """Hold the outcome of one item."""

    index: int
    value: Any
    """What `work` returned; None after a failure"""
    failure: str | None
    """Why no worker could finish the item; None where `value` is the result"""


@dataclass(frozen=True)
class WorkerLimits:
    """Limit the time and memory of one item, beyond which it fails; None is no limit."""

    seconds: float | None = None
    """Wall time of an item, s; the start of its worker does not count"""
    megabytes: float | None = None
    """Resident memory of an item's worker, MB"""


def map_in_order(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """Yield work(item) for each item, in the order of the items; one job works in this process.

    `work` must be importable by name. A worker that dies ends the map: use `run_all` where the rest should go on.
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
    """Yield the outcome of work(item) for each item from `jobs` worker processes, in the order of completion.

    Workers are spawned, not forked, to behave alike on every system, and use one thread each. An item whose
    worker dies or exceeds a limit is tried once more by a new worker and then fails. An exception that `work` raises is
    raised here. Workers end when this process does, however it ends.
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
    """Run a process of one thread that does one item at a time, until it fails at one."""

    def __init__(self, work: Callable[[Any], Any], limits: WorkerLimits) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._began = context.RawValue(ctypes.c_double, 0.0)  # without a lock, which a killed process would not free
        arguments = (theirs, limits.megabytes, os.getpid(), self._began)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        with _one_thread_each():
            self.process.start()
        theirs.close()
        self.limits = limits
        with suppress(OSError):  # as in give()
            self.pipe.send(work)

    def do(self, item: Any) -> tuple[Any, str | None]:
        """Give one item and wait for its outcome; see `take`."""
        self.give(item)
        _ready([self])
        return self.take()

    def give(self, item: Any) -> None:
        """Send one item to the process."""
        self._began.value = 0.0
        with suppress(OSError):  # if it has died since, take() will say so
            self.pipe.send(item)

    @property
    def has_begun(self) -> bool:
        """Return whether the process has begun its item; before its first one, it imports what the work needs."""
        return self._began.value > 0

    @property
    def deadline(self) -> float | None:
        """Return the monotonic time at which the item fails; None without a limit, and before the item is begun."""
        return self._began.value + self.limits.seconds if self.limits.seconds is not None and self.has_begun else None

    @property
    def is_late(self) -> bool:
        """Return whether the item has exceeded its time limit."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def take(self) -> tuple[Any, str | None]:
        """Return the result and None, or None and why there is no result. Raises what the work raised."""
        try:
            if self.pipe.poll():
                result, error = self.pipe.recv()
                if error is not None:
                    raise error
                return result, None
        except (EOFError, ConnectionError):
            pass
        if self.process.is_alive() and self.is_late:
            self.end()
            return None, f"took longer than {self.limits.seconds:g} s"
        self.process.join(EXIT_SECONDS)
        code = self.process.exitcode
        if code == TOO_MUCH_MEMORY:
            return None, f"needed more than {self.limits.megabytes:g} MB of memory"
        if code == NO_MEMORY:
            return None, "needed more memory than the system gives its process"
        if code == 1 and not self.has_begun:
            raise PhumaError(NO_START)
        signal = f"killed by signal {-code}, perhaps for want of memory" if code and code < 0 else f"exit code {code}"
        return None, f"its worker process died ({signal})"

    def end(self) -> None:
        """Kill the process and wait until it has ended."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _ready(busy: list[Worker]) -> list[Worker]:
    """Wait for workers that have a result, are dead or are late, and return them."""
    while True:
        deadlines = [w.deadline for w in busy if w.deadline is not None]
        pause = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        if any(w.limits.seconds is not None and not w.has_begun for w in busy):  # when these will be late is not known
            pause = WATCH_SECONDS if pause is None else min(pause, WATCH_SECONDS)
        signs = {w.pipe: w for w in busy} | {w.process.sentinel: w for w in busy}
        found = {signs[sign] for sign in wait(list(signs), pause)} | {w for w in busy if w.is_late}  # type: ignore[index]
        if found:
            return sorted(found, key=busy.index)


def _serve(pipe: Connection, megabytes: float | None, parent: int, began: Any) -> None:
    """Do items from `pipe` until it is closed; this is all that a worker process runs. First comes the work itself.

    `began` gets the monotonic time at which each item is begun; it is the same clock in all processes.
    """
    try:
        threading.Thread(target=_watch, args=(megabytes, parent), daemon=True).start()
        work = pipe.recv()  # which imports what it needs
    except (EOFError, OSError, KeyboardInterrupt):
        return
    except Exception as e:
        why = lack_of(e) or f"{type(e).__name__}: {e}"
        return pipe.send((None, PhumaError(f"a worker process cannot begin: {why}")))
    while True:
        try:
            item = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        began.value = time.monotonic()
        if os.getppid() != parent:  # the parent died after it sent the item: a later run will do it
            return
        try:
            answer: tuple[Any, BaseException | None] = work(item), None
        except KeyboardInterrupt:
            return
        except MemoryError:
            os._exit(NO_MEMORY)
        except Exception as e:
            answer = None, e
        pipe.send(answer)


def _watch(megabytes: float | None, parent: int) -> None:
    """End this process when its parent has died or its memory exceeds the limit."""
    while True:
        time.sleep(WATCH_SECONDS)
        if os.getppid() != parent:
            os._exit(1)
        if megabytes is not None and resident_megabytes() > megabytes:
            os._exit(TOO_MUCH_MEMORY)


def resident_megabytes() -> float:
    """Return the resident memory of this process, MB: the present one where the system reports it, else the peak."""
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Give processes that are started in this context one thread for linear algebra."""
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
