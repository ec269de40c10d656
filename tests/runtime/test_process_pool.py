"""Work in other processes: what dies there does not take the rest along."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from phuma.errors import ConfigError, PhumaError
from phuma.runtime.process_pool import WorkerLimits, map_in_order, run_all
from tests.waiting import PATIENCE, hang, hoard, wait_for

pytestmark = pytest.mark.slow


def square(n):
    return n * n


def threads(_):
    return os.environ["OMP_NUM_THREADS"], os.getpid()


def fragile(task):
    what, path = task
    if what == "once" and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "die":
        with open(path, "a") as f:
            f.write("x")
        os._exit(3)
    if what == "hang":
        hang()
    if what == "eat":
        hoard(1000)
    return what


def refuse(_):
    raise ConfigError("no such option")


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_order_of_the_items(jobs):
    assert list(map_in_order(square, list(range(20)), jobs)) == [n * n for n in range(20)]


def test_workers_are_other_processes_of_one_thread():
    before = os.environ.get("OMP_NUM_THREADS")
    found = [done.value for done in run_all(threads, [0] * 6, jobs=2)]
    assert {count for count, _ in found} == {"1"}
    assert os.getpid() not in {pid for _, pid in found}
    assert os.environ.get("OMP_NUM_THREADS") == before


@pytest.mark.slow
def test_what_dies_or_exceeds_the_memory_is_tried_twice_and_named_and_the_rest_is_done(tmp_path):
    kinds = ["fine", "once", "die", "eat", "fine"]
    tasks = [(kind, str(tmp_path / kind)) for kind in kinds]
    done = {d.index: d for d in run_all(fragile, tasks, 3, WorkerLimits(megabytes=600.0))}
    assert sorted(done) == list(range(5))
    assert [done[i].value for i in (0, 1, 4)] == ["fine", "once", "fine"]
    assert done[2].failure == "its worker process died (exit code 3)"
    assert done[3].failure == "needed more than 600 MB of memory"
    assert (tmp_path / "die").read_text() == "xx"


@pytest.mark.slow
def test_what_hangs_is_given_up_and_the_rest_is_done():
    """The limit is a thousand times what the rest needs, and far less than to wait for what hangs."""
    kinds = ["fine", "hang", "fine", "fine"]
    done = {d.index: d for d in run_all(fragile, [(kind, "") for kind in kinds], 2, WorkerLimits(seconds=2.0))}
    assert [done[i].value for i in (0, 2, 3)] == ["fine"] * 3
    assert done[1].failure == "took longer than 2 s"


class StartsSlowly:
    """Work that takes its worker long to import."""

    def __call__(self, item):
        return item

    def __reduce__(self):
        return slow_start, ()


def slow_start():
    time.sleep(1.0)
    return StartsSlowly()


@pytest.mark.slow
def test_the_start_of_a_worker_is_not_counted_as_time_of_its_item():
    assert [done.value for done in run_all(StartsSlowly(), [1, 2], 1, WorkerLimits(seconds=0.9))] == [1, 2]


@pytest.mark.slow
def test_a_worker_that_dies_ends_an_ordered_map_with_words(tmp_path):
    with pytest.raises(PhumaError, match="its worker process died"):
        list(map_in_order(fragile, [("die", str(tmp_path / "die"))] * 2, 2))


def ask_for_more_than_there_is(_):
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    return len(bytearray(8 << 30))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="does not limit the memory of a process")
def test_what_the_system_gives_no_memory_has_failed_with_the_reason():
    [done] = run_all(ask_for_more_than_there_is, [1], 1)
    assert done.failure == "needed more memory than the system gives its process"


class CannotBeLoaded:
    """Work that needs a library for which there is no memory."""

    def __call__(self, item):
        return item

    def __reduce__(self):
        return fail_to_load, ()


def fail_to_load():
    raise ImportError("failed to map segment from shared object")


def test_work_that_cannot_be_loaded_is_told():
    words = r"a worker process cannot begin: a library cannot be loaded, perhaps for want of memory \(failed to map"
    with pytest.raises(PhumaError, match=words):
        list(run_all(CannotBeLoaded(), [1, 2], 2))


def test_an_exception_of_the_work_is_raised_here():
    with pytest.raises(ConfigError, match="no such option"):
        list(run_all(refuse, [1, 2], 2))


@pytest.mark.slow
def test_no_worker_is_left_when_the_caller_stops_early():
    results = run_all(square, list(range(50)), 2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path):
    code = (
        "from tests.runtime.test_process_pool import report_and_hang\n"
        "from phuma.runtime.process_pool import run_all\n"
        f"if __name__ == '__main__': list(run_all(report_and_hang, [{str(tmp_path)!r}] * 2, 2))\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], env=os.environ | {"PYTHONPATH": os.getcwd()})
    wait_for(lambda: len(list(tmp_path.glob("*.pid"))) == 2 or parent.poll() is not None)
    workers = [int(f.stem) for f in tmp_path.glob("*.pid")]
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    wait_for(lambda: not any(is_alive(pid) for pid in workers))


def report_and_hang(folder):
    open(os.path.join(folder, f"{os.getpid()}.pid"), "w").close()
    hang()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # a zombie that nobody has waited for is dead too
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True


@pytest.mark.slow
def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "from math import sqrt\n"
        "from phuma.runtime.process_pool import run_all\n"
        "print(list(run_all(sqrt, [1.0, 4.0], 2)))"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert "PhumaError: worker processes end before they begin" in done.stderr
    assert 'if __name__ == "__main__":' in done.stderr
    guarded = script.read_text().replace("print(", 'if __name__ == "__main__":\n    print(')
    script.write_text(guarded)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
