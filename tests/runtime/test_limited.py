"""A process with limits: what hangs, hoards or dies in it ends, and says why; nothing of it is left."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from phuma.errors import ConfigError, MissingExtraError
from phuma.runtime.limited import LimitedProcess, LimitError
from phuma.runtime.process_pool import WorkerLimits, run_all
from tests.waiting import PATIENCE, hang, wait_for

pytestmark = pytest.mark.slow

LIMITS = WorkerLimits(seconds=PATIENCE, megabytes=2000)


class Counter:
    """Count the calls of one process."""

    def __init__(self):
        self.calls = 0

    def __call__(self, what):
        self.calls += 1
        if what == "refuse":
            raise ConfigError("no such option")
        if what == "lack":
            raise MissingExtraError("onnx", "learn", "a policy")
        if what == "hoard":
            return len(bytearray(1 << 40))
        if what == "die":
            os._exit(3)
        if what == "hang":
            hang()
        while what == "work":
            self.calls += 1
        return self.calls, os.getpid()


def deaf(_):
    """Work as a library in C does, which no signal of Python's interrupts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    while True:
        pass


def in_another(n):
    with LimitedProcess(abs, LIMITS) as process:
        return process(n)


def test_state_is_kept_between_calls_and_after_errors_of_the_work():
    with LimitedProcess(Counter(), LIMITS) as process:
        first = process("count")
        assert first[0] == 1
        assert first[1] != os.getpid()
        with pytest.raises(ConfigError, match="no such option"):
            process("refuse")
        with pytest.raises(MissingExtraError, match=r"a policy needs onnx.*phuma\[learn\]"):
            process("lack")
        assert process("count") == (4, first[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "limits", "said"),
    [
        ("hang", WorkerLimits(seconds=0.1), "took longer than 0.1 s"),
        ("work", WorkerLimits(seconds=1.0), "took longer than 1 s"),
        ("die", LIMITS, "exit code 3"),
        pytest.param(
            "hoard", LIMITS, "needed more than 2000 MB of memory",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory"),
        ),
    ],
)  # fmt: skip
def test_work_beyond_a_limit_ends_with_its_process(what, limits, said):
    process = LimitedProcess(Counter(), limits)
    with pytest.raises(LimitError, match=said):
        process(what)
    assert process.process.poll() is not None
    with pytest.raises(LimitError, match="was ended before"):
        process("count")


def test_a_worker_and_a_thread_may_start_one():
    assert [done.value for done in run_all(in_another, [-3], jobs=1)] == [3]
    found = []
    thread = threading.Thread(target=lambda: found.append(in_another(-4)))
    thread.start()
    thread.join()
    assert found == [4]


def test_a_script_without_a_guard_may_start_one(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from phuma.runtime.limited import LimitedProcess\n"
        "from phuma.runtime.process_pool import WorkerLimits\n"
        "print(LimitedProcess(abs, WorkerLimits())(-2))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("2\n", "")


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_both_at_once_though_the_work_is_deaf(tmp_path, sign):
    code = (
        "import signal\n"
        "from tests.runtime.test_limited import LIMITS, deaf\n"
        "from phuma.runtime.limited import LimitedProcess\n"
        "def stop(*_): raise KeyboardInterrupt\n"
        "for sign in (signal.SIGTERM, signal.SIGINT):\n"  # whoever started the tests may ignore the latter
        "    signal.signal(sign, stop)\n"
        "process = LimitedProcess(deaf, LIMITS)\n"
        "print(process.process.pid, flush=True)\n"
        "process(0)\n"
    )
    waiting = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert waiting.stdout is not None
    pid = int(waiting.stdout.readline())
    waiting.send_signal(sign)
    waiting.communicate(timeout=PATIENCE / 2)
    wait_for(lambda: not _is_alive(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
