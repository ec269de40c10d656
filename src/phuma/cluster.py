"""Do many independent pieces of work on a Ray cluster, of which any machine or process may die.

Every machine needs the same phuma and sees the same files under the same names: work and results travel by path.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from phuma.errors import ConfigError, PhumaError, missing_extra
from phuma.parallel import THREAD_VARIABLES, TRIES, Done, Worker, WorkerLimits

T = TypeVar("T")
R = TypeVar("R")

QUEUED = 2
"""Tasks a CPU that are handed to Ray at once: one that runs and one that waits, however many items there are"""


def run_on_ray(
    work: Callable[[T], R],
    items: Sequence[T],
    address: str | None = None,
    limits: WorkerLimits | None = None,
    jobs: int | None = None,
) -> Iterator[Done]:
    """work(item) for each item as a Ray task of one CPU, as they are done, in any order; like `parallel.run_all`.

    address: of a running cluster, `auto` for the one on this machine; None starts Ray here, for as long as it takes.
    jobs: at most so many at once; None leaves it to the cluster. An item whose worker dies, with its machine or alone,
    or exceeds a limit is tried once more, perhaps elsewhere, and then given up. What `work` raises is raised here.
    """
    with _joined(address, jobs) as ray:
        attempt = ray.remote(num_cpus=1, max_retries=0)(_attempt)
        shared = ray.put(work)
        about = (shared.hex(), limits or WorkerLimits(), os.getcwd())
        todo = [(index, 1) for index in reversed(range(len(items)))]
        running: dict[Any, tuple[int, int]] = {}
        while todo or running:
            while todo and len(running) < (jobs or _room(ray)):
                index, tries = todo.pop()
                running[attempt.remote(shared, items[index], *about)] = index, tries
            (task, *_), _ = ray.wait(list(running), num_returns=1)
            index, tries = running.pop(task)
            result, failure = _answer(ray, task)
            if failure is not None and tries < TRIES:
                todo.append((index, tries + 1))
            else:
                yield Done(index, result, failure)


@contextmanager
def _joined(address: str | None, jobs: int | None) -> Iterator[Any]:
    """Ray: the one this process uses already, the one at `address`, or a new one that ends with this context."""
    try:
        import ray
    except ModuleNotFoundError as e:
        raise missing_extra(e, "--ray") from None
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
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
    """How many tasks the cluster as it is now can have in hand."""
    return max(1, int(QUEUED * ray.cluster_resources().get("CPU", 1)))


def _answer(ray: Any, task: Any) -> tuple[Any, str | None]:
    """The result of a task, or why there is none. Raises what the work raised."""
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

_hand: tuple[str, Worker] | None = None
"""The process in which this Ray worker does its items, kept from one to the next, and the name of its work.

A process of its own, since Ray does not say why a worker of it ended, and limits no time and no memory of one."""


def _attempt(
    work: Callable[[Any], Any], item: Any, name: str, limits: WorkerLimits, folder: str
) -> tuple[Any, str | None, Exception | None]:
    """One item once: its result, or why no process could finish it, or what the work raised."""
    global _hand
    if _hand is None or _hand[0] != name:
        if _hand is not None:
            _hand[1].end()
        os.chdir(folder)  # names of files may be relative to where the build was started
        _hand = name, Worker(work, limits)
    try:
        result, failure = _hand[1].do(item)
    except Exception as e:
        return None, None, e
    if failure is not None:
        _hand[1].end()
        _hand = None
    return result, failure, None
