"""A search finds what Python finds by going through all rows, each row once, in one order."""

import json
import math
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from phuma.dataset.category import TYPES
from phuma.dataset.dataset import open_dataset
from phuma.dataset.manifest import COLUMNS, write_manifest
from phuma.dataset.search import METRICS, PAGE_ROWS, Search, facets, search
from phuma.errors import ConfigError
from tests.dataset.tiny import ROBOTS, built, rows_on_disk

pytestmark = pytest.mark.slow

SEARCHED = ("recording", "clip", "label", "category", "source")
FIELDS = [
    "clip", "robot", "recording", "start", "end", "category", "split", "kept", "reasons", "label", "mirrored", "value",
]  # fmt: skip
DROP = "'; DROP TABLE manifest; --"
NAMES = (
    "lab/Walk_01.npz", "lab/100%.npz", "field/a_b.npz", "field/aXb.npz", "field/back\\slash.npz", "lab/two words.npz",
    "lab/line\nbreak.npz", "lab/\x1b[31mÉté.npz", "lab/漢字.npz", f"lab/{DROP}.npz", "lab/<b>bold</b>.npz",
    "lab/zero\x00byte.npz", "lab/$1 ? {x}.npz",
)  # fmt: skip
LABELS = (None, "a Walk", "jump, 100 % of it", "ÜBER", "o'clock")
ROWS = 317


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Real rows, many times, under names that want to do harm, with ties, gaps and extreme numbers."""
    real = rows_on_disk(built(tmp_path_factory.getbasetemp()))
    dice = random.Random(0)
    out = []
    for n in range(ROWS):
        row = {**dict.fromkeys(COLUMNS), **real[n % len(real)], "clip": f"c{n // 2 * 7919 % 1000}-{n // 2}"}
        row["robot"] = ROBOTS[n % 2]
        row |= {"recording": NAMES[n % len(NAMES)], "label": LABELS[n % len(LABELS)]}
        row["fidelity"] = dice.choice([None, 100.0, 99.0, 98.5, dice.uniform(50, 100)])
        row["root_jerk"] = dice.choice([row["root_jerk"], None, 0.0, -1e15, 1e15])
        row["torque_peak"] = None
        row["split"], row["mirrored"] = dice.choice(["train", "test", None]), dice.choice([True, False, None])
        out.append(row)
    dice.shuffle(out)
    return out


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("searched")
    shutil.copy(built(tmp_path_factory.getbasetemp()) / "dataset.json", folder)
    write_manifest(folder / "manifest.parquet", rows)
    return open_dataset(folder)


def key(row):
    return row["clip"], row["robot"]


def everything(dataset, wanted):
    """Rows of all pages."""
    first = search(dataset, replace(wanted, page=0))
    out = []
    for page in range(first.pages):
        found = search(dataset, replace(wanted, page=page))
        assert (found.total, found.page, found.pages) == (first.total, page, first.pages)
        assert len(found.rows) == PAGE_ROWS or page == first.pages - 1
        assert found.rows
        out += found.rows
    assert len(out) == first.total
    return out


def number(row, metric):
    value = row[metric]
    return value if value is not None and math.isfinite(value) else None


def has_words(row, text):
    return all(any(w.lower() in (row[c] or "").lower() for c in SEARCHED) for w in text.split())


def ordered(rows, sort=None, descending=False):
    """As they should come."""
    rows = sorted(rows, key=key)
    if sort is None:
        return rows
    valued = [r for r in rows if number(r, sort) is not None]
    valued.sort(key=lambda r: -number(r, sort) if descending else number(r, sort))
    return valued + [r for r in rows if number(r, sort) is None]


@pytest.mark.parametrize("sort", [None, "fidelity", "root_jerk", "torque_peak"])
@pytest.mark.parametrize("descending", [False, True])
def test_all_pages_together_are_all_rows_once_in_order(dataset, rows, sort, descending):
    found = everything(dataset, Search(sort=sort, descending=descending))
    assert [key(r) for r in found] == [key(r) for r in ordered(rows, sort, descending)]
    if sort:
        assert [r["value"] for r in found] == [number(r, sort) for r in ordered(rows, sort, descending)]


def test_a_row_says_what_the_manifest_says(dataset, rows):
    by_key = {key(row): row for row in rows}
    for found in everything(dataset, Search(metric="fidelity")):
        assert list(found) == FIELDS
        row = by_key[key(found)]
        expected = {name: row[name] for name in FIELDS if name != "value"}
        assert found == expected | {"mirrored": bool(row["mirrored"]), "value": row["fidelity"]}
        json.dumps(found, allow_nan=False)


WORDS = (
    "walk", "WALK", "c1", "lab jump", "été", "über", "漢", "o'clock", "%", "100%", "_", "a_b", "\\", "k\\s",
    "two words", "words\ntwo", "line\nbreak", "\n", "", "   ", DROP, "'", '"', "--", ";", "?", "$1", "<b>", "\x00",
    "zero\x00byte", "*", "walk nowhere", "field/a", "\x1b[31m", "npz lab", "linebreak", "npzc", "lab " * 30,
)  # fmt: skip


def test_text_finds_what_holds_every_word_literally(dataset, rows):
    def found(text):
        return [key(r) for r in everything(dataset, Search(text=text))]

    def wanted(text):
        return [key(r) for r in ordered(r for r in rows if has_words(r, text))]

    assert [text for text in WORDS if found(text) != wanted(text)] == []


def test_the_words_tell_rows_apart(rows):
    """Else the test above says little: most of them find some rows and not all."""
    counts = {text: sum(has_words(r, text) for r in rows) for text in WORDS}
    assert counts["%"] < counts["100%"] + ROWS / 2
    assert sum(0 < n < ROWS for n in counts.values()) >= 18
    assert counts["_"] != counts["a_b"]
    assert counts["linebreak"] == counts["npzc"] == 0 < counts["line\nbreak"]


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        (Search(category="walk"), lambda r: r["category"] == "walk"),
        (Search(split="test"), lambda r: r["split"] == "test"),
        (Search(verdict="kept"), lambda r: r["kept"]),
        (Search(verdict="rejected"), lambda r: not r["kept"]),
        (Search(source="field"), lambda r: r["source"] == "field"),
        (Search(robot="h1_2"), lambda r: r["robot"] == "h1_2"),
        (Search(metric="fidelity", low=99.0), lambda r: number(r, "fidelity") is not None and r["fidelity"] >= 99),
        (Search(metric="fidelity", high=99.0), lambda r: number(r, "fidelity") is not None and r["fidelity"] <= 99),
        (Search(metric="root_jerk", low=-1e300), lambda r: number(r, "root_jerk") is not None),
        (Search(metric="fidelity", low=100.0, high=99.0), lambda r: False),
        (
            Search("lab", "walk", "train", "kept", "lab", "g1", "fidelity", 60.0, 99.5),
            lambda r: (
                (r["category"], r["split"], r["kept"], r["source"], r["robot"]) == ("walk", "train", True, "lab", "g1")
                and 60 <= (number(r, "fidelity") or 0) <= 99.5
            ),
        ),
    ],
    ids=lambda v: str(v) if isinstance(v, Search) else "",
)
def test_conditions_hold_together(dataset, rows, wanted, holds):
    expected = ordered(r for r in rows if holds(r))
    assert [key(r) for r in everything(dataset, wanted)] == [key(r) for r in expected]
    assert len(expected) < ROWS
    assert expected or wanted.low == 100.0


def test_the_value_shown_is_the_one_sorted_by_else_the_one_filtered_by(dataset, rows):
    by_key = {key(row): row for row in rows}

    def shows(name, wanted):
        return all(r["value"] == number(by_key[key(r)], name) for r in everything(dataset, wanted))

    assert shows("root_jerk", Search(sort="root_jerk", metric="fidelity", low=0.0))
    assert shows("fidelity", Search(metric="fidelity", low=0.0))
    assert shows("fidelity", Search(metric="fidelity"))
    assert all(r["value"] is None for r in everything(dataset, Search()))


def test_a_page_behind_the_last_is_empty(dataset):
    for page in (7, 10**30):
        found = search(dataset, Search(page=page))
        assert (found.total, found.page, found.pages, found.rows) == (ROWS, page, 7, [])
    assert search(dataset, Search(text="nowhere")).pages == 0


def test_facets_are_what_is_there(dataset, rows):
    found = facets(dataset)
    assert (found.clips, found.kept) == (len({r["clip"] for r in rows}), len({r["clip"] for r in rows if r["kept"]}))
    assert found.robots == ("g1", "h1_2")
    assert found.splits == ("train", "test")
    assert found.sources == tuple(sorted({r["source"] for r in rows}))
    assert set(found.categories) == {r["category"] for r in rows}
    assert list(found.categories) == [t for t in TYPES if t in found.categories]
    valued = {name for name in METRICS if any(number(r, name) is not None for r in rows)}
    assert {m.name for m in found.metrics} == valued
    assert "torque_peak" not in valued
    assert {"root_jerk", "fidelity", "non_skating", "joint_jerk", "pelvis_min"} <= valued


def test_everything_that_facets_offer_can_be_asked_for(dataset):
    there = facets(dataset)
    for column in ("robots", "categories", "splits", "sources"):
        name = {"categories": "category"}.get(column, column[:-1])
        totals = [search(dataset, Search(**{name: value})).total for value in getattr(there, column)]
        assert min(totals) > 0
        assert sum(totals) <= ROWS
    for metric in there.metrics:
        assert search(dataset, Search(sort=metric.name)).rows[0]["value"] is not None
        assert search(dataset, Search(metric=metric.name, low=-1e9)).total > 0


def test_metrics_are_columns_of_numbers_and_none_is_a_limit():
    assert all(COLUMNS[name] == "DOUBLE" and not name.endswith("_limit") for name in METRICS)
    assert METRICS["root_jerk"].better == METRICS["torque_peak"].better == "low"
    assert METRICS["fidelity"].better == METRICS["contact_score"].better == "high"
    assert all(m.label and m.better in ("high", "low") for m in METRICS.values())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"category": "dance"}, "unknown category 'dance'; there are: .*walk"),
        ({"category": DROP}, "unknown category"),
        ({"split": "dev"}, "unknown split 'dev'; there are: test, train"),
        ({"verdict": "maybe"}, "unknown verdict 'maybe'; there are: kept, rejected"),
        ({"source": "moon"}, "unknown source 'moon'; there are: field, lab"),
        ({"robot": "r2d2"}, "unknown robot 'r2d2'; there are: g1, h1_2"),
        ({"sort": "beauty"}, "unknown metric 'beauty'; there are: root_jerk"),
        ({"sort": "fidelity_limit"}, "unknown metric"),
        ({"sort": "fidelity DESC; DROP TABLE manifest"}, "unknown metric"),
        ({"metric": "label"}, "unknown metric 'label'"),
        ({"low": 3.0}, "of which metric"),
        ({"metric": "fidelity", "low": math.nan}, "low is nan; expected a number"),
        ({"metric": "fidelity", "high": math.inf}, "high is inf"),
        ({"page": -1}, "the first is 0"),
        ({"text": "\ud800"}, "no Unicode"),
        ({"text": " ".join(map(str, range(21)))}, "21 words to search for; at most 20"),
    ],
    ids=repr,
)
def test_what_cannot_be_searched_for_is_told(dataset, wrong, says):
    with pytest.raises(ConfigError, match=says):
        search(dataset, Search(**wrong))
    assert search(dataset, Search()).total == ROWS


def test_threads_do_not_disturb_one_another(dataset):
    questions = [
        Search(text=text, sort=sort, descending=n % 2 == 1, page=n % 3)
        for n, (text, sort) in enumerate([(t, s) for t in ("lab", "walk", "c1", "") for s in (None, "fidelity")] * 8)
    ]
    alone = [search(dataset, q) for q in questions]
    fresh = open_dataset(dataset.root)  # the threads open it as well
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda q: search(fresh, q), questions)) == alone


@pytest.mark.parametrize("condition", ["robot = 'g1'", "label IS NULL OR fidelity > 98.7 -- not all", "split = 'test'"])
def test_a_part_of_a_dataset_is_all_that_is_found_in_it(dataset, condition):
    """A condition that is neither true nor false of a row leaves it out, as SQL does."""
    wanted = {(row["clip"], row["robot"]) for row in dataset.rows(condition)}
    part = dataset.part(condition)
    assert 0 < len(wanted) < ROWS
    assert search(part, Search()).total == len(wanted)
    assert {(row["clip"], row["robot"]) for row in part.rows()} == wanted
    assert search(dataset, Search()).total == ROWS, "the whole is as it was"
    with pytest.raises(ConfigError, match="the question cannot be answered"):
        dataset.part("colour = 'red'")
