"""Faults for real: processes are killed, a disk is full, a source changes; no dataset is the worse for it."""

import json
import os
import random
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import phuma
from phuma.dataset import builder
from phuma.dataset.describe import Description
from phuma.dataset.layout import Layout, recording_id
from phuma.dataset.record import Job, file_sha256, load_record
from phuma.errors import ConfigError, PhumaError, ReadError, StorageError
from phuma.io.atomic import write_atomic
from phuma.io.lock import at_work, is_locked, wait_for_workers
from phuma.runtime.process_pool import WorkerLimits, run_all
from tests.dataset.builds import build, command, contents, is_root, records, start, workers, write_recording
from tests.waiting import PATIENCE, hang, hoard, wait_for

pytestmark = pytest.mark.slow

RECORDINGS = 12
KILLS = 20
PARENTS = 4  # at least so many of these
PAGE = 4096


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("raw") / "people"
    for seed in range(RECORDINGS):
        write_recording(folder / f"{seed:02d}.npz", seed)
    return folder


@pytest.fixture(scope="module")
def whole(source, tmp_path_factory) -> Path:
    """The dataset of a build that nothing has disturbed."""
    out = tmp_path_factory.mktemp("whole") / "dataset"
    done = build(source, out, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    return out


def seconds_a_recording(root: Path) -> float:
    """Of a build, from its first recording to its last."""
    times = sorted(p.stat().st_mtime for p in records(root))
    return (times[-1] - times[0]) / len(times)


def finish(source: Path, out: Path) -> None:
    """Let it come to its end. A recording whose workers were killed twice has failed, and is tried again."""
    for _ in range(2):
        done = build(source, out, "--jobs", 2)
        if done.returncode == 0:
            return
        assert "killed by signal 9" in done.stdout, done.stderr
    pytest.fail(done.stdout + done.stderr)


def start_until_a_recording_is_done(source: Path, out: Path) -> subprocess.Popen[bytes]:
    before = len(records(out))
    parent = start(source, out, "--jobs", 2)
    wait_for(lambda: len(records(out)) > before or parent.poll() is not None)
    return parent


def is_within(parent: subprocess.Popen[bytes], out: Path) -> bool:
    """Whether a build is between its first recording and its last."""
    return parent.poll() is None and 0 < len(records(out)) < RECORDINGS


@pytest.mark.faults
def test_a_build_that_is_killed_at_any_moment_ends_with_the_same_bytes(source, whole, tmp_path):
    """Workers and the parent are killed at random moments after a first recording and before the last."""
    rng = random.Random(7)
    pause = 2 * seconds_a_recording(whole)
    out, kills, parents = tmp_path / "0", 0, 0
    expected = contents(whole)
    while kills < KILLS or parents < PARENTS:
        parent = start_until_a_recording_is_done(source, out)
        for _ in range(4):
            time.sleep(rng.uniform(0, pause))
            living = workers(parent.pid) if is_within(parent, out) else []
            with suppress(ProcessLookupError):  # it was faster
                if living:
                    os.kill(rng.choice(living), signal.SIGKILL)
                    kills += 1
        time.sleep(rng.uniform(0, pause))
        if is_within(parent, out):
            parents += 1
            kills += 1
        parent.kill()
        parent.wait()
        if len(records(out)) >= RECORDINGS:  # no recording is left to be killed in: another dataset
            finish(source, out)
            assert contents(out) == expected
            out = tmp_path / str(kills)
    finish(source, out)
    assert contents(out) == expected


@pytest.fixture
def small_disk(tmp_path):
    """A function that makes a disk of so many bytes at a place, or changes its size."""
    if not is_root():
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()

    def resize(size: int) -> Path:
        again = "remount," if os.path.ismount(place) else ""
        options = ["-t", "tmpfs", "-o", f"{again}size={size}", "tmpfs", str(place)]
        done = subprocess.run(["mount", *options], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        return place

    yield resize
    if os.path.ismount(place):
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.faults
@pytest.mark.parametrize("room", ["half", "all but the manifest"])
def test_a_full_disk_is_told_and_nothing_on_it_is_broken(source, whole, small_disk, room):
    pages = {name: -(-len(data) // PAGE) * PAGE for name, data in contents(whole).items()}
    size = sum(pages.values())
    out = small_disk(size // 2 if room == "half" else size - pages["manifest.parquet"] + PAGE) / "dataset"
    done = build(source, out, "--jobs", 2)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert f"{out}/" in done.stderr
    assert "Traceback" not in done.stderr
    for path in records(out):  # what is told to be there is there, and the disk is no recording's fault
        assert load_record(path).failed is None
        for row in load_record(path).rows:
            for name, sha256 in (("file", "sha256"), ("human_file", "human_sha256")):
                assert not row.get(name) or file_sha256(out / row[name]) == row[sha256]
    with pytest.raises(ReadError, match="is not finished"):
        phuma.open_dataset(out)
    small_disk(10 * size)
    assert build(source, out, "--jobs", 2).returncode == 0
    assert contents(out) == contents(whole)


@pytest.mark.faults
def test_of_two_builds_into_one_folder_the_second_is_refused_until_the_first_has_died(source, whole, tmp_path):
    first = start(source, tmp_path / "out", "--jobs", 1)
    try:
        wait_for(lambda: records(tmp_path / "out") or first.poll() is not None)
        first.send_signal(signal.SIGSTOP)  # so that it does not end before the second has begun
        second = build(source, tmp_path / "out", "--jobs", 1)
        assert second.returncode == 2
        assert "is being written by another process; wait for it, or choose another --out" in second.stderr
        assert is_locked(tmp_path / "out" / ".lock")
    finally:
        first.kill()
        first.wait()
    assert not is_locked(tmp_path / "out" / ".lock")
    assert build(source, tmp_path / "out", "--jobs", 1).returncode == 0
    assert contents(tmp_path / "out") == contents(whole)


# What a recording may do to its worker, with work that is made for it.


def jobs_named(folder: Path, *names: str) -> list[Job]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)
    return [Job(folder / n, f"s/{n}", "s", n, recording_id(f"s/{n}")) for n in names]


def store(job: Job, layout: Layout) -> list[dict]:
    """The least that a recording can become: one file, one row."""
    path = layout.clip("toy", job.id, "clip")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, lambda f: f.write(job.path.read_bytes()))
    name = path.relative_to(layout.root).as_posix()
    about = {"file": name, "sha256": file_sha256(path), "recording": job.name, "start": 0.0, "end": 1.0}
    return [{"clip": job.id, "robot": "toy", "kept": True, "frames": 1, "fps": 30.0, **about}]


def behave(job: Job, layout: Layout, marks: Path) -> list[dict]:
    """Do what the recording's name says, and leave a mark for each time."""
    with open(marks / job.relative, "a") as f:
        f.write("x")
    rows = store(job, layout)
    if job.relative == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if job.relative == "hang":
        hang()
    if job.relative == "eat":
        hoard(1200)
    if job.relative == "grow":
        with open(job.path, "a") as f:
            f.write("more")
    if job.relative == "touch":
        os.utime(job.path, ns=(0, 0))
    if job.relative == "nan":
        return [{**rows[0], "duration": float("nan")}]
    if job.relative == "full":
        raise OSError(28, "No space left on device")
    return rows


def build_toy(root: Path, jobs: list[Job], marks: Path, limits: WorkerLimits | None = None) -> Description:
    marks.mkdir(exist_ok=True)
    return builder.build(
        root, jobs, partial(behave, marks=marks), lambda work, items: run_all(work, items, 2, limits),
        Description(("toy",), {}, {}),
    )  # fmt: skip


def reasons(done: Description) -> dict[str, str]:
    return {f["recording"]: f["reason"] for f in done.failed}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("limits", "faults"),
    [
        (
            WorkerLimits(megabytes=700),
            {
                "crash": f"its worker process died (killed by signal {signal.SIGSEGV:d}, perhaps for want of memory)",
                "eat": "needed more than 700 MB of memory",
            },
        ),
        (WorkerLimits(seconds=5), {"hang": "took longer than 5 s"}),
    ],
    ids=["memory", "time"],
)
def test_a_recording_that_crashes_hangs_or_eats_memory_has_failed_with_the_reason_and_the_rest_is_done(
    tmp_path, limits, faults
):
    jobs = jobs_named(tmp_path / "s", *faults, "fine", "fine too")
    done = build_toy(tmp_path / "out", jobs, tmp_path / "marks", limits)
    assert reasons(done) == {f"s/{name}": reason for name, reason in faults.items()}
    assert done.counts == {"recordings": len(jobs), "failed": len(faults), "clips": 2, "kept": 2, "frames": 2}
    marks = {p.name: p.read_text() for p in (tmp_path / "marks").iterdir()}
    assert marks == {**dict.fromkeys(faults, "xx"), "fine": "x", "fine too": "x"}
    stored = {p.parent.name for p in (tmp_path / "out" / "clips").rglob("*.npz")}
    assert stored == {recording_id("s/fine"), recording_id("s/fine too")}, "nothing is left of what has failed"


def test_what_failed_is_tried_again_by_the_next_run_and_what_went_well_is_not(tmp_path):
    jobs = jobs_named(tmp_path / "s", "nan", "fine")
    done = build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    assert list(reasons(done)) == ["s/nan"]
    assert "internal error, please report" in reasons(done)["s/nan"]
    build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    assert [(tmp_path / "marks" / name).read_text() for name in ("nan", "fine")] == ["xx", "x"]


def test_a_source_that_changes_while_it_is_read_is_noticed(tmp_path):
    jobs = jobs_named(tmp_path / "s", "grow", "touch", "fine")
    done = build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    said = "changed while it was read; run again when it is whole"
    assert reasons(done) == {"s/grow": said, "s/touch": said}
    assert done.counts["clips"] == 1


def test_a_full_disk_is_no_fault_of_the_recording_that_meets_it(tmp_path):
    jobs = jobs_named(tmp_path / "s", "full")
    with pytest.raises(StorageError, match="No space left on device"):
        build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    assert not records(tmp_path / "out")
    assert not json.loads((tmp_path / "out" / "dataset.json").read_text())["finished"]


def test_a_file_that_is_larger_than_any_of_its_kind_is_refused_before_it_is_read(tmp_path):
    jobs = jobs_named(tmp_path / "s", "huge", "fine")
    with open(jobs[0].path, "wb") as f:  # a pickle, which takes no room on the disk
        f.write(b"\x80\x04")
        f.truncate(20 << 30)
    done = build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    said = "has 21,474,836,480 bytes; of this kind of file (pickle) at most 4,294,967,296 are read"
    assert reasons(done) == {"s/huge": said}
    assert load_record(Layout(tmp_path / "out").record(jobs[0].id)).sha256 == "", "it would have been read for that"


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        (MemoryError(), "there is not enough memory. What is finished is kept"),
        (ImportError("failed to map segment"), "a library cannot be loaded, perhaps for want of memory (failed to map"),
        (RuntimeError("can't start new thread"), "no thread can be started, perhaps for want of memory"),
    ],
    ids=["memory", "library", "thread"],
)
def test_what_the_system_does_not_give_is_told_and_the_next_build_goes_on_where_it_was(tmp_path, lack, words):
    jobs, description = jobs_named(tmp_path / "s", "one", "two"), Description(("toy",), {}, {})

    def run_one(work, items):
        yield next(iter(run_all(work, items[:1], 1)))
        raise lack

    with pytest.raises(PhumaError) as told:
        builder.build(tmp_path / "out", jobs, store, run_one, description)
    assert str(told.value).startswith(words)
    assert "run the same command again, and it goes on where it was" in str(told.value)
    [before] = records(tmp_path / "out")
    when = before.stat().st_mtime_ns
    done = builder.build(tmp_path / "out", jobs, store, lambda work, items: run_all(work, items, 1), description)
    assert done.counts["recordings"] == 2
    assert before.stat().st_mtime_ns == when


