"""The manifest of a dataset as a table."""

import pytest

from phuma.dataset.manifest import COLUMNS, OF_METRICS, ask, connect, open_manifest, write_manifest
from phuma.errors import ReadError

ASKED = "SELECT clip, external_support_force, shake_limit, fidelity FROM manifest"
ROW = {"clip": "a", "robot": "g1", "kept": True, "frames": 30, "fps": 30.0, "start": 0.0, "end": 1.0}
FORCE = ("external_support_force", "external_support_force_limit")


@pytest.fixture
def manifest(tmp_path):
    """The path of a manifest of one row."""
    path = tmp_path / "new.parquet"
    write_manifest(path, [ROW | {"external_support_force": 0.5, "shake_limit": 3.0, "fidelity": 98.0}])
    return path


def rewritten(manifest, select):
    """Another manifest with the rows of a question to the first."""
    path = manifest.with_name("old.parquet")
    with connect() as database:
        database.execute(f"COPY (SELECT {select} FROM '{manifest}') TO '{path}'")
    return path


def test_a_manifest_from_before_a_metric_was_declared_opens_and_has_it_empty(manifest):
    with open_manifest(manifest) as database:
        assert ask(database, ASKED)[1] == [("a", 0.5, 3.0, 98.0)]
    without = rewritten(manifest, f"* EXCLUDE ({', '.join(OF_METRICS)})")
    with open_manifest(without) as database:
        assert ask(database, ASKED)[1] == [("a", None, None, None)]


def test_a_manifest_from_before_a_metric_was_renamed_has_it_under_its_name_of_today(manifest):
    old = rewritten(manifest, f"* RENAME ({FORCE[0]} AS helping_force, {FORCE[1]} AS helping_force_limit)")
    with open_manifest(old) as database:
        assert ask(database, ASKED)[1] == [("a", 0.5, 3.0, 98.0)]
        assert [row[0] for row in ask(database, "DESCRIBE manifest")[1]] == list(COLUMNS)


def test_what_is_no_metric_cannot_be_missing(manifest):
    with pytest.raises(ReadError, match="has no column split"):
        open_manifest(rewritten(manifest, "* EXCLUDE (split)"))


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [
        ("split=test", "split=train"),
        ("kept=false/category=walk/robot=h1_2", "kept=true"),
        ("data[1]", "data1"),
        ("da*ta", "dabbta"),
        ("q?x", "qqx"),
        ("[!a]", "b"),
        ("{a,b}", "a"),
        ("it's", "its"),
        ("**", "c"),
    ],
)
def test_a_folder_s_name_says_nothing_of_its_rows_and_stands_for_no_other(tmp_path, name, neighbour):
    """Neither as a partition, `COLUMN=VALUE`, nor as a pattern."""
    for folder, clip in ((name, "mine"), (neighbour, "another's")):
        (tmp_path / folder).mkdir(parents=True)
        row = {**ROW, "clip": clip, "split": "train", "category": "stand"}
        assert write_manifest(tmp_path / folder / "manifest.parquet", [row]) == 1
    with open_manifest(tmp_path / name / "manifest.parquet") as database:
        found = ask(database, "SELECT clip, kept, split, category, robot FROM manifest")[1]
    assert found == [("mine", True, "train", "stand", "g1")]
