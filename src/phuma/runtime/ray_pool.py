"""Run independent items on a Ray cluster, of which any machine or process may die.

Every machine needs the same phuma and sees the same files under the same names: work and results travel by path.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from phuma.errors import ConfigError, PhumaError, missing_extra
from phuma.runtime.process_pool import THREAD_VARIABLES, TRIES, Done, Worker, WorkerLimits

T = TypeVar("T")
R = TypeVar("R")

QUEUED = 2
"""The number of tasks per CPU that are handed to Ray at once: one that runs and one that waits."""


def run_on_ray(
    work: Callable[[T], R],
    items: Sequence[T],
    address: str | None = None,
    limits: WorkerLimits | None = None,
    jobs: int | None = None,
) -> Iterator[Done]:
    """Yield the outcome of work(item) for each item, in the order of completion, as `process_pool.run_all` does.

    Each item is a Ray task of one CPU. `address` is that of a running cluster, `auto` for the one on this machine; None
    starts Ray here until the items are done. At most `jobs` tasks run at once; None leaves the number to the cluster.
    An item whose worker dies, with its machine or alone, or exceeds a limit is tried once more, perhaps elsewhere, and
    then fails. What `work` raises is raised here.
    """
    with _joined(address, jobs) as ray:
        task_of = ray.remote(num_cpus=1, max_retries=0)(_try_once)
        shared = ray.put(work)
        about = (shared.hex(), limits or WorkerLimits(), os.getcwd())
        todo = [(index, 1) for index in reversed(range(len(items)))]
        running: dict[Any, tuple[int, int]] = {}
        while todo or running:
            while todo and len(running) < (jobs or _room(ray)):
                index, tries = todo.pop()
                running[task_of.remote(shared, items[index], *about)] = index, tries
            (task, *_), _ = ray.wait(list(running), num_returns=1)
            index, tries = running.pop(task)
            result, failure = _answer(ray, task)
            if failure is not None and tries < TRIES:
                todo.append((index, tries + 1))
            else:
                yield Done(index, result, failure)


@contextmanager
def _joined(address: str | None, jobs: int | None) -> Iterator[Any]:
    """Yield the Ray that this process uses already, that at `address`, or a new one that ends with the context."""
    try:
        import ray
    except ModuleNotFoundError as e:
        raise missing_extra(e, "--ray") from None
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
    options: dict[str, Any] = {"address": address} if address else {"address": "local", "include_dashboard": False}
    if not address and jobs:
        options["num_cpus"] = jobs
    threads = {"env_vars": dict.fromkeys(THREAD_VARIABLES, "1")}
    try:
        ray.init(**options, runtime_env=threads, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as e:
        raise ConfigError(
            f"no Ray cluster can be reached at {address or 'this machine'} ({_first_line(e)}); "
            "start one with `ray start --head`, set RAY_AUTH_MODE=token if it asks for a token, "
            "or give --ray without an address"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _room(ray: Any) -> int:
    """Return how many tasks the cluster, as it is now, is given at a time."""
    return max(1, int(QUEUED * ray.cluster_resources().get("CPU", 1)))


def _answer(ray: Any, task: Any) -> tuple[Any, str | None]:
    """Return the result of a task and None, or None and why there is no result. Raises what the work raised."""
    try:
        result, failure, error = ray.get(task)
    except ray.exceptions.RayTaskError as e:  # not the work: that returns what it raises
        problem = str(e).strip().splitlines()[-1]
        raise PhumaError(f"the work cannot begin on the cluster ({problem}): every machine needs this phuma") from None
    except ray.exceptions.RayError as e:
        return None, f"its worker on the cluster died ({_first_line(e)})"
    if error is not None:
        raise error
    return result, failure


def _first_line(e: Exception) -> str:
    return (str(e).strip().splitlines() or [type(e).__name__])[0]


# What follows runs on the cluster.

_worker: tuple[str, Worker] | None = None
"""The name of the work and the process that does its items for this Ray worker, kept from one item to the next.

It is a process of its own, since Ray does not say why a worker ended, and limits neither its time nor its memory."""


def _try_once(
    work: Callable[[Any], Any], item: Any, name: str, limits: WorkerLimits, folder: str
) -> tuple[Any, str | None, Exception | None]:
    """Do one item once; return its result, why no process could finish it, and what the work raised."""
    global _worker
    if _worker is None or _worker[0] != name:
        if _worker is not None:
            _worker[1].end()
        os.chdir(folder)  # names of files may be relative to where the build was started
        _worker = name, Worker(work, limits)
    try:
        result, failure = _worker[1].do(item)
    except Exception as e:
        return None, None, e
    if failure is not None:
        _worker[1].end()
        _worker = None
    return result, failure, None
