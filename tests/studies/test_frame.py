"""Laws of every study: what is split, shared, budgeted and resumed. Jobs are made up here, as the frame knows none of
them; `test_end_to_end.py` has real ones."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phuma.errors import ConfigError
from phuma.runtime.process_pool import Done
from phuma.studies.frame.data import Source, find_sources, split
from phuma.studies.frame.folder import RESULTS, StudyFolder
from phuma.studies.frame.motions import cut, perform, put
from phuma.studies.frame.plan import Plan, cost_of, plan_of
from phuma.studies.frame.policies import Training, train
from phuma.studies.frame.report import write_report
from phuma.studies.frame.runner import StudyRun
from phuma.studies.frame.study import study_named, study_names
from phuma.studies.frame.table import table_of, verdicts
from phuma.viewer.html import escaped

PLAN = Plan(clips=8, tests=4, seeds=3, seconds=100.0)
TYPES = ("stand", "walk", "jump", "turn")
EXPERT = 3.0


def number(text: str) -> float:
    """A number from 0 to 1 that depends on a text alone."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def made_up(work, item):
    """What a job might give: a function of its key alone, as results are."""
    if work is cut:
        filters = ("root_jerk", "contact_score", "pelvis_min", "pelvis_max", "pelvis_support", "spine_support")
        return [
            {"number": n, "seconds": 4.0, "category": TYPES[int(4 * number(f"{item.digest}{n}"))], "kept": True,
             "passed": dict.fromkeys(filters, True), "file": f"{item.digest[:8]}_{n}.npz"} for n in range(2)
        ]  # fmt: skip
    if work is put:
        metrics = Counter(fidelity=1, feasibility=1, position_error_cm=number(item.key), torque_over=2)
        return {"motion": item.key, "seconds": 4.0, "metrics": dict(metrics) | dict.fromkeys(
            ("non_floating", "non_penetration", "non_skating", "residual_contact"), 1.0)}  # fmt: skip
    if work is perform:
        good = number(item.key) > 0.2
        return {"certified": good, "loosely": True, "human_cm": 2.0, "torque_share": 1.0, "cpu": EXPERT}
    assert work is train
    sets = {name: {motion[0]: {share: number(f"{item.key}{motion[0]}") for share in SHARES} for motion in own}
            for name, own in item.tests.items()}  # fmt: skip
    return {"seconds": item.seconds, "steps": 1000, "clips": 1, "sets": sets}


SHARES = ("success_0.15", "success_0.5", "pelvis_0.15", "pelvis_0.5")


class Jobs:
    """Runs made-up jobs, notes them, and is killed after so many."""

    def __init__(self, most: float = np.inf) -> None:
        self.items, self.most = [], most

    def __call__(self, work, items):
        for index, item in enumerate(items):
            if len(self.items) >= self.most:
                raise KeyboardInterrupt
            self.items.append((work.__name__, item))
            yield Done(index, made_up(work, item), None)

    def of(self, kind: str) -> list:
        return [item for name, item in self.items if name == kind]


def sources(count: int = 12) -> list[Source]:
    return [Source(f"/r/{n}.bvh", f"r/{n}", hashlib.sha256(bytes([n])).hexdigest()) for n in range(count)]


def run(name: str, out: Path, jobs: Jobs, plan: Plan = PLAN, recordings: int = 12):
    study = study_named(name)
    return StudyRun(study, split(sources(recordings)), "g1", plan, StudyFolder(out), jobs, lambda *_: None).do()


@pytest.mark.parametrize("name", study_names())
def test_every_study_has_a_table_and_a_page(name, tmp_path):
    """Every row has a value in every column but those of worlds, which are not made up; the page holds all rows."""
    results = run(name, tmp_path / "out", Jobs())
    table = write_report(results, tmp_path / "out", ["data"], 60)
    assert table.labels == tuple(row.label for row in results.study.rows)
    assert all(cells[0].value for cells in table.cells)
    page = (tmp_path / "out" / "study.html").read_text()
    assert all(escaped(label) in page for label in table.labels)
    assert "phuma study" in page
    assert "http" not in page.replace("http-equiv", "")


def test_no_recording_is_learned_from_and_judged_on(tmp_path):
    results = run("retargeting", tmp_path, Jobs())
    learned = {piece.recording for row in results.rows for piece in row.pieces}
    judged = {piece.recording for pieces in results.tests.values() for piece in pieces}
    assert learned
    assert judged
    assert not learned & judged


def test_the_split_is_by_content():
    """Names, order and folders do not matter, one in three is held out, and a copy is not a second recording."""
    ours = split(sources())
    moved = split([replace(s, name=s.digest[::-1], path="elsewhere") for s in reversed(sources())])
    assert [s.digest for s in ours.test] == [s.digest for s in moved.test]
    assert (len(ours.train), len(ours.test)) == (8, 4)


def test_copies_are_one_recording(tmp_path):
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / f"{name}.bvh").write_text(text)
    assert len(find_sources([tmp_path])) == 2


