"""Work in other processes: what dies there does not take the rest along."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from phuma.errors import ConfigError, PhumaError
from phuma.parallel import WorkerLimits, map_in_order, run_all


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
        time.sleep(60)
    if what == "eat":
        hoard = []
        while True:
            hoard.append(bytearray(20_000_000))
            time.sleep(0.01)
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


def test_what_kills_hangs_or_eats_is_tried_twice_and_named_and_the_rest_is_done(tmp_path):
    kinds = ["fine", "once", "die", "hang", "eat", "fine"]
    tasks = [(kind, str(tmp_path / kind)) for kind in kinds]
    limits = WorkerLimits(seconds=3.0, megabytes=600.0)
    done = {d.index: d for d in run_all(fragile, tasks, 3, limits)}
    assert sorted(done) == list(range(6))
    assert [done[i].value for i in (0, 1, 5)] == ["fine", "once", "fine"]
    assert done[2].failure == "its worker process died (exit code 3)"
    assert done[3].failure == "took longer than 3 s"
    assert done[4].failure == "needed more than 600 MB of memory"
    assert (tmp_path / "die").read_text() == "xx"


def test_a_worker_that_dies_ends_an_ordered_map_with_words(tmp_path):
    with pytest.raises(PhumaError, match="its worker process died"):
        list(map_in_order(fragile, [("die", str(tmp_path / "die"))] * 2, 2))


def test_an_exception_of_the_work_is_raised_here():
    with pytest.raises(ConfigError, match="no such option"):
        list(run_all(refuse, [1, 2], 2))


def test_no_worker_is_left_when_the_caller_stops_early():
    results = run_all(square, list(range(50)), 2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()


def test_workers_end_when_their_parent_is_killed(tmp_path):
    code = (
        "from tests.test_parallel import report_and_hang\n"
        "from phuma.parallel import run_all\n"
        f"if __name__ == '__main__': list(run_all(report_and_hang, [{str(tmp_path)!r}] * 2, 2))\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], env=os.environ | {"PYTHONPATH": os.getcwd()})
    wait_for(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    workers = [int(f.stem) for f in tmp_path.glob("*.pid")]
    parent.kill()
    parent.wait()
    wait_for(lambda: not any(is_alive(pid) for pid in workers))


def report_and_hang(folder):
    open(os.path.join(folder, f"{os.getpid()}.pid"), "w").close()
    time.sleep(60)


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


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "from math import sqrt\nfrom phuma.parallel import run_all\nprint(list(run_all(sqrt, [1.0, 4.0], 2)))"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "PhumaError: worker processes end before they begin" in done.stderr
    assert 'if __name__ == "__main__":' in done.stderr
    guarded = script.read_text().replace("print(", 'if __name__ == "__main__":\n    print(')
    script.write_text(guarded)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
