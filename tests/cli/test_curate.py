"""`phuma curate` as a user runs it: real files, and real processes where they end before their time."""

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.formats.clip_file import load_clip
from phuma.sources import amass_smplh, amass_smplx, bvh, motionx, phuma_human
from phuma.synth import FAULTS, generate
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow


def phuma(*args, check) -> SimpleNamespace:
    """Run the command in this process; which code it ends with is `check`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as e:  # of words that cannot be understood
            code = e.code
    assert code == check, err.getvalue()
    return SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory) -> Path:
    """A folder with every layout, nested, and things that are no recordings."""
    folder = tmp_path_factory.mktemp("mixed")
    walk = generate("walk", seconds=5.0, seed=1).motion
    (folder / "deep" / "er").mkdir(parents=True)
    amass_smplx.write(folder / "a_stageii.npz", walk)
    amass_smplh.write(folder / "deep" / "b_poses.npz", walk)
    motionx.write(folder / "deep" / "c.npy", walk)
    phuma_human.write(folder / "deep" / "er" / "d.npy", walk)
    bvh.write(folder / "e.bvh", walk)
    (folder / "README.txt").write_text("not a recording")
    (folder / ".hidden.bvh").write_text("HIERARCHY")
    np.savez(folder / "shape.npz", betas=np.zeros(16), gender="neutral")
    return folder


@pytest.fixture(scope="module")
def curated(mixed, tmp_path_factory):
    """By a process of its own."""
    out = tmp_path_factory.mktemp("curated")
    words = [sys.executable, "-m", "phuma", "curate", mixed, "--out", out, "--preset", "paper", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out, json.loads(done.stdout)


def test_json_is_one_object_in_the_agreed_form(curated, mixed):
    _, result = curated
    assert set(result) == {"clips", "failed"}
    assert result["failed"] == []
    assert len({c["source"] for c in result["clips"]}) == 5
    for clip in result["clips"]:
        assert {"source", "start", "end", "kept", "reasons", "metrics"} <= set(clip)
        assert clip["source"].startswith(str(mixed))
        assert clip["kept"] == (clip["reasons"] == [])
        assert set(clip["metrics"]) >= {"root_jerk", "contact_score", "pelvis_min", "pelvis_max"}
    assert [(c["start"], c["end"]) for c in result["clips"][:2]] == [(0.0, 4.0), (3.5, 5.0)]


def test_all_layouts_of_one_motion_get_the_same_verdicts(curated):
    _, result = curated
    by_source: dict[str, list] = {}
    for clip in result["clips"]:
        by_source.setdefault(clip["source"], []).append(clip)
    first, *others = by_source.values()
    for other in others:
        for a, b in zip(first, other, strict=True):
            assert a["kept"] == b["kept"]
            assert b["metrics"] == pytest.approx(a["metrics"], rel=0.1, abs=0.02)


def test_kept_clips_are_files_and_rejected_ones_are_not(curated):
    out, result = curated
    files = {str(p.relative_to(out)) for p in (out / "clips").rglob("*.npz")}
    assert files == {c["file"] for c in result["clips"] if c["kept"]}
    assert files
    clip = load_clip(out / next(iter(files)))
    assert clip.verdict.kept


def test_the_result_does_not_depend_on_the_number_of_processes(mixed, curated, tmp_path):
    one, _ = curated
    phuma("curate", mixed, "--out", tmp_path / "two", "--preset", "paper", "--jobs", 2, check=0)
    names = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(tmp_path / "two") for p in (tmp_path / "two").rglob("*") if p.is_file())
    for name in names:
        assert (one / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_one_bad_file_is_a_row_and_the_rest_goes_on(mixed, tmp_path):
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "empty.npz").write_bytes(b"")
    (bad / "cut.npz").write_bytes((mixed / "a_stageii.npz").read_bytes()[:3000])
    (bad / "letter.bvh").write_text("Dear Sir or Madam")
    np.save(bad / "strange.npy", np.zeros((10, 7)))
    np.savez(bad / "unknown.npz", apples=np.zeros(3))
    done = phuma("curate", mixed, bad, tmp_path / "absent.bvh", "--out", tmp_path / "out", "--json", check=1)
    result = json.loads(done.stdout)
    assert {Path(f["source"]).name for f in result["failed"]} == {
        "empty.npz", "cut.npz", "letter.bvh", "strange.npy", "unknown.npz", "absent.bvh",
    }  # fmt: skip
    assert all(f["reason"] for f in result["failed"])
    assert len({c["source"] for c in result["clips"]}) == 5


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--preset", "best"], "unknown preset 'best'; there are: paper"),
        (["--body", "smpl"], "valid: open, smplx:FILE"),
        (["--body", "smplx:/nowhere/SMPLX.npz"], "/nowhere/SMPLX.npz"),
    ],
)
def test_wrong_use_ends_with_two_and_says_what_is_right(mixed, tmp_path, args, says):
    done = phuma("curate", mixed, "--out", tmp_path / "out", *args, check=2)
    assert says in done.stderr


def test_options_reach_the_stages(mixed, tmp_path):
    walk = mixed / "a_stageii.npz"
    done = phuma("curate", walk, "--out", tmp_path / "a", "--start", 1, "--end", 3, "--ground", 0.5, "--json", check=0)
    clips = json.loads(done.stdout)["clips"]
    assert [(c["start"], c["end"], c["kept"]) for c in clips] == [(1.0, 3.0, False)]
    done = phuma("curate", walk, "--out", tmp_path / "b", "--fps", 15, "--json", check=0)
    assert json.loads(done.stdout)["clips"][-1]["end"] == pytest.approx(10.0, abs=0.2)


def test_a_second_run_replaces_the_first_and_nothing_else_is_touched(mixed, tmp_path):
    out = tmp_path / "out"
    phuma("curate", mixed / "e.bvh", "--out", out, check=0)
    (out / "notes.txt").write_text("mine")
    phuma("curate", mixed / "a_stageii.npz", "--out", out, check=0)
    assert [p.name for p in (out / "clips").iterdir()] == ["a_stageii"]
    assert (out / "notes.txt").read_text() == "mine"
    other = tmp_path / "other"
    (other / "clips").mkdir(parents=True)
    assert "was not written by" in phuma("curate", mixed, "--out", other, check=2).stderr


def test_a_killed_run_leaves_no_result_behind(mixed, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(200):
        os.link(mixed / "e.bvh", folder / f"{i:03d}.bvh")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "phuma", "curate", folder, "--out", out, "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: list(out.glob("curation.unfinished/clips/many/*/*.npz")) or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / "curation.json").exists()
    assert (out / "curation.unfinished").exists()
    for file in out.glob("curation.unfinished/clips/many/*/*.npz"):
        load_clip(file)  # those that are there are whole
    phuma("curate", mixed / "e.bvh", "--out", out, check=0)
    assert sorted(p.name for p in out.iterdir()) == ["clips", "curation.json"]


def test_a_run_of_which_nothing_comes_leaves_everything_as_it_was(mixed, tmp_path):
    (tmp_path / "letter.bvh").write_text("Dear Sir or Madam")
    done = phuma("curate", tmp_path / "letter.bvh", "--out", tmp_path / "new", check=1)
    assert "letter.bvh" in done.stdout
    assert done.stdout.endswith("Nothing was judged, and nothing was written\n")
    assert not (tmp_path / "new").exists()
    out = tmp_path / "out"
    phuma("curate", mixed / "e.bvh", "--out", out, check=0)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    phuma("curate", tmp_path / "letter.bvh", "--out", out, check=1)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    assert ".bvh" in phuma("curate", tmp_path, "--out", tmp_path / "out", check=2).stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--joint-map", "/nowhere.json"], "/nowhere.json"),
        (["--fps", 0], "frame rate of 0"),
        (["--start", "nan"], "no part of a recording"),
        (["--start", 3, "--end", 2], "no part of a recording"),
        (["--ground", "inf"], "ground"),
        (["--jobs", -3], "at least 1"),
    ],
)
def test_wrong_use_leaves_an_earlier_result_alone(mixed, tmp_path, args, says):
    out = tmp_path / "out"
    phuma("curate", mixed / "e.bvh", "--out", out, check=0)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert says in phuma("curate", mixed, "--out", out, *args, check=2).stderr
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_results_inside_the_source_are_not_taken_for_sources(mixed, tmp_path):
    source = tmp_path / "s"
    source.mkdir()
    (source / "e.bvh").write_bytes((mixed / "e.bvh").read_bytes())
    for _ in range(2):
        phuma("curate", source, "--out", source / "out", check=0)
    assert "would replace" in phuma("curate", source / "out" / "clips", "--out", source / "out", check=2).stderr
    assert list((source / "out" / "clips").rglob("*.npz"))


def test_odd_names_stay_inside_and_odd_files_do_not_hang(mixed, tmp_path):
    source = tmp_path / "s"
    (source / "sub").mkdir(parents=True)
    data = (mixed / "e.bvh").read_bytes()
    for name in ("...bvh", "a b.bvh", "zeile\nzwei.bvh", "ünï.bvh", "A B.bvh"):
        (source / name).write_bytes(data)
    os.mkfifo(source / "pipe.bvh")
    (source / "sub" / "loop").symlink_to(source)
    done = phuma("curate", source, source / "...bvh", "--out", tmp_path / "out", "--json", check=0)
    files = [c["file"] for c in json.loads(done.stdout)["clips"] if c["kept"]]
    assert len(files) == len({f.lower() for f in files}) == 10
    assert all((tmp_path / "out" / f).resolve().is_relative_to(tmp_path / "out" / "clips") for f in files)
    assert "not a file" in phuma("inspect", source / "pipe.bvh", check=1).stderr


def test_sigterm_ends_the_workers_too(mixed, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(200):
        os.link(mixed / "e.bvh", folder / f"{i:03d}.bvh")
    command = [sys.executable, "-m", "phuma", "curate", folder, "--out", tmp_path / "out", "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(
        lambda: list((tmp_path / "out").glob("curation.unfinished/clips/many/*/*.npz")) or process.poll() is not None
    )
    process.terminate()
    assert process.wait(timeout=PATIENCE) == 130
    wait_for(lambda: not group_lives(process.pid))


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_generated_motion_may_be_passed_on_and_claims_no_shape(tmp_path):
    path = tmp_path / "a.npz"
    amass_smplx.write(path, generate("stand", seconds=2.0, seed=0).motion)
    with np.load(path) as data:
        assert "betas" not in data
    assert "may be passed on" in phuma("inspect", path, check=0).stdout


def test_mending_can_be_left_and_a_wrong_speed_can_be_mended(tmp_path):
    walk, jump = (
        FAULTS["tilt"].apply(generate("walk", 4.0, 1).motion, 6.0, 1),
        generate("jump", 4.0, 1, fps=120.0).motion,
    )
    takes = tmp_path / "takes"
    takes.mkdir()
    bvh.write(takes / "tilted.bvh", walk)
    bvh.write(takes / "fast.bvh", replace(jump, fps=240.0))
    told = []
    for n, options in enumerate((("--fps", "auto"), ("--no-mend",))):
        out = tmp_path / f"out{n}"
        done = phuma("curate", takes, "--out", out, "--preset", "dynamic", "--json", *options, check=0)
        told.append({Path(c["source"]).stem: c for c in json.loads(done.stdout)["clips"]})
    mended, left = told
    assert mended["tilted"]["kept"]
    assert mended["tilted"]["metrics"]["mended_tilt"] == pytest.approx(6.0, abs=1.0)
    assert mended["fast"]["kept"]
    assert mended["fast"]["end"] == pytest.approx(4.0)
    assert not left["tilted"]["kept"]
    assert not left["fast"]["kept"]
    assert not any(name.startswith("mended") for clip in left.values() for name in clip["metrics"])
    wrong = phuma("curate", takes, "--out", tmp_path / "out", "--fps", "quick", check=2)
    assert "expected a number or auto" in wrong.stderr
