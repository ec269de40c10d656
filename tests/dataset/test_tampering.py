"""Datasets that were tampered with: names and links lead nowhere else, and what is wrong in a file is named."""

import json
import os
import shutil
from pathlib import Path

import pytest

from phuma.cli.main import main
from phuma.curation import CurateCfg
from phuma.dataset.dataset import open_dataset
from phuma.dataset.manifest import write_manifest
from phuma.dataset.record import Record, file_sha256, load_record, save_record
from phuma.dataset.select import SelectCfg, select
from phuma.dataset.status import status
from phuma.dataset.verify import verify
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.pipelines.open_collection import collection_of
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from tests.dataset.tiny import copied, edit_description, here, least, rows_on_disk

pytestmark = pytest.mark.slow

DEEP = "[" * 100_000 + "]" * 100_000
OUT = "../../victim/settings"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return least(tmp_path_factory.getbasetemp())


@pytest.fixture
def dataset(fresh, tmp_path) -> Path:
    """A copy, beside a file of somebody else."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "settings.json").write_text("precious")
    return copied(fresh, tmp_path / "dataset")


@pytest.fixture(autouse=True)
def others_are_left_alone(tmp_path):
    yield
    if (tmp_path / "victim").exists():
        assert [p.name for p in (tmp_path / "victim").iterdir()] == ["settings.json"]
        assert (tmp_path / "victim" / "settings.json").read_text() == "precious"


def record_of(dataset: Path, kind: str = "stand") -> Path:
    return next((dataset / "work").glob(f"*{kind}*.json"))


def edit(path: Path, *keys: str | int, raw: str) -> None:
    """Put a piece of text into a JSON file as it is, at a place."""
    data = json.loads(path.read_text())
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = "@"
    path.write_text(json.dumps(data).replace('"@"', raw))


def faults_at(dataset: Path, place: str) -> str:
    return "\n".join(f.problem for f in verify(dataset, {"g1": load_robot("g1")}) if f.place.endswith(place))


def test_a_record_s_id_chooses_no_file(dataset, tmp_path):
    path = record_of(dataset)
    edit(path, "id", raw=json.dumps(OUT))
    with pytest.raises(ReadError, match=r"id is '../../victim/settings'; expected the file's own name"):
        select(dataset, tmp_path / "part", SelectCfg())
    assert not (tmp_path / "part").exists()
    assert f"id is {OUT!r}; expected the file's own name, {path.stem!r}" in faults_at(dataset, f"work/{path.name}")


@pytest.mark.parametrize("name", ["stand", "broken"])
def test_a_record_under_another_s_name_is_named(dataset, name):
    path = record_of(dataset, name)
    edit(path, "name", raw='"lab/other.npz"')
    assert "is of 'lab/other.npz'" in faults_at(dataset, f"work/{path.name}")
    edit(path, "id", raw='"other"')
    path.rename(path.with_name("other.json"))
    assert "other" in faults_at(dataset, "work/other.json")


@pytest.mark.parametrize("column", ["file", "human_file"])
@pytest.mark.parametrize("name", ["work/a.json", "dataset.json", ".lock"])
def test_a_record_names_files_only_where_such_files_are(dataset, tmp_path, column, name):
    """Else a selection would link one file over another."""
    path = record_of(dataset)
    edit(path, "rows", 0, column, raw=json.dumps(name))
    with pytest.raises(ReadError, match=rf"rows\[0\].{column} is '{name}'; expected a file below"):
        select(dataset, tmp_path / "part", SelectCfg())


RECORDS = {
    ("rows", 0, "fps", '"30"'): r"rows[0].fps is '30'; expected a number of 1 to 1e+06",
    ("rows", 0, "fps", "null"): "rows[0] is kept and has no 'fps'",
    ("rows", 0, "fps", "NaN"): "holds NaN",
    ("rows", 0, "frames", "45.5"): "rows[0].frames is 45.5; expected an integer",
    ("rows", 0, "frames", "9" * 400): "(400 characters); expected at most 64 bit",
    ("rows", 0, "frames", "9" * 5000): "(5,000 characters); expected at most 64 bit",
    ("rows", 0, "kept", "1"): "rows[0].kept is 1; expected true or false",
    ("rows", 0, "clip", "null"): "rows[0].clip is null; expected a text",
    ("rows", 0, "reasons", "[null]"): "rows[0].reasons[0] is null; expected a text",
    ("rows", 0, "beauty", "1"): "rows[0] has an unknown key 'beauty'",
    ("rows", 0, "[]"): "rows[0] is a list; expected an object",
    ("rows", "null"): "rows is null; expected a list",
    ("rows", DEEP): "more than 64 objects or lists in each other",
    ("label", "{}"): "label is an object; expected a text",
    ("more", "1"): "the content has an unknown key 'more'",
}
DESCRIPTIONS = {
    ("robots", '"g1"'): "robots is 'g1'; expected a list",
    ("robots", "[1]"): "robots[0] is 1; expected a text",
    ("config", "[]"): "config is a list; expected an object",
    ("config", "robot_files", "3"): "config.robot_files is 3; expected an object",
    ("config", "curate", "null"): "config.curate is null; expected an object",
    ("config", "read", DEEP): "more than 64 objects or lists in each other",
    ("counts", "kept", '"1"'): "counts.kept is '1'; expected a count",
    ("counts", "kept", "Infinity"): "holds Infinity",
    ("failed", "[null]"): "failed[0] is null; expected an object",
    ("failed", '[{"recording": "a"}]'): "failed[0] has no 'reason'",
    ("version", '"2"'): "version is '2'; expected a count",
    ("version", "9" * 5000): "expected at most 64 bit",
    ("finished", "1"): "finished is 1; expected true or false",
    ("selected", "true"): "selected is True; expected an object",
    ("new", "1"): "the content has an unknown key 'new'",
}


@pytest.mark.parametrize("change", RECORDS, ids=lambda c: "-".join(map(str, c))[:40])
def test_verify_names_the_value_that_is_wrong_in_a_record(dataset, change):
    path = record_of(dataset)
    edit(path, *change[:-1], raw=str(change[-1]))
    assert RECORDS[change] in faults_at(dataset, f"work/{path.name}")
    edit_description(dataset, finished=False)
    assert any(RECORDS[change] in failed["reason"] for failed in status(dataset).failed)


@pytest.mark.parametrize("change", DESCRIPTIONS, ids=lambda c: "-".join(map(str, c))[:40])
def test_verify_names_the_value_that_is_wrong_in_the_description(dataset, change):
    edit(dataset / "dataset.json", *change[:-1], raw=str(change[-1]))
    assert DESCRIPTIONS[change] in faults_at(dataset, "dataset.json")
    with pytest.raises(ReadError, match=r"dataset\.json: is damaged"):
        open_dataset(dataset)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"fps": None}, "fps is null in the row of"),
        ({"end": None}, "end is null in the row of .*; expected a value, as the clip is kept"),
        ({"fps": 0.0}, "fps is 0.0 in the row of .* on 'g1'; expected 1 to 1e"),
        ({"root_jerk": float("nan")}, "root_jerk is nan in the row of"),
        ({"fidelity": float("inf")}, "fidelity is inf in the row of"),
        ({"frames": -1}, "frames is -1 in the row of"),
        ({"robot": None}, "robot is null in the row of"),
        ({"notes": [None]}, r"notes is \[None\] in the row of .*; expected texts"),
    ],
)
def test_a_wrong_value_in_the_manifest_is_named(dataset, values, says):
    rows = rows_on_disk(dataset)
    write_manifest(dataset / "manifest.parquet", [{**row, **values} if row["kept"] else row for row in rows])
    with pytest.raises(ReadError, match=f"manifest.parquet: {says}"):
        open_dataset(dataset).rows()
    assert faults_at(dataset, "manifest.parquet")


def test_nothing_is_recorded_that_could_not_be_read_again(tmp_path):
    row = {"clip": "a", "robot": "g1", "kept": True, "frames": 3, "fps": 30.0, "start": 0.0, "end": 0.1}
    for name, rows in (("a", ({**row, "fps": None},)), ("a", ({**row, "root_jerk": 1e200},)), ("b", (row,))):
        with pytest.raises(ValueError, match="could not be read again"):
            save_record(tmp_path / "a.json", Record(name, "lab/a", "lab", None, "0", rows))
    assert not list(tmp_path.iterdir())
    save_record(tmp_path / "a.json", Record("a", "lab/a", "lab", None, "0", (row,)))
    assert load_record(tmp_path / "a.json").rows == (row,)


# Links: none is followed out of a dataset, verify names each, and nothing is built where there is one


def link_away(path: Path, tmp_path: Path) -> None:
    """Move a file or folder out of the dataset and put a link in its place."""
    moved = tmp_path / "elsewhere" / path.name
    moved.parent.mkdir(exist_ok=True)
    shutil.move(path, moved)
    path.symlink_to(moved)


LINKED = ["dataset.json", "manifest.parquet", "work", "work/*stand*", "clips", "clips/g1", "clips/*/*/*", "recordings"]


@pytest.mark.parametrize("pattern", LINKED)
def test_a_link_that_leads_out_is_not_followed_and_is_named(dataset, tmp_path, pattern):
    path = next(dataset.glob(pattern))
    link_away(path, tmp_path)
    assert [fault for fault in verify(dataset) if fault.grave], "every link is a fault"
    with pytest.raises(PhumaError, match="a link that leads elsewhere"):
        select(dataset, tmp_path / "part", SelectCfg())


def test_a_link_within_the_dataset_is_named(dataset):
    path = next(dataset.glob("clips/*/*/*.npz"))
    path.rename(dataset / "clips" / "moved.npz")
    path.symlink_to(dataset / "clips" / "moved.npz")
    assert "is a link to" in faults_at(dataset, path.name)
    assert open_dataset(dataset).entry(path.stem).motion().robot == "g1", "but it is read"


def test_a_selection_holds_no_links(dataset, tmp_path):
    path = next(dataset.glob("clips/*/*/*.npz"))
    path.rename(dataset / "clips" / "moved.npz")
    path.symlink_to(dataset / "clips" / "moved.npz")
    select(dataset, tmp_path / "part", SelectCfg())
    assert not [p for p in (tmp_path / "part").rglob("*") if p.is_symlink()]
    assert faults_at(tmp_path / "part", "") == ""


@pytest.mark.parametrize("place", ["clips/g1", "clips/robot", "recordings", "work", ".lock", "recordings/more.npz"])
def test_nothing_is_built_or_removed_through_a_link(dataset, fresh, tmp_path, place):
    """What a build finds in its folders and does not know, it removes."""
    (tmp_path / "victim" / "settings.json").rename(tmp_path / "keep")
    for name in ("a", "b"):
        (tmp_path / "victim" / name).mkdir()
        (tmp_path / "victim" / f"{name}.npz").write_text("precious")
    path = dataset / place
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "victim")
    with pytest.raises((ConfigError, ReadError), match="link"):
        build_dataset(
            [fresh.parent / "lab"], dataset, BuildCfg(("g1",), method="ik", curate=CurateCfg(preset="paper")), here
        )
    assert sorted(os.listdir(tmp_path / "victim")) == ["a", "a.npz", "b", "b.npz"]
    shutil.rmtree(tmp_path / "victim")


@pytest.mark.parametrize("sql", ["", " ", ";", ";;", "-- nothing"])
def test_no_question_is_told(capsys, fresh, sql):
    assert main(["query", str(fresh), sql]) == 2
    assert "expected one SELECT, not nothing; for example: SELECT category" in capsys.readouterr().err


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; SELECT 2", "DELETE FROM manifest", "CREATE TABLE a AS SELECT 1", "DROP TABLE manifest", "BEGIN",
        "COPY manifest TO '.tmp/a.csv'", "ATTACH 'a.db'", "INSTALL httpfs", "PRAGMA database_list", "SET threads = 2",
        "FROM read_csv('.tmp/b.csv')", "FROM read_csv('/etc/passwd')", "EXPORT DATABASE '.tmp'", "CHECKPOINT",
        "USE memory", "VACUUM",
    ],
)  # fmt: skip
def test_a_query_is_one_question_and_reaches_no_file(capsys, fresh, tmp_path, monkeypatch, sql):
    """Not even in the folder in which DuckDB keeps temporary files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "b.csv").write_text("a,b\n1,2\n")
    assert main(["query", str(fresh), sql]) == 2
    assert "the question cannot be answered" in capsys.readouterr().err
    assert os.listdir(tmp_path / ".tmp") == ["b.csv"]


