"""What a dataset depends on, and what it does not: names, order, number of workers, what was there before."""

import json
import os
import shutil
from pathlib import Path

import pytest

import phuma
from phuma.cli.main import main
from phuma.dataset.dataset import inside
from phuma.dataset.record import load_record
from phuma.dataset.verify import verify
from phuma.errors import PhumaError
from phuma.pipelines.build_dataset import BuildCfg, build_dataset, jobs_of
from phuma.robots import load_robot
from phuma.sources import amass_smplx
from phuma.synth import generate
from tests.dataset.builds import CHEAP, contents, records, write_recording
from tests.dataset.tiny import here

pytestmark = pytest.mark.slow

NASTY = (
    "up..", "a..b", "c:/drive", "back\\..\\..\\..\\slash", "\\\\server\\share", "new\nline", "tab\tbell\a",
    "<b>markup</b>", "<script>alert(1)</script>", "it's \"quoted\"", "'; DROP TABLE manifest; --", "$(reboot) `id`",
    "пляска", "踊り", "e\u0301", "\u00e9", "right\u202eto left", "x" * 240, "x" * 239 + "y", "walk", "Walk", "WALK",
    "-rf", "con", "%2e%2e%2f", "a b", "\udcff\udcfe",
)  # fmt: skip


def build(capsys, sources, out: Path, *options: object) -> tuple[int, str, str]:
    given = sources if isinstance(sources, list) else [sources]
    code = main([str(word) for word in ("build", *given, "--out", out, *CHEAP, *options)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture(scope="module")
def once(tmp_path_factory) -> Path:
    """A folder with `people`, which are three recordings, and `out`, the dataset that was built of them."""
    folder = tmp_path_factory.mktemp("once")
    for seed in range(3):
        write_recording(folder / "people" / f"{seed}.npz", seed)
    assert main([str(word) for word in ("build", folder / "people", "--out", folder / "out", *CHEAP)]) == 0
    return folder


@pytest.fixture
def source(once, tmp_path) -> Path:
    return shutil.copytree(once / "people", tmp_path / "people")


@pytest.fixture
def out(once, tmp_path) -> Path:
    """A copy of the dataset of `source`."""
    return shutil.copytree(once / "out", tmp_path / "out")


def test_sources_of_any_name_are_stored_inside_the_folder_and_apart(capsys, tmp_path):
    source = tmp_path / "deep" / "er" / "source"
    data = write_recording(tmp_path / "one.npz", 0, "stand").read_bytes()
    for name in NASTY:
        path = source / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    out = tmp_path / "deep" / "out"
    code, _, err = build(capsys, source, out, "--jobs", 2)
    assert code == 0, err

    assert {p for p in tmp_path.rglob("*") if p.is_file()} - before == {p for p in out.rglob("*") if p.is_file()}
    for path in out.rglob("*"):
        assert path.resolve().is_relative_to(out.resolve())
        assert all(c.isascii() and (c.isalnum() or c in "._-") for c in path.name), path.name
    rows = phuma.open_dataset(out).rows()
    assert len(rows) == len({row["recording"] for row in rows}) == len({row["clip"] for row in rows}) == len(NASTY)
    assert len({row["file"].lower() for row in rows}) == len(NASTY), "also where upper and lower case are the same"
    for row in rows:
        assert ".." not in row["recording"].split("/")
        assert inside(out, row["file"]).is_file()
        assert inside(out, row["human_file"]).is_file()


def test_the_result_depends_neither_on_the_number_of_workers_nor_on_the_order(capsys, tmp_path):
    folders = [tmp_path / "a", tmp_path / "b" / "same", tmp_path / "c" / "same"]
    for n, folder in enumerate(folders):
        write_recording(folder / "one.npz", n)
        write_recording(folder / f"{n}.npz", n + 3)
    for jobs, given in ((1, folders), (2, folders[::-1]), (3, folders[1:] + folders[:1])):
        assert build(capsys, given, tmp_path / f"by {jobs}", "--jobs", jobs)[0] == 0
    assert contents(tmp_path / "by 1") == contents(tmp_path / "by 2") == contents(tmp_path / "by 3")
    assert len(records(tmp_path / "by 1")) == 6


def times(out: Path, name: str) -> dict[str, int]:
    """When each file of a recording was written, in ns."""
    about = next(r for r in map(load_record, records(out)) if r.name == name)
    files = [row[key] for row in about.rows for key in ("file", "human_file") if row.get(key)]
    return {file: os.stat(out / file).st_mtime_ns for file in files}


def test_a_changed_source_is_done_again_and_the_others_are_not(capsys, tmp_path, source, out):
    before = {name: times(out, name) for name in ("people/0.npz", "people/1.npz", "people/2.npz")}
    write_recording(source / "1.npz", 7)
    os.utime(source / "2.npz", ns=(0, 0))  # its content is the same
    write_recording(source / "3.npz", 3)
    assert build(capsys, source, out)[0] == 0
    assert times(out, "people/0.npz") == before["people/0.npz"]
    assert times(out, "people/2.npz") == before["people/2.npz"]
    assert all(when > 0 for when in times(out, "people/1.npz").values())
    assert times(out, "people/1.npz") != before["people/1.npz"]
    assert build(capsys, source, tmp_path / "fresh")[0] == 0
    assert contents(out) == contents(tmp_path / "fresh")


def test_what_was_damaged_behind_its_back_is_done_again(capsys, tmp_path, source, out):
    expected = contents(out)
    next((out / "recordings").glob("*.npz")).unlink()
    records(out)[1].write_text("{")
    (out / "clips" / "g1" / ".0123.part").write_text("half")
    assert build(capsys, source, out)[0] == 0
    assert contents(out) == expected


def test_a_file_that_a_power_failure_has_emptied_is_made_again(capsys, source, out):
    """Nobody waits until a file is on the disk: its name may be there without its content."""
    expected = contents(out)
    clips, people = sorted((out / "clips").rglob("*.npz")), sorted((out / "recordings").glob("*.npz"))
    clips[0].write_bytes(b"")
    people[-1].write_bytes(b"\0" * people[-1].stat().st_size)
    assert build(capsys, source, out)[0] == 0
    assert contents(out) == expected


def test_another_configuration_is_refused_with_what_differs_or_built_anew(capsys, tmp_path, source, out):
    before = contents(out)
    code, _, err = build(capsys, source, out, "--mirror", "--end", 1.5)
    assert code == 2
    assert "mirror was False, is True; read.end was None, is 1.5. Give the same options" in err
    assert "--rebuild" in err
    assert contents(out) == before
    assert build(capsys, source, out, "--mirror", "--end", 1.5, "--rebuild")[0] == 0
    assert build(capsys, source, tmp_path / "fresh", "--mirror", "--end", 1.5)[0] == 0
    assert contents(out) == contents(tmp_path / "fresh") != before


def test_a_folder_that_is_not_a_dataset_is_left_alone(capsys, tmp_path, source):
    (tmp_path / "mine" / "clips").mkdir(parents=True)
    (tmp_path / "mine" / "clips" / "dear.npz").write_text("dear")
    for options in ((), ("--rebuild",)):
        code, _, err = build(capsys, source, tmp_path / "mine", *options)
        assert code == 2
        assert "is not ours; choose another --out" in err
    assert (tmp_path / "mine" / "clips" / "dear.npz").read_text() == "dear"


def test_a_dataset_of_a_newer_version_is_refused_with_the_command_that_helps(capsys, tmp_path, source, out):
    path = out / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))
    before = contents(out)
    for options in ((), ("--rebuild",)):
        code, _, err = build(capsys, source, out, *options)
        assert code == 1
        assert "is of version 99, newer than this program's 2: pip install -U phuma" in err
    assert contents(out) == before
    with pytest.raises(phuma.PhumaError, match="pip install -U phuma"):
        phuma.open_dataset(out)


