"""docs/formats/dataset.md is the format's specification: it has every column, and the questions have answers."""

import json
import re
import runpy
from pathlib import Path

import pytest

import phuma
from phuma.dataset.manifest import COLUMNS
from tests.conftest import ROOT
from tests.dataset.tiny import built

GUIDE, PAGE, METRICS = (
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("dataset.md", "formats/dataset.md", "tables/metrics.md")
)
TABLES = [line.split("|") for line in (PAGE + METRICS).splitlines() if line.startswith("| `")]
QUESTIONS = re.findall(r"```sql\n(.*?)```", GUIDE + PAGE, flags=re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TYPED = [
    sql for page in PAGES for sql in re.findall(r'^phuma query \S+ "(.*?)"', page.read_text(encoding="utf-8"), re.M)
]
"""What pages tell to type after `phuma query`."""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def test_every_column_is_in_a_table_of_the_page():
    named = " ".join(cells[1] for cells in TABLES)
    missing = [column for column in COLUMNS if f"`{column}`" not in named]
    assert not missing, f"neither docs/formats/dataset.md nor docs/tables/metrics.md says what these are: {missing}"


def test_the_table_of_metrics_is_that_of_the_declarations(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    page = runpy.run_path(str(ROOT / "benchmarks" / "metrics.py"))["page"]()
    assert page == METRICS, "run: python benchmarks/metrics.py"


@pytest.mark.slow
def test_every_field_of_the_description_is_in_the_page(fresh):
    for key in json.loads((fresh / "dataset.json").read_text()):
        assert any(f"`{key}`" in cells[1] for cells in TABLES), key


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUESTIONS + TYPED, ids=lambda sql: sql.split("\n")[0][:40])
def test_the_questions_have_answers(fresh, sql):
    columns, _ = phuma.open_dataset(fresh).query(sql)
    assert columns


@pytest.mark.slow
def test_the_questions_say_what_they_claim(fresh):
    dataset = phuma.open_dataset(fresh)
    hours = next(sql for sql in QUESTIONS if "hours" in sql)
    assert {row[0]: row[1] for row in dataset.query(hours)[1]} == {"walk": 2, "squat": 2, "stand": 2}
    filters = next(sql for sql in QUESTIONS if "unnest" in sql)
    assert dataset.query(filters)[1] == [("contact_score", 2)]
