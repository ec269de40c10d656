"""The manifest of a dataset as a table."""

import pytest

from phuma.dataset.manifest import COLUMNS, LATER, ask, connect, open_manifest, write_manifest
from phuma.dataset.plain_question import columns_of
from phuma.errors import ConfigError, ReadError

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
    without = rewritten(manifest, f"* EXCLUDE ({', '.join(LATER)})")
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


PLAIN = {
    "SELECT clip FROM manifest": {"clip"},
    "select CLIP, Fidelity * 2 AS twice FROM Manifest WHERE twice > 1 ORDER BY twice": {"clip", "fidelity"},
    "SELECT category, count(*) FROM manifest WHERE kept GROUP BY ALL ORDER BY ALL": {"category", "kept"},
    "SELECT count(*) FROM manifest": set(),
    "SELECT robot, avg(fidelity) FILTER (kept) AS a FROM manifest GROUP BY robot HAVING count(split) > 0 LIMIT 3": {
        "robot", "fidelity", "kept", "split",
    },
    "SELECT clip, row_number() OVER (PARTITION BY robot ORDER BY fps DESC) AS n FROM manifest QUALIFY n = 1": {
        "clip", "robot", "fps",
    },
    "SELECT CASE WHEN \"end\" BETWEEN 1 AND 2 THEN source ELSE label::VARCHAR END FROM manifest -- all *": {
        "end", "source", "label",
    },
    "SELECT external_support_force AS kept FROM manifest WHERE kept": {"external_support_force", "kept"},
}  # fmt: skip
NOT_PLAIN = (
    "FROM manifest", "SELECT * FROM manifest", "SELECT * EXCLUDE (clip) FROM manifest",
    "SELECT COLUMNS('f.*') FROM manifest",
    "SELECT manifest FROM manifest", "SELECT m FROM manifest m", "SELECT m.clip FROM manifest m", "DESCRIBE manifest",
    "SUMMARIZE manifest", "SHOW TABLES", "SELECT rowid FROM manifest", "SELECT count(COLUMNS(*)) FROM manifest",
    "SELECT clip FROM manifest a NATURAL JOIN manifest b", "SELECT clip FROM manifest JOIN manifest b USING (clip)",
    "PIVOT manifest ON robot USING count(*)", "UNPIVOT manifest ON start, \"end\"",
    "SELECT a FROM manifest AS manifest(a)", "WITH manifest AS (SELECT 1 AS clip) SELECT clip FROM manifest",
    "SELECT clip FROM manifest UNION ALL BY NAME SELECT robot FROM manifest",
    "SELECT clip FROM manifest WHERE fidelity = (SELECT max(fidelity) FROM manifest)",
    "SELECT (SELECT count(*) FROM (SELECT * FROM manifest)) AS n, clip FROM manifest",
    "SELECT clip FROM query_table('manifest')",
    "SELECT column_name FROM information_schema.columns", "SELECT clip FROM manifest ORDER BY clip, COLUMNS(*)",
    "SELECT 1; SELECT clip FROM manifest", "CREATE TABLE a AS SELECT clip FROM manifest", "SELECT",
    "SELECT beauty FROM manifest",
    "SELECT clip FROM main.manifest", "SELECT manifest.clip FROM manifest", "SELECT 1", "VALUES (1)",
    "SELECT clip FROM manifest USING SAMPLE 1", "SELECT list_transform(reasons, x -> x || clip) FROM manifest",
)  # fmt: skip


@pytest.mark.parametrize("sql", PLAIN)
def test_a_plain_question_names_its_columns(sql):
    with connect() as database:
        assert columns_of(database, sql, COLUMNS) == PLAIN[sql]


@pytest.mark.parametrize("sql", NOT_PLAIN)
def test_any_other_question_may_be_about_every_column(sql):
    with connect() as database:
        assert columns_of(database, sql, COLUMNS) is None


def answer(database, sql):
    """The answer, or what is wrong with the question."""
    try:
        return ask(database, sql)
    except ConfigError as e:
        return str(e)


@pytest.mark.slow
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_every_question_has_the_same_answer_from_the_columns_that_it_is_about(tmp_path, manifest, old):
    """Also of a manifest from before a metric was renamed, and without those that are declared since."""
    rows = [
        {"clip": f"c{i % 4}", "robot": f"r{i % 2}", "kept": i % 3 > 0, "fidelity": 90.0 + i, "fps": 30.0, "frames": 30,
         "start": 1.0 * i, "end": i + 0.5, "source": "s", "label": None if i % 2 else "l", "category": "walk",
         "split": "train", "reasons": ["a"] * (i % 3), "external_support_force": 0.1 * i}
        for i in range(12)
    ]  # fmt: skip
    write_manifest(manifest, rows)
    path = rewritten(manifest, f"* EXCLUDE (shake) RENAME ({FORCE[0]} AS helping_force)") if old else manifest
    questions = [*PLAIN, *(sql for sql in NOT_PLAIN if "SAMPLE" not in sql), "SELECT shake, clip FROM manifest"]
    with open_manifest(path) as whole:
        for sql in questions:
            with open_manifest(path, sql) as part:
                assert answer(part, sql) == answer(whole, sql), sql
