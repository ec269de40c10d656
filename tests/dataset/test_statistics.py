"""Statistics against numbers that are counted here, from the records' JSON and without SQL."""

import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from phuma.core.curation_metrics import CURATION
from phuma.core.robot_metrics import BESIDE, FIVE, HUMAN
from phuma.curation import PRESETS, CurateCfg, curate
from phuma.dataset.binning import bins_around, percent_bins
from phuma.dataset.category import GROUP_OF, TYPES
from phuma.dataset.dataset import open_dataset
from phuma.dataset.manifest import write_manifest
from phuma.dataset.statistics import summarise
from phuma.retargeting.measure import combine
from phuma.synth import generate
from tests.report_dataset import HOSTILE, ROBOTS, built, rows_on_disk

pytestmark = pytest.mark.slow

# The paper's filters in the paper's order, written down again.
PASSES = {
    "root_jerk": lambda row: row["root_jerk"] < 50,
    "contact_score": lambda row: row["contact_score"] > 0.6,
    "pelvis_min": lambda row: row["pelvis_min"] > 0.6,
    "pelvis_max": lambda row: row["pelvis_max"] < 1.5,
    "pelvis_support": lambda row: row["pelvis_support"] < 0.06,
    "spine_support": lambda row: row["spine_support"] < 0.11,
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return open_dataset(built(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="module")
def summary(dataset):
    return summarise(dataset)


@pytest.fixture(scope="module")
def rows(dataset):
    """On every robot."""
    return rows_on_disk(dataset.root)


@pytest.fixture(scope="module")
def clips(rows):
    """Every clip once, with mirror images."""
    return list({row["clip"]: row for row in rows}.values())


@pytest.fixture(scope="module")
def judged(clips):
    return [row for row in clips if not row["mirrored"]]


def with_rows(dataset, folder, rows):
    """The same dataset with another manifest."""
    shutil.copy(dataset.root / "dataset.json", folder)
    write_manifest(folder / "manifest.parquet", rows)
    return open_dataset(folder)


def test_the_dataset_has_what_the_tests_are_about(rows, judged):
    assert {row["robot"] for row in rows} == set(ROBOTS)
    assert any(row["mirrored"] for row in rows)
    rejecting = {name for row in judged for name, passes in PASSES.items() if not passes(row)}
    assert len(rejecting) >= 3
    assert 0 < sum(row["kept"] for row in judged) < len(judged)


def test_each_filter_leaves_what_it_and_those_before_it_let_through(summary, judged):
    assert summary.judged == len(judged)
    assert [f.metric.name for f in summary.filters] == list(PASSES)
    left = judged
    for step in summary.filters:
        left = [row for row in left if PASSES[step.metric.name](row)]
        assert step.remaining == len(left), step.metric.name
    assert summary.filters[-1].remaining == summary.total.passed == sum(row["kept"] for row in judged)


def test_each_filter_alone_and_what_only_it_rejects(summary, judged):
    failed = [{name for name, passes in PASSES.items() if not passes(row)} for row in judged]
    for step in summary.filters:
        assert step.rejects == sum(step.metric.name in names for names in failed), step.metric.name
        assert step.only == sum(names == {step.metric.name} for names in failed), step.metric.name


def test_filters_and_their_limits_are_those_of_curation(summary):
    verdict = curate(generate("walk", 2.0, 0).motion, CurateCfg(preset="paper")).clips[0].verdict
    ours = [(f.metric, f.limits) for f in summary.filters]
    assert ours == [(m.metric, (m.limit,)) for m in verdict.measures]
    short = generate("stand", 1.0, 0).motion.frames(0, 20)
    measures = [m for p in PRESETS for m in curate(short, CurateCfg(preset=p)).clips[0].verdict.measures]
    assert set(CURATION) == {m.metric for m in measures}


@pytest.mark.parametrize("column", ["source", "category", "split"])
def test_hours_and_clips_by_source_category_and_split(summary, clips, column):
    found = {a.name: a for a in getattr(summary, {"category": "categories"}.get(column, column + "s"))}
    assert {row[column] for row in clips} <= set(found)
    for name, amount in found.items():
        own = [row for row in clips if row[column] == name]
        assert amount.considered == sum(not row["mirrored"] for row in own)
        assert amount.passed == sum(row["kept"] and not row["mirrored"] for row in own)
        assert amount.kept == sum(row["kept"] for row in own)
        assert amount.hours == pytest.approx(sum(r["frames"] / r["fps"] for r in own if r["kept"]) / 3600)
    for field in ("considered", "passed", "kept", "hours"):
        assert sum(getattr(a, field) for a in found.values()) == pytest.approx(getattr(summary.total, field))


def test_the_greatest_source_comes_first_whatever_the_order_of_rows(dataset, rows, tmp_path):
    sizes = {"b": 1, "a": 1, "d": 3, "c": 2, "e": 0}
    kept = next(row for row in rows if row["kept"])
    made = [kept | {"source": s, "clip": f"{s}{i}"} for s, n in sizes.items() for i in range(n)]
    made += [row | {"source": "e"} for row in rows if not row["kept"]]
    for n, order in enumerate((made, made[::-1])):
        (tmp_path / str(n)).mkdir()
        found = summarise(with_rows(dataset, tmp_path / str(n), order))
        assert [a.name for a in found.sources] == ["d", "c", "a", "b", "e"]


def test_all_eleven_types_are_there_with_their_groups(summary):
    assert [(a.name, a.group) for a in summary.categories] == [(t, GROUP_OF[t]) for t in TYPES]


def test_a_second_robot_changes_nothing_but_its_own_part(dataset, summary, rows, tmp_path):
    alone = summarise(with_rows(dataset, tmp_path, [row for row in rows if row["robot"] == "g1"]))
    assert [r.name for r in summary.robots] == list(ROBOTS)
    # The bars of the five are the same for all robots, so they may lie elsewhere for one.
    assert replace(alone.robots[0], histograms=()) == replace(summary.robots[0], histograms=())
    assert replace(alone, robots=()) == replace(summary, robots=())


def test_mirror_images_count_as_clips_but_not_in_the_funnel(dataset, summary, rows, tmp_path):
    alone = summarise(with_rows(dataset, tmp_path, [row for row in rows if not row["mirrored"]]))
    assert summary.mirrored > 0 == alone.mirrored
    assert summary.total.kept == alone.total.kept + summary.mirrored
    assert (summary.filters, summary.curation, summary.judged) == (alone.filters, alone.curation, alone.judged)


def test_what_others_made_counts_but_was_never_judged(dataset, summary, rows, tmp_path):
    made = next(row for row in rows if row["kept"] and row["robot"] == "g1")
    never = {name: None for name in made if name in PASSES or name.endswith("_limit") or name == "fidelity"}
    more = [*rows, made | never | {"clip": "theirs", "imported": True, "category_guess": None}]
    found = summarise(with_rows(dataset, tmp_path, more))
    assert (found.imported, found.total.kept) == (1, summary.total.kept + 1)
    assert (found.filters, found.judged, found.confusion) == (summary.filters, summary.judged, summary.confusion)
    assert found.robots[0].five["fidelity"] == pytest.approx(summary.robots[0].five["fidelity"])


def test_a_dataset_of_imports_alone_has_no_funnel(dataset, rows, tmp_path):
    made = next(row for row in rows if row["kept"])
    nothing = {name: None for name in made if name in PASSES or name.endswith("_limit")}
    found = summarise(with_rows(dataset, tmp_path, [made | nothing | {"imported": True}]))
    assert (found.filters, found.curation, found.judged) == ((), (), 0)


def test_nothing_at_all_is_a_dataset_too(dataset, tmp_path):
    found = summarise(with_rows(dataset, tmp_path, []))
    assert (found.total.kept, found.total.hours, found.robots, found.filters) == (0, 0.0, (), ())


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_five_are_those_of_one_long_motion(summary, rows, robot):
    own = [row for row in rows if row["robot"] == robot and row["kept"]]
    wanted = combine([{n: row[n] for n in (*FIVE, "frames", "contact_samples", "step_samples")} for row in own])
    about = next(r for r in summary.robots if r.name == robot)
    assert about.clips == len(own)
    assert about.five == pytest.approx({n: wanted[n] for n in FIVE})


def test_what_is_unknown_in_a_clip_is_no_hundred_of_the_dataset(dataset, summary, rows, tmp_path):
    """As the manifest is written today, and as it was, with 100 % of nothing."""
    kept = [row for row in rows if row["robot"] == "g1" and row["kept"]]
    floating = {"contact_samples": 0, "step_samples": 0}
    names = [n for n in FIVE if n.startswith("non_")]
    for folder, value in (("new", None), ("old", 100.0)):
        (tmp_path / folder).mkdir()
        alone = dict.fromkeys(names, value) | floating | {"clip": "floats", "flags": ["unknown: no sole", "leap: fast"]}
        more = [*kept, kept[0] | alone, kept[0] | alone | {"clip": "floats too", "flags": ["non_floating 12.1 %"]}]
        data = with_rows(dataset, tmp_path / folder, more)
        (found,) = summarise(data).robots
        before = summary.robots[0]
        assert {n: found.five[n] for n in names} == pytest.approx({n: before.five[n] for n in names})
        assert {n: found.known[n] for n in FIVE} == {n: len(more) - 2 * (n in names) for n in FIVE}
        assert all(sum(h.counts["kept"]) == found.known[h.metric.name] for h in found.histograms)
        assert data.query("SELECT count(non_floating) FROM manifest")[1] == [(len(kept),)]
        assert found.flagged == before.flagged + 2
        extra = {"unknown": 1, "leap": 1, "non_floating": 1}
        assert dict(found.flags) == dict(Counter(dict(before.flags)) + Counter(extra))
        (nothing,) = summarise(with_rows(dataset, tmp_path / folder, more[-2:])).robots
        assert [nothing.five[n] for n in names] == [None] * len(names)


def test_what_stands_beside_the_five(summary, rows):
    own = [row for row in rows if row["robot"] == "g1" and row["kept"]]
    found = {s.metric.name: s for s in summary.robots[0].beside}
    for metric in (*BESIDE, *HUMAN):
        values = [row[metric.name] for row in own if row.get(metric.name) is not None]
        assert bool(values) == (metric.name in found)
        if values:
            end, worst = (0.95, max) if metric.better == "low" else (0.05, min)
            about = found[metric.name]
            wanted = np.median(values), np.quantile(values, end), worst(values)
            assert (about.median, about.tail, about.worst) == pytest.approx(wanted)


@pytest.mark.parametrize("name", FIVE)
def test_the_worst_clips_are_the_worst(summary, rows, name):
    for robot in summary.robots:
        own = [r for r in rows if r["robot"] == robot.name and r["kept"] and r[name] < 99.95]
        wanted = sorted((r[name], r["clip"]) for r in own)[:3]
        assert [(w.value, w.clip) for w in robot.worst[name]] == wanted
        assert all(w.robot == robot.name and w.scores[name] == w.value for w in robot.worst[name])


def test_histograms_of_curation_hold_every_clip_once_and_by_its_fate(summary, judged):
    for data in summary.curation:
        values = np.array([row[data.metric.name] for row in judged])
        failed = np.array([not PASSES[data.metric.name](row) for row in judged])
        kept = np.array([row["kept"] for row in judged])
        edges = np.array(data.edges)
        inner = np.clip(values, edges[0] + 1e-9, edges[-1] - 1e-9)  # the bars at the ends hold what lies beyond
        for fate, which in (("kept", kept), ("this", failed), ("other", ~kept & ~failed)):
            assert data.counts[fate] == tuple(np.histogram(inner[which], edges)[0]), (data.metric.name, fate)
        assert data.open_low == (values.min() < edges[0])
        assert data.open_high == (values.max() > edges[-1])
        assert np.abs(edges - data.limit).min() < 1e-9, "no bar lies on both sides of the limit"


def test_histograms_of_the_five_hold_every_clip_once(summary, rows):
    for robot in summary.robots:
        for data in robot.histograms:
            values = [r[data.metric.name] for r in rows if r["robot"] == robot.name and r["kept"]]
            inner = np.clip(values, data.edges[0], 100)
            assert data.counts["kept"] == tuple(np.histogram(inner + 1e-7, [*data.edges[:-1], 101])[0])
            assert data.open_low == (min(values) < data.edges[0])


@pytest.mark.parametrize("limit", [50.0, 0.6, 0.06, 0.11, 1.5, -1.0, 0.0])
def test_bars_are_few_and_end_at_the_limit(limit):
    for low, high in ((0.0, 1.0), (0.5, 0.5), (-3.0, 1e6), (1e-9, 2e-9), (40.0, 60.0)):
        edges = np.array(bins_around(limit, low, high).edges)
        assert 2 <= len(edges) - 1 <= 200, (low, high)
        assert np.all(np.diff(edges) > 0), (low, high)
        assert np.abs(edges - limit).min() < 1e-6, (low, high)
        assert edges[0] < limit < edges[-1], (low, high)


def test_bars_of_percentages_end_at_100():
    for low in (-5.0, 0.0, 33.3, 89.9, 99.0, 100.0):
        edges = percent_bins(low).edges
        assert edges[-1] == 100
        assert edges[0] <= max(low, 0)


def test_licences_failures_and_recordings(summary, clips):
    wanted = Counter((r["source"], r["licence"], r["redistributable"]) for r in clips if r["kept"])
    assert {(x.source, x.licence, x.redistributable): x.clips for x in summary.licences if x.clips} == wanted
    (failure,) = summary.failures
    assert failure.recordings == (f"{HOSTILE}/<b>two.bvh", f"{HOSTILE}/one.bvh")
    assert summary.recordings == len({r["recording"] for r in clips}) + 2


def test_labels_beside_guesses(summary, judged):
    wanted = Counter()
    for row in judged:
        if row["kept"] and row["label"] in ("walk", "a jump"):
            wanted["jump" if "jump" in row["label"] else "walk", row["category_guess"]] += 1
    assert wanted["walk", "walk"]
    assert wanted["jump", "stand"]
    kinds = summary.confusion.types
    found = {(a, b): n for a, row in zip(kinds, summary.confusion.counts) for b, n in zip(kinds, row) if n}
    assert found == wanted
    assert (summary.confusion.total, summary.confusion.right) == (sum(wanted.values()), wanted["walk", "walk"])