@pytest.mark.faults
@pytest.mark.parametrize("megabytes", [700, 900])
def test_a_build_with_too_little_memory_ends_with_words_and_is_finished_by_the_next(source, whole, tmp_path, megabytes):
    """What exactly fails depends on the machine; whatever it is, nobody sees a traceback, and nothing is lost."""
    words = " ".join(map(shlex.quote, command(source, tmp_path / "out", "--jobs", 2)))
    limited = f"ulimit -v {1000 * megabytes}; exec {words}"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=PATIENCE)
    assert "Traceback" not in done.stderr, done.stderr
    finish(source, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(whole)


def test_whoever_comes_next_waits_for_workers_that_outlive_a_killed_build(tmp_path):
    refused = pytest.raises(ConfigError, match="still being written by workers of a build that has ended")
    with at_work(tmp_path), at_work(tmp_path), refused:  # workers do not wait for each other
        wait_for_workers(tmp_path, seconds=0.2)
    wait_for_workers(tmp_path, seconds=0.2)
    wait_for_workers(tmp_path / "not there yet")


def test_a_rebuild_that_is_cut_short_does_not_pass_for_a_dataset(tmp_path, monkeypatch):
    jobs = jobs_named(tmp_path / "s", "fine")
    done = build_toy(tmp_path / "out", jobs, tmp_path / "marks")
    assert len(phuma.open_dataset(tmp_path / "out")) == 1

    def stop(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(builder, "_remove", stop)
    with pytest.raises(KeyboardInterrupt):
        builder.claim(Layout(tmp_path / "out"), done, rebuild=True)
    with pytest.raises(ReadError, match="is not finished"):
        phuma.open_dataset(tmp_path / "out")