def test_an_expert_is_asked_once(tmp_path):
    """Six trackers and three seeds of the same motions: every job is done once, every motion performed once."""
    jobs = Jobs()
    run("trackers", tmp_path, jobs)
    keys = [item.key for _, item in jobs.items]
    assert len(keys) == len(set(keys))
    assert len(jobs.of("perform")) == PLAN.clips
    assert len(jobs.of("train")) == 6 * 3


def test_jobs_travel_to_other_processes(tmp_path):
    """By pickle, and have the same names there."""
    jobs = Jobs()
    run("path", tmp_path, jobs, replace(PLAN, clips=2, tests=1, seeds=1))
    assert {name for name, _ in jobs.items} == {"cut", "put", "perform", "train"}
    assert all(pickle.loads(pickle.dumps(item)).key == item.key for _, item in jobs.items)


def test_budgets_and_tests_are_equal(tmp_path):
    """All rows are trained for as long and judged on the same motions; from scratch, the experts' time comes on top."""
    for name in ("retargeting", "trackers"):
        jobs = Jobs()
        run(name, tmp_path / name, jobs)
        trainings: list[Training] = jobs.of("train")
        assert len({json.dumps({k: v for k, v in t.tests.items() if k != "seen"}) for t in trainings}) == 1
        assert {t.seconds for t in trainings if t.tracker.taught} == {PLAN.seconds}
        extra = PLAN.clips * EXPERT
        assert {t.seconds for t in trainings if not t.tracker.taught} <= {PLAN.seconds + extra}
        assert {t.seed for t in trainings} == {0, 1, 2}


def test_rows_of_the_same_data_cannot_be_told_apart(tmp_path):
    """All made-up clips pass every filter: the paper's rows are one training set, are trained once, and it is said."""
    jobs = Jobs()
    results = run("curation", tmp_path, jobs, replace(PLAN, tests=8), 24)
    paper = [row for row in results.rows if row.row.label not in ("ours", "ours with mending")]
    assert len({tuple(row.keys.values()) for row in paper}) == 1
    table = table_of(results)
    said = {v.row: v.text for v in verdicts(table) if v.column == "held out, SR@0.15: total"}
    assert "cannot be told apart from" in said["none"]
    same = [c for c in table.comparisons if {c.one, c.other} == {"none", "jerk only"}]
    assert len(same) == 3
    assert all(c.difference == (0.0, 0.0, 0.0) for c in same)


@pytest.mark.parametrize("killed_after", [1, 30, 80])
def test_what_is_killed_and_run_again_gives_the_same_table(tmp_path, killed_after):
    """Also where the last line was cut off; nothing that was noted is done again."""
    whole = table_of(run("retargeting", tmp_path / "whole", Jobs()))
    first, second = Jobs(killed_after), Jobs()
    with pytest.raises(KeyboardInterrupt):
        run("retargeting", tmp_path / "killed", first)
    lines = tmp_path / "killed" / RESULTS
    lines.write_bytes(lines.read_bytes()[:-5])
    assert table_of(run("retargeting", tmp_path / "killed", second)).markdown() == whole.markdown()
    again = {item.key for _, item in first.items} & {item.key for _, item in second.items}
    assert len(again) == 1, "only the job of the line that was cut off"
    third = Jobs()
    run("retargeting", tmp_path / "killed", third)
    assert not third.items, "every line of the second run is whole"


def test_a_larger_budget_adds_to_what_is_there(tmp_path):
    first, second = Jobs(), Jobs()
    run("retargeting", tmp_path, first, replace(PLAN, clips=4, tests=2, seeds=0))
    results = run("retargeting", tmp_path, second)
    assert not {item.key for _, item in first.items} & {item.key for _, item in second.items}
    assert all(len(row.trainings) == 3 for row in results.rows)


def test_a_bad_recording_or_a_dead_worker_costs_no_other(tmp_path):
    """Failed recordings are named; a job whose worker died is tried again by the next run."""

    class Dying(Jobs):
        def __call__(self, work, items):
            for done in super().__call__(work, items):
                bad = work is perform and done.index == 0
                yield Done(done.index, None, "its worker process died") if bad else done

    results = run("retargeting", tmp_path, Dying(), replace(PLAN, seeds=0))
    assert list(results.failed.values()) == ["its worker process died"]
    later = Jobs()
    assert not run("retargeting", tmp_path, later, replace(PLAN, seeds=0)).failed
    assert len(later.items) == 1


def test_plans_keep_to_their_budget():
    """More minutes are more clips; three seeds, else performances alone, else motions alone."""
    study, before = study_named("retargeting"), 0
    for minutes in (12, 60, 120, 600):
        plan = plan_of(study, minutes)
        assert cost_of(study, plan) <= 60 * minutes
        assert plan.seeds in (0, 3)
        assert plan.clips >= before
        before = plan.clips
    assert [(plan.seeds, plan.performed) for plan in (plan_of(study, m) for m in (4, 12, 60))] == [
        (0, False), (0, True), (3, True)
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"too small.*about .* CPU minutes"):
        plan_of(study_named("trackers"), 1)
