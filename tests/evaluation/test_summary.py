"""Laws of summaries."""

import json

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.errors import PhumaError
from phuma.evaluation import ERRORS, SHARES, summarise, table, worst
from phuma.evaluation.summary import bootstrap, wilson
from tests.evaluation.tracking import GROUPS, score


def test_the_document_is_as_agreed():
    summary = summarise([score("a"), score("b", "stand", fails=50)], GROUPS)
    assert list(summary) == ["total", "categories", "motions"]
    assert {"success_0.15", "success_0.5", "mpjpe_global_mm", "mpjpe_local_mm"} <= set(summary["total"])
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    for entry in [summary["total"], *summary["categories"].values(), *summary["motions"]]:
        assert {*SHARES, *ERRORS, "interval", "up_to_failure", "rollouts"} <= set(entry)
        assert set(entry["interval"]) == {*SHARES, *ERRORS}
        assert set(entry["up_to_failure"]) == {*ERRORS, "interval"}


def test_success_is_in_percent_of_motions_and_by_its_own_threshold():
    scores = [score("a"), score("b", strict=30), score("c", fails=50), score("d", fails=0)]
    total = summarise(scores, GROUPS)["total"]
    assert (total["success_0.15"], total["success_0.5"], total["tracked"]) == (25.0, 50.0, 100.0)
    assert total["progress"] == pytest.approx((100 + 100 + 50 + 0) / 4)
    assert (total["motions"], total["rollouts"]) == (4, 4)


def test_errors_are_of_successes_and_beside_that_of_all_up_to_failure():
    total = summarise([score("a", error=10.0, strict=3), score("b", error=40.0, fails=50)], GROUPS)["total"]
    assert total["mpjpe_global_mm"] == 10.0
    assert total["up_to_failure"]["mpjpe_global_mm"] == pytest.approx((100 * 10 + 50 * 40) / 150)


def test_a_motion_counts_by_its_frames():
    total = summarise([score("a", error=10.0, frames=300), score("b", error=50.0, frames=100)], GROUPS)["total"]
    assert total["dof_deg"] == pytest.approx(20.0)


def test_a_motion_counts_once_however_often_it_was_tried():
    scores = [score("a", error=10.0)] * 3 + [score("b", error=30.0)] + [score("c", fails=0)] * 6
    total = summarise(scores, GROUPS)["total"]
    assert total["mpjpe_global_mm"] == pytest.approx(20.0)
    assert total["success_0.5"] == pytest.approx(100 * 2 / 3)
    assert (total["motions"], total["rollouts"]) == (3, 10)


def test_a_motion_that_succeeds_in_half_of_its_rollouts_counts_half():
    scores = [score("a", error=10.0), score("a", error=99.0, fails=50), score("b", error=40.0)]
    summary = summarise(scores, GROUPS)
    assert summary["total"]["success_0.5"] == pytest.approx(75.0)
    assert summary["total"]["mpjpe_global_mm"] == pytest.approx((0.5 * 10 + 40) / 1.5)
    assert summary["motions"][0]["mpjpe_global_mm"] == 10.0


def test_groups_hold_their_categories_and_what_does_not_occur_is_left_out():
    scores = [score("a", "walk"), score("b", "run", fails=1), score("c", "swim"), score("d", None)]
    summary = summarise(scores, GROUPS)
    found = {name: (entry["motions"], entry["success_0.5"]) for name, entry in summary["categories"].items()}
    assert list(found.items()) == [
        ("horizontal", (2, 50.0)), ("walk", (1, 100.0)), ("run", (1, 0.0)), ("swim", (1, 100.0)),
    ]  # fmt: skip
    assert "group" not in summary["categories"]["horizontal"]
    assert [summary["categories"][c]["group"] for c in ("walk", "swim")] == ["horizontal", None]
    assert summary["total"]["motions"] == 4


def test_motions_begin_with_the_worst_and_say_why():
    scores = [
        score("good", error=5.0), score("close", strict=10), score("far", error=20.0), score("late", fails=90),
        score("early", fails=9), score("early"), score("never", fails=0),
    ]  # fmt: skip
    summary = summarise(scores, GROUPS)
    assert [row["motion"] for row in summary["motions"]] == ["never", "late", "early", "close", "far", "good"]
    early = summary["motions"][2]
    assert early["failures"] == {"deviated": 1}
    assert (early["first_failure_s"], early["seconds"], early["rollouts"]) == (0.18, 1.98, 2)
    assert (early["category"], early["success_0.5"], early["progress"]) == ("walk", 50.0, pytest.approx(54.5))
    columns, rows = worst(summary, 2)
    assert [row[0] for row in rows] == ["never", "late"]
    assert dict(zip(columns, rows[1]))["why"] == "deviated 1"
    assert len(worst(summary)[1]) == 3, "what never failed is not among the worst"


def test_of_motions_that_succeed_as_often_the_one_that_fails_earlier_is_worse():
    scores = [score("late", fails=90), score("late", fails=95), score("late", strict=1)]
    scores += [score("early", fails=30), score("early", fails=10), score("early")]
    rows = summarise(scores, GROUPS)["motions"]
    assert [(row["motion"], row["first_failure_s"]) for row in rows] == [("early", 0.2), ("late", 1.8)]