@pytest.mark.parametrize("sql", ["FROM manifest", "SELECT 1;", "DESCRIBE manifest", "SUMMARIZE manifest", "VALUES (1)"])
def test_whatever_asks_is_a_question(capsys, fresh, sql):
    assert main(["query", str(fresh), sql]) == 0


def test_a_human_recording_that_is_none_is_named_though_its_checksum_is_right(dataset):
    path = next(dataset.glob("recordings/*stand*.npz"))
    before = file_sha256(path)
    for content, says in (
        (b"no recording", "is not a clip"),
        (next(dataset.glob("clips/*/*/*")).read_bytes(), "is not"),
    ):
        path.write_bytes(content)
        replace_in_rows(dataset, before, before := file_sha256(path))
        assert says in faults_at(dataset, path.name)


@pytest.mark.parametrize(
    "values", [{"start": 1e6}, {"start": -3.0}, {"frames": 10_000}, {"frames": 0}, {"start": 1e15}]
)
def test_a_clip_that_is_no_part_of_its_recording_is_named(dataset, values):
    path = record_of(dataset)
    for name, value in values.items():
        edit(path, "rows", 0, name, raw=json.dumps(value))
    write_manifest(dataset / "manifest.parquet", rows_on_disk(dataset))
    (row,) = load_record(path).rows
    assert f"frames; {row['clip']} is frames" in faults_at(dataset, row["human_file"])
    with pytest.raises(ReadError, match="is no part of recordings/"):
        open_dataset(dataset).entry(row["clip"]).human()


def test_a_robot_that_the_description_does_not_name_is_named(dataset):
    write_manifest(dataset / "manifest.parquet", [{**row, "robot": "atlas"} for row in rows_on_disk(dataset)])
    assert "has rows of atlas, which dataset.json does not name" in faults_at(dataset, "manifest.parquet")
    collection = collection_of([dataset], [], ReadCfg())
    (clip,) = [row["clip"] for row in collection.find({"verdict": "kept"})["rows"]]
    with pytest.raises(PhumaError, match=f"{clip} is of atlas, which is none of g1; see --robot"):
        collection.open(clip, "atlas", None)


def replace_in_rows(dataset: Path, before: str, after: str) -> None:
    """Put a text in another's place in the records, and write the manifest anew."""
    for path in (dataset / "work").glob("*.json"):
        path.write_text(path.read_text().replace(before, after))
    write_manifest(dataset / "manifest.parquet", rows_on_disk(dataset))
