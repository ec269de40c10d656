"""`phuma status`, `verify`, `query` and `select` as a user runs them."""

import csv
import io
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from phuma.cli.main import main
from phuma.dataset.dataset import Dataset
from phuma.robots import load_robot
from tests.dataset.tiny import ODD, built, copied, edit_description, rows_on_disk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def run(capsys, *args) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    return code, out.out, out.err


def answer(capsys, dataset: Path, sql: str) -> list[list]:
    code, out, _ = run(capsys, "query", dataset, sql, "--json")
    assert code == 0
    return json.loads(out)["rows"]


@pytest.mark.parametrize("command", ["build", "import"])
def test_a_dataset_of_which_nothing_comes_is_not_left_and_one_that_is_there_stays(capsys, fresh, tmp_path, command):
    (tmp_path / "broken.npz").write_text("no")
    words = [command, str(tmp_path / "broken.npz"), "--robot", "g1", "--jobs", "1", "--out"]
    assert main([*words, str(tmp_path / "new")]) == 1
    out = capsys.readouterr().out
    assert "broken.npz: " in out
    assert f"Nothing was {'built' if command == 'build' else 'imported'}, and nothing was written" in out
    assert not (tmp_path / "new").exists()
    shutil.copytree(fresh, tmp_path / "there")
    main(["import", *words[1:], str(tmp_path / "there")])
    assert Dataset(tmp_path / "there").rows("kept") == Dataset(fresh).rows("kept")


def test_status_for_a_person_and_for_a_program(capsys, fresh):
    code, out, _ = run(capsys, "status", fresh)
    assert code == 0
    assert "finished" in out
    assert "field/broken.bvh: line 2" in out
    code, out, _ = run(capsys, "status", fresh, "--json")
    assert code == 0
    told = json.loads(out)
    clips = {row["clip"]: row for row in rows_on_disk(fresh)}.values()
    assert told["clips"] == len(clips)
    assert told["kept"] == sum(row["kept"] for row in clips)
    assert told["splits"]["test"]["kept"] == sum(row["kept"] for row in clips if row["split"] == "test")
    assert [f["recording"] for f in told["failed"]] == ["field/broken.bvh"]


def test_status_of_an_unfinished_dataset_says_what_to_do(capsys, fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    edit_description(dataset, finished=False)
    code, out, _ = run(capsys, "status", dataset)
    assert code == 0
    assert "not finished; run the same `phuma build` again" in out


def test_verify_ends_with_0_without_and_with_1_with_a_fault(capsys, fresh, tmp_path):
    code, out, _ = run(capsys, "verify", fresh)
    assert (code, out) == (0, f"{fresh}: no fault\n")
    dataset = copied(fresh, tmp_path / "d")
    (dataset / "stray\x1b[31m\n.txt").write_text("?")
    code, out, _ = run(capsys, "verify", dataset)
    assert code == 1
    assert out.splitlines()[0].startswith("stray\\x1b[31m\\n.txt: is no part of the dataset. Run: rm ")
    assert out.splitlines()[-1] == f"{dataset}: 1 faults"
    code, out, _ = run(capsys, "verify", dataset, "--json")
    assert code == 1
    assert [f["problem"] for f in json.loads(out)["faults"]] == ["is no part of the dataset"]


def test_verify_refuses_a_robot_that_the_dataset_is_not_for(capsys, fresh, tmp_path):
    code, _, err = run(capsys, "verify", fresh, "--robot", tmp_path / "none")
    assert code == 2
    assert "unknown robot" in err


def test_verify_notes_a_robot_whose_files_have_changed(capsys, fresh, tmp_path):
    folder = tmp_path / "g1"
    shutil.copytree(load_robot("g1").folder, folder)
    assert "note" not in run(capsys, "verify", fresh, "--robot", folder)[1]
    with open(folder / "robot.json", "a") as f:
        f.write("\n")
    code, out, _ = run(capsys, "verify", fresh, "--robot", folder)
    assert code == 0
    assert out.startswith("note: robot g1: its files differ from those that the dataset was built with")


def test_answers_equal_counts_from_the_records(capsys, fresh):
    rows = rows_on_disk(fresh)
    assert answer(capsys, fresh, "SELECT count(*), count_if(kept), sum(frames) FROM manifest") == [
        [len(rows), sum(r["kept"] for r in rows), sum(r["frames"] for r in rows)]
    ]
    by = answer(capsys, fresh, "SELECT category, robot, count(*) FROM manifest WHERE kept GROUP BY ALL")
    assert {(c, r): n for c, r, n in by} == Counter((r["category"], r["robot"]) for r in rows if r["kept"])
    reasons = answer(capsys, fresh, "SELECT count(*) FROM manifest WHERE len(reasons) > 0")
    assert reasons == [[sum(bool(r["reasons"]) for r in rows)]]


def test_every_value_of_every_row_is_the_records(capsys, fresh):
    code, out, _ = run(capsys, "query", fresh, "FROM manifest", "--json")
    assert code == 0
    told = json.loads(out)
    for row, values in zip(rows_on_disk(fresh), told["rows"], strict=True):
        assert {k: v for k, v in zip(told["columns"], values) if v is not None} == {
            k: v for k, v in row.items() if v is not None
        }


def test_a_table_is_aligned_and_harmless(capsys, fresh):
    code, out, _ = run(capsys, "query", fresh, "SELECT recording, frames, kept, reasons FROM manifest ORDER BY ALL")
    assert code == 0
    head, *lines = out.splitlines()
    assert len(lines) == len(rows_on_disk(fresh))
    assert "\x1b" not in out
    assert "lab/squat \\x1b[31mé.npz" in out
    assert ODD.startswith("squat \x1b")
    end = head.index("frames") + len("frames")
    assert {line[:end].split()[-1] for line in lines} == {"120", "45"}, "numbers end under their name"


def test_csv_reads_back(capsys, fresh):
    code, out, _ = run(capsys, "query", fresh, "SELECT clip, recording, kept, reasons, fidelity FROM manifest", "--csv")
    assert code == 0
    read = list(csv.DictReader(io.StringIO(out)))
    rows = rows_on_disk(fresh)
    assert [(r["clip"], r["recording"], r["kept"]) for r in read] == [
        (r["clip"], r["recording"], str(r["kept"])) for r in rows
    ]
    assert [json.loads(r["reasons"]) for r in read] == [r["reasons"] for r in rows]
    assert [float(r["fidelity"]) if r["fidelity"] else None for r in read] == [r.get("fidelity") for r in rows]


def test_values_that_json_does_not_know(capsys, fresh):
    sql = "SELECT 'nan'::DOUBLE, 1.5, DATE '2020-01-02', [1, 2], {'a': 'inf'::FLOAT}, NULL, 'x'::BLOB"
    (row,) = answer(capsys, fresh, sql)
    assert row[:6] == [None, 1.5, "2020-01-02", [1, 2], {"a": None}, None]
    assert isinstance(row[6], str)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_parquet('{manifest}')",
        "COPY manifest TO '{out}'",
        "COPY (SELECT 1) TO '{out}' (FORMAT csv)",
        "EXPORT DATABASE '{out}'",
        "ATTACH '{out}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM 'https://example.org/a.parquet'",
        "SET enable_external_access = true",
        "SET threads = 64",
        "SELECT 1; SET lock_configuration = false; SELECT * FROM read_csv('/etc/passwd')",
        "PRAGMA profiling_output = '{out}'",
        "SELECT * FROM argv",
    ],
)
def test_a_question_reaches_no_file(capsys, fresh, tmp_path, sql):
    """Nor the network, nor variables of this program."""
    code, out, err = run(capsys, "query", fresh, sql.format(out=tmp_path / "out", manifest=fresh / "manifest.parquet"))
    assert code == 2
    assert "the question cannot be answered" in err
    assert "root:" not in out
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_question_is_told_in_few_words(capsys, fresh):
    code, out, err = run(capsys, "query", fresh, "SELECT beauty FROM manifest")
    assert (code, out) == (2, "")
    assert 'column "beauty" not found' in err
    assert "Traceback" not in err
    assert "LINE" not in err  # of a text that may not be the one that was typed