def test_the_table_shows_what_the_document_says():
    columns, rows = table(summarise([score("a"), score("b", "stand", error=21.234, strict=3)], GROUPS))
    assert [row[0] for row in rows] == ["total", "stationary", "stand", "horizontal", "walk"]
    total = dict(zip(columns, rows[0]))
    assert (total["motions"], total["g-mpjpe"], total["SR@0.5"]) == (2, 15.62, "100.0 [34, 100]")
    assert total["SR@0.15"].startswith("50.0 [9,")
    assert all(len(row) == len(columns) for row in rows)


def test_where_nothing_succeeded_there_is_no_error_to_tell():
    summary = summarise([score("a", fails=0), score("b", fails=0)], GROUPS)
    assert summary["total"]["mpjpe_global_mm"] is None
    assert summary["total"]["up_to_failure"]["mpjpe_global_mm"] is None
    assert summary["total"]["interval"]["mpjpe_global_mm"] is None
    assert json.dumps(summary, allow_nan=False)
    columns, rows = table(summary)
    assert dict(zip(columns, rows[0]))["g-mpjpe"] is None


def test_where_nothing_succeeded_the_table_tells_how_far_it_came_and_the_errors_until_then():
    columns, rows = table(summarise([score("a", fails=50, error=12.0), score("b", fails=50, error=12.0)], GROUPS))
    total = dict(zip(columns, rows[0]))
    assert total["g-mpjpe"] == "(12.00)"
    assert 0 < float(total["progress"]) < 100


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [(0.8, 10, 0.4902, 0.9433), (1.0, 10, 0.7225, 1.0), (0.0, 1, 0.0, 0.7935), (0.5, 100, 0.4038, 0.5962)],
)
def test_wilson_s_interval_is_the_one_of_the_books(share, n, low, high):
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-4)


def test_many_rollouts_of_few_motions_do_not_make_a_narrow_interval():
    few = summarise([score("a"), score("b")], GROUPS)
    many = summarise([score("a")] * 40 + [score("b")] * 40, GROUPS)
    assert many["total"]["interval"] == few["total"]["interval"]
    assert few["total"]["interval"]["success_0.5"] == pytest.approx([34.2, 100.0], abs=0.1)
    assert many["motions"][0]["interval"]["success_0.5"][0] == pytest.approx(91.2, abs=0.1)


def test_the_bootstrap_of_a_mean_is_as_wide_as_theory_says():
    values = np.random.default_rng(1).normal(5.0, 2.0, size=(400, 1))
    low, high = bootstrap(values, np.ones((400, 1)))
    expected = values.mean() + np.array([-1.96, 1.96]) * values.std() / np.sqrt(400)
    assert (low[0], high[0]) == pytest.approx(expected, abs=0.03)
    assert bootstrap(values, np.ones((400, 1))) == (low, high), "the same every time"


def test_the_bootstrap_draws_sums_with_their_numbers():
    """Of two motions a draw has both, or one of them twice: the ends are each one's own mean."""
    total, count = np.array([[30.0, 1.0], [10.0, 0.0]]), np.array([[3.0, 1.0], [2.0, 0.0]])
    low, high = bootstrap(total, count)
    assert (low[0], high[0]) == (5.0, 10.0)
    assert np.isnan([low[1], high[1]]).all(), "one motion alone tells nothing of others"


def test_the_interval_holds_the_mean_and_is_of_the_same_motions():
    scores = [score(str(i), error=float(i), fails=None if i % 3 else 50) for i in range(12)]
    total = summarise(scores, GROUPS)["total"]
    for entry in (total, total["up_to_failure"]):
        low, high = entry["interval"]["dof_deg"]
        assert low < entry["dof_deg"] < high
    assert total["interval"]["dof_deg"] != total["up_to_failure"]["interval"]["dof_deg"]


def test_the_order_of_scores_does_not_matter_to_means_and_rows():
    scores = [score(str(i), error=float(i), fails=None if i % 2 else i) for i in range(8)]
    a, b = summarise(scores, GROUPS), summarise(scores[::-1], GROUPS)
    assert a["motions"] == b["motions"]
    assert {e: a["total"][e] for e in (*SHARES, *ERRORS)} == pytest.approx(
        {e: b["total"][e] for e in (*SHARES, *ERRORS)}
    )


def test_no_rollout_and_two_motions_of_one_name_are_refused():
    with pytest.raises(PhumaError, match="no rollout to summarise"):
        summarise([], GROUPS)
    problem = "different motions are named 'a' \\(run, 100 frames; walk, 100 frames\\); names have to be unique"
    with pytest.raises(PhumaError, match=problem):
        summarise([score("a", "walk"), score("a", "run")], GROUPS)
    with pytest.raises(PhumaError, match="different motions are named 'a'"):
        summarise([score("a", frames=100), score("a", frames=101)], GROUPS)
