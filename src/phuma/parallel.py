"""Do many independent pieces of work, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from phuma.errors import PhumaError

T = TypeVar("T")
R = TypeVar("R")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def map_in_order(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """work(item) for each item, in order of the items. `work` must be importable by name.

    Workers are spawned, not forked, so that this behaves alike on every system, and hold to one thread each.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(work, items)
        return
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            yield from pool.map(work, items, chunksize=max(1, min(16, len(items) // (jobs * 4))))
    except BrokenProcessPool:
        raise PhumaError("a worker process died, perhaps for want of memory; run with --jobs 1 to see where") from None
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