@pytest.mark.parametrize("command", [("status",), ("verify",), ("query", "SELECT 1"), ("select", "--out", "x")])
def test_what_is_no_dataset_or_a_newer_one_is_refused(capsys, fresh, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *rest = command
    (tmp_path / "empty").mkdir()
    code, out, err = run(capsys, name, tmp_path / "empty", *rest)
    assert code == 1
    assert "is not a dataset" in out + err
    newer = copied(fresh, tmp_path / "newer")
    edit_description(newer, version=99)
    code, out, err = run(capsys, name, newer, *rest)
    assert code == 1
    assert "pip install -U phuma" in out + err
    assert not (tmp_path / "x").exists()


def test_select_makes_a_dataset(capsys, fresh, tmp_path):
    part = tmp_path / "part"
    code, out, _ = run(
        capsys, "select", fresh, "--category", "walk,squat", "stand", "--source", "lab", "--split", "test", "--where",
        "robot = 'g1'", "--min", "fidelity=50,frames=60", "non_skating=50", "--max", "end=4.5", "--out", part,
    )  # fmt: skip
    assert code == 0
    assert "1 clip of 1 recording" in out
    (row,) = rows_on_disk(part)
    assert (row["source"], row["split"], row["robot"], row["frames"]) == ("lab", "test", "g1", 120)
    assert run(capsys, "verify", part)[0] == 0
    _, out, _ = run(capsys, "status", part)
    assert "a part of another dataset" in out


def test_select_a_sample(capsys, fresh, tmp_path):
    made = []
    for name in "ab":
        code, out, _ = run(
            capsys, "select", fresh, "--sample", 2, "--seed", 5, "--rejected", "--out", tmp_path / name, "--json"
        )
        assert code == 0
        assert json.loads(out)["clips"] == 2
        made.append({row["clip"] for row in rows_on_disk(tmp_path / name)})
    assert made[0] == made[1]
    assert len(made[0]) == 2


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--min", "beauty=3"], "there is no metric 'beauty'; there are: "),
        (["--min", "fidelity"], "expected METRIC=VALUE, for example fidelity=95"),
        (["--max", "fidelity=nan"], "expected METRIC=VALUE"),
        (["--category", "dance"], "unknown category 'dance'; there are: stand, reach"),
        (["--seed", "3"], "give --sample N too"),
        (["--where", "kept; DROP TABLE manifest"], "without `;`"),
    ],
)
def test_select_says_what_was_valid(capsys, fresh, tmp_path, args, says):
    code, _, err = run(capsys, "select", fresh, *args, "--out", tmp_path / "part")
    assert code == 2
    assert says in err
    assert not (tmp_path / "part").exists()
