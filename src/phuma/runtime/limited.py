"""Untrusted files are opened in a process of their own, with limits of time and memory that hold in libraries too.

A library that is written in C neither returns nor listens to signals while it works for a hostile file. Here this
process only waits for the other one, and ends it. Unlike workers of `process_pool`, such a process may be started from
any script, thread or worker: it runs none of the caller's main module.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from phuma.errors import PhumaError
from phuma.runtime.process_pool import THREAD_VARIABLES, WorkerLimits

T = TypeVar("T")

PATIENCE = 10
"""Wall time of a call for each second of CPU time that it may take: for whatever waits instead of working"""
START_SECONDS = 300.0  # until the libraries that the work needs are imported, on a slow disk
BEGIN = "import sys; sys.path[:] = {path!r}; from phuma.runtime.limited import _serve; _serve({fd}, {limits!r})"


class LimitError(PhumaError):
    """The work took too long or too much memory, or ended its process; the caller adds whose fault that is."""


class LimitedProcess(Generic[T]):
    """A process that does one kind of work, call by call, until it exceeds a limit at one.

    `work` is importable by name, or an object of such a class, whose state is kept between calls. Seconds are of CPU
    time, so that a busy machine makes no difference, and ten times as many on the clock.
    """

    def __init__(self, work: Callable[..., T], limits: WorkerLimits) -> None:
        ours, theirs = Pipe()
        begin = BEGIN.format(path=sys.path, fd=theirs.fileno(), limits=(limits.seconds, limits.megabytes))
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", begin],
            pass_fds=[theirs.fileno()],
            env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # libraries print there what they dislike
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        self.limits, self._pipe, self._lock = limits, ours, threading.Lock()
        self.end = weakref.finalize(self, _end, self.process, ours)
        """Kill the process; this happens too when nothing refers to it any more"""
        self._exchange(work, START_SECONDS)

    def __call__(self, *args: Any) -> T:
        """Return what the work returns; raises what it raises, or a LimitError."""
        with self._lock:
            if not self.end.alive:
                raise LimitError("was ended before, at a limit")
            return self._exchange(args, None if self.limits.seconds is None else PATIENCE * self.limits.seconds)

    def __enter__(self) -> LimitedProcess[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def _late(self) -> str:
        return (
            "took too long to begin" if self.limits.seconds is None else f"took longer than {self.limits.seconds:g} s"
        )

    def _exchange(self, message: Any, seconds: float | None) -> Any:
        """Send a message and return the answer, or end the process; so does whatever interrupts the waiting."""
        try:
            with suppress(BrokenPipeError, ConnectionError):  # if it has died, there is no answer either
                self._pipe.send(message)
            if not self._pipe.poll(seconds):
                raise LimitError(self._late)
            value, error = self._pipe.recv()
        except (EOFError, ConnectionError):
            code = self.process.wait()
            self.end()
            raise LimitError(
                self._late if code == -signal.SIGXCPU else f"ended its process ({_reason(code)})"
            ) from None
        except BaseException:
            self.end()
            raise
        if isinstance(error, TimeoutError):
            self.end()
            raise LimitError(self._late)
        if isinstance(error, MemoryError):
            self.end()
            raise LimitError(f"needed more than {self.limits.megabytes:g} MB of memory")
        if error is not None:
            raise error
        return value


def _reason(code: int) -> str:
    return f"signal {-code}, perhaps for want of memory" if code < 0 else f"exit code {code}"


def _end(process: subprocess.Popen[bytes], pipe: Connection) -> None:
    pipe.close()
    process.kill()
    process.wait()


def _serve(fd: int, limits: tuple[float | None, float | None]) -> None:
    """Receive the work and do it for each message; this is all that the process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits
    seconds, megabytes = limits
    _limit_memory(megabytes)
    pipe = Connection(fd)
    work: Callable[..., Any] | None = None
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as e:  # the work cannot be imported
            pipe.send((None, e))
            return
        if work is None:
            work = message
            pipe.send((None, None))
        else:
            pipe.send(_in_time(work, message, seconds))


def _in_time(work: Callable[..., Any], args: Any, seconds: float | None) -> tuple[Any, Exception | None]:
    """Return what the work returns and what it raises; a TimeoutError if it took too long and was not killed for it.

    The system counts whole seconds, and an answer may come while nobody looks at the clock.
    """
    begun = time.process_time()
    _limit_time(seconds)
    answer: tuple[Any, Exception | None]
    try:
        answer = work(*args), None
    except MemoryError:
        answer = None, MemoryError()
    except Exception as e:
        answer = None, e
    late = seconds is not None and time.process_time() - begun > seconds
    return (None, TimeoutError()) if late else answer


def _limit_memory(megabytes: float | None) -> None:
    """Let allocations beyond the limit fail; there is no such limit where the system knows none (macOS)."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if megabytes is not None:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes * 1e6),) * 2)


def _limit_time(seconds: float | None) -> None:
    """Let the system kill this process when its next call works for too long, even if nobody waits for it any more."""
    import resource

    if seconds is not None:
        most = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