def test_a_damaged_description_is_mended_by_building_anew(capsys, tmp_path, source, out):
    whole = contents(out)
    (out / "dataset.json").write_text("{")
    code, _, err = build(capsys, source, out)
    assert code == 1
    assert "is damaged" in err
    assert build(capsys, source, out, "--rebuild")[0] == 0
    assert contents(out) == whole


def test_a_file_that_is_found_by_two_ways_is_one_recording(tmp_path, source):
    inner = source / "inner"
    inner.mkdir()
    moved = next(source.glob("*.npz"))
    moved.rename(inner / moved.name)
    (source / "link.npz").symlink_to(inner / moved.name)
    alone = jobs_of([source], tmp_path / "out")
    both = jobs_of([source, inner], tmp_path / "out")
    assert [job.name for job in both] == [job.name for job in alone]
    assert len({job.path.resolve() for job in both}) == len(both)


def test_a_recording_too_short_for_a_clip_is_a_row_that_says_so_and_no_file(tmp_path):
    walk = generate("walk", 2.0, 0).motion
    for name, frames in (("short", 29), ("whole", 30)):
        (tmp_path / "lab").mkdir(exist_ok=True)
        amass_smplx.write(tmp_path / "lab" / f"{name}.npz", walk.frames(0, frames))
    (tmp_path / "lab" / "labels.csv").write_text("file,label\nshort.npz,walk")
    build_dataset([tmp_path / "lab"], tmp_path / "out", BuildCfg(method="ik"), here)
    rows = {Path(row["recording"]).stem: row for row in phuma.open_dataset(tmp_path / "out").rows()}
    short, whole = rows["short"], rows["whole"]
    assert (short["kept"], short["frames"], short["end"]) == (False, 29, pytest.approx(29 / 30))
    assert short["reasons"] == ["duration: the clip lasts 0.97 s (at least 1 s)"]
    assert (short["category"], short["category_group"], short["human_file"]) == ("walk", "horizontal", None)
    assert whole["duration"] is None
    assert whole["human_file"]
    assert len(list((tmp_path / "out" / "recordings").iterdir())) == 1
    assert not list(verify(tmp_path / "out", {"g1": load_robot("g1")}))
    with pytest.raises(PhumaError, match="too short to be stored"):
        phuma.open_dataset(tmp_path / "out").entry(short["clip"]).human()
