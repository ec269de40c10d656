"""Work on a Ray cluster means the same as work in processes. The cluster is real: a head on this machine's loopback."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from phuma.dataset.status import status
from phuma.errors import ConfigError
from phuma.runtime.process_pool import WorkerLimits
from phuma.runtime.ray_pool import run_on_ray
from tests.conftest import ROOT
from tests.dataset.builds import build, contents, records, start, write_recording
from tests.runtime.test_process_pool import fragile, is_alive, refuse, threads
from tests.waiting import PATIENCE, hang, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture(scope="module")
def head():
    """The address of a Ray head of two CPUs, which knows its drivers by a token that is made here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")  # before Ray is imported, which reads it then
        patch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex * 2)
        pytest.importorskip("ray")
        yield from started_head()


def started_head():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray-")  # short: it holds sockets, and their names have little room
    words = [
        "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}", "--include-dashboard=false",
        "--num-cpus=2", "--object-store-memory=100000000", f"--temp-dir={folder}", "--disable-usage-stats",
    ]  # fmt: skip
    # What the tests give it to do is in them.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ray = Path(sys.executable).with_name("ray")
    with open(Path(folder) / "said", "wb") as said:
        process = subprocess.Popen(
            [ray, *words], stdout=said, stderr=said, env=environment, cwd=folder, start_new_session=True
        )
    wait_for(lambda: b"Ray runtime started" in (Path(folder) / "said").read_bytes() or process.poll() is not None)
    assert process.poll() is None, (Path(folder) / "said").read_text()
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


def trouble(task):
    """What `fragile` does, and: kill, the first time, the process of Ray that this one works for."""
    what, path = task
    if what == "orphan" and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
        hang()
    return (os.getcwd(), *threads(0)) if what == "about" else fragile(task)


def test_what_dies_or_exceeds_the_memory_is_tried_twice_and_named_and_the_rest_is_done(head, tmp_path):
    kinds = ["about", "once", "die", "eat", "about"]
    tasks = [(kind, str(tmp_path / kind)) for kind in kinds]
    done = {d.index: d for d in run_on_ray(trouble, tasks, head, WorkerLimits(megabytes=700.0))}
    assert sorted(done) == list(range(5))
    assert done[1].value == "once"
    assert done[2].failure == "its worker process died (exit code 3)"
    assert done[3].failure == "needed more than 700 MB of memory"
    assert (tmp_path / "die").read_text() == "xx"
    for folder, threads_each, pid in (done[0].value, done[4].value):
        assert (folder, threads_each) == (os.getcwd(), "1"), "names of files may be relative"
        wait_for(lambda pid=pid: not is_alive(pid))


def test_what_hangs_is_given_up_and_the_rest_is_done(head):
    tasks = [(kind, "") for kind in ("fine", "hang", "fine")]
    done = {d.index: d for d in run_on_ray(trouble, tasks, head, WorkerLimits(seconds=2.0))}
    assert [done[i].value for i in (0, 2)] == ["fine"] * 2
    assert done[1].failure == "took longer than 2 s"


def test_what_loses_its_process_of_ray_is_tried_again_elsewhere(head, tmp_path):
    """By itself: what waits for the same process is lost with it, which counts as a try of that too."""
    [done] = run_on_ray(trouble, [("orphan", str(tmp_path / "orphan"))], head)
    assert (done.value, done.failure) == ("orphan", None)


def test_an_exception_of_the_work_is_raised_here(head):
    with pytest.raises(ConfigError, match="no such option"):
        list(run_on_ray(refuse, [1, 2], head))


def test_a_dataset_that_a_cluster_has_built_is_the_same_to_the_byte(head, tmp_path):
    for seed in range(3):
        write_recording(tmp_path / "people" / f"{seed}.npz", seed)
    by_ray = build(tmp_path / "people", tmp_path / "ray", "--ray", head)
    assert by_ray.returncode == 0, by_ray.stderr
    assert "INFO" not in by_ray.stderr
    assert build(tmp_path / "people", tmp_path / "processes", "--jobs", 2).returncode == 0
    assert contents(tmp_path / "ray") == contents(tmp_path / "processes")


def started_node(head: str, folder: Path) -> subprocess.Popen[bytes]:
    """One more node of one CPU, as another machine would be."""
    words = ["start", f"--address={head}", "--block", "--node-ip-address=127.0.0.1", "--num-cpus=1",
             "--object-store-memory=80000000", "--disable-usage-stats"]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    said = folder / f"node {uuid.uuid4().hex}"
    with open(said, "wb") as f:
        ray = Path(sys.executable).with_name("ray")
        process = subprocess.Popen(
            [ray, *words], stdout=f, stderr=f, env=environment, cwd=folder, start_new_session=True
        )
    wait_for(lambda: b"Ray runtime started" in said.read_bytes() or process.poll() is not None)
    assert process.poll() is None, said.read_text()
    return process


def raylet_of(node: subprocess.Popen[bytes]) -> int:
    """The process id of a node's raylet, without which the node is dead."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == node.pid and (folder / "comm").read_text().strip() == "raylet":
                return int(folder.name)
    raise AssertionError("the node has no raylet")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds raylets by /proc")
def test_a_build_whose_node_and_driver_are_killed_goes_on_to_the_same_bytes(head, tmp_path):
    for seed in range(8):
        write_recording(tmp_path / "people" / f"{seed}.npz", seed)
    assert build(tmp_path / "people", tmp_path / "whole", "--jobs", 2).returncode == 0
    nodes = [started_node(head, tmp_path) for _ in range(2)]
    try:
        driver = start(tmp_path / "people", tmp_path / "out", "--ray", head)
        wait_for(lambda: records(tmp_path / "out") or driver.poll() is not None)
        os.kill(raylet_of(nodes[0]), signal.SIGKILL)
        found = status(tmp_path / "out")
        assert (found.building, found.planned) == (True, 8)
        done = len(records(tmp_path / "out"))
        wait_for(lambda: len(records(tmp_path / "out")) > done or driver.poll() is not None)
        driver.kill()
        driver.wait()
        found = status(tmp_path / "out")
        assert (found.building, found.finished) == (False, False)
        assert 0 < found.recordings < found.planned
        again = build(tmp_path / "people", tmp_path / "out", "--ray", head)
    finally:
        for node in nodes:
            node.terminate()
            node.wait(PATIENCE)
    assert again.returncode == 0, again.stderr
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    found = status(tmp_path / "out")
    assert (found.finished, found.recordings, found.planned) == (True, 8, 8)


def test_an_address_where_nothing_is_ends_with_words(tmp_path):
    pytest.importorskip("ray")
    write_recording(tmp_path / "people" / "0.npz")
    done = build(tmp_path / "people", tmp_path / "out", "--ray", "nowhere at all")
    assert done.returncode == 2
    assert "no Ray cluster can be reached at nowhere at all" in done.stderr
    assert "Traceback" not in done.stderr
