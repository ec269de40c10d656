"""Metrics as they are declared: names, directions, and what people are told of a rejection."""

import math
import pickle

import pytest

from phuma.core.clip import Measure, Verdict
from phuma.core.curation_metrics import CURATION, CURATION_METRICS, DURATION, DYNAMIC, PAPER, with_current_names
from phuma.core.metric import Metric, number_beside
from phuma.core.robot_metrics import (
    BESIDE,
    COMPARED,
    FIVE,
    HUMAN,
    ROBOT,
    ROBOT_METRICS,
    SAMPLES,
    flag_word,
    flags_of,
    with_unknowns,
)

REJECTED = {
    "root_jerk": (94.2, "the pelvis jerks by 94 m/s³ on average (at most 50 m/s³)"),
    "contact_score": (0.46, "no sole on the ground for 54 % of the clip (at most 40 %)"),
    "pelvis_min": (0.342, "the pelvis comes down to 34 cm above the ground (at least 60 cm)"),
    "pelvis_max": (1.62, "the pelvis rises to 162 cm above the ground (at most 150 cm)"),
    "pelvis_support": (0.093, "the pelvis is 9.3 cm outside the base of support on average (at most 6 cm)"),
    "spine_support": (0.2, "the lowest spine joint is 20 cm outside the base of support on average (at most 11 cm)"),
    "external_support_force": (
        0.42,
        "a force of 42 % of the body weight, held for a second, comes from elsewhere than the ground (at most 15 %)",
    ),
    "sole_slide": (0.23, "soles that carry the weight slide at 23 cm/s (at most 15 cm/s)"),
    "ground_drift": (0.041, "the ground seems to rise or sink at 4.1 cm/s (at most 3 cm/s)"),
    "ground_tilt": (6.24, "the whole recording is tilted by 6.2° (at most 4°)"),
    "shake": (4.1, "the pelvis shakes by 4.1 mm about its path (at most 3 mm)"),
    "mended_tilt": (18.3, "the whole recording would have to be levelled by 18° (at most 15°)"),
    "mended_drift": (0.1, "a ground that rises or sinks at 10.0 cm/s would have to be held (at most 7.5 cm/s)"),
    "mended_float": (0.35, "a part would have to be set down by 35 cm (at most 25 cm)"),
    "mended_slide": (0.6, "a slide of 60 cm/s would have to be taken out (at most 45 cm/s)"),
    "duration": (0.8, "the clip lasts 0.8 s (at least 1 s)"),
}


def measured(name, value, limit):
    return Measure(CURATION_METRICS[name], value, limit)


def test_every_name_is_declared_once_and_can_be_a_column():
    names = [metric.name for metric in (*CURATION, *ROBOT)]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name == name.lower() and not name.endswith("_limit") for name in names)
    assert {*COMPARED, *FIVE} <= set(ROBOT_METRICS)


def test_every_metric_is_told_in_words_and_weighed_by_a_count_that_there_is():
    for metric in (*CURATION, *ROBOT):
        assert metric.label
        assert metric.about
        assert metric.weight in SAMPLES


def test_every_filter_has_a_limit_and_a_sentence():
    assert all(metric.limit is not None for metric in (*PAPER, *DYNAMIC))
    assert all(metric.rejection is not None and "{value}" in metric.rejection.text for metric in CURATION)


@pytest.mark.parametrize("metric", CURATION, ids=lambda m: m.name)
def test_a_rejection_is_told_in_a_unit_that_people_grasp(metric):
    value, said = REJECTED[metric.name]
    limit = 1.0 if metric is DURATION else metric.limit
    assert str(Measure(metric, value, limit)) == f"{metric.name}: {said}"
    assert not Measure(metric, value, limit).passed


def test_a_value_that_just_fails_does_not_read_like_its_limit():
    assert str(measured("contact_score", 0.59996, 0.6)).endswith("for 40.004 % of the clip (at most 40 %)")
    assert str(measured("pelvis_support", 0.06004, 0.06)).endswith("is 6.004 cm outside the base of support on average "
                                                                   "(at most 6 cm)")  # fmt: skip
    assert number_beside(50.0, 50.0) == "50"
    assert (number_beside(math.nan, 1.0), number_beside(math.inf, 1.0)) == ("nan", "inf")


def test_a_metric_without_a_sentence_is_told_by_its_numbers():
    grace = Metric("grace", "grace", "swans", "high", "")
    assert str(Measure(grace, 2.0, 3.0)) == "grace: 2 swans, needs > 3 swans"


def test_a_verdict_explains_itself():
    verdict = Verdict((measured("root_jerk", 61.2, 50.0), measured("contact_score", 0.9, 0.6)))
    assert not verdict.kept
    assert verdict.reasons == ("root_jerk: the pelvis jerks by 61 m/s³ on average (at most 50 m/s³)",)
    assert verdict.metrics == {"root_jerk": 61.2, "contact_score": 0.9}
    assert not measured("root_jerk", 50.0, 50.0).passed, "at the limit is not within it"
    assert not measured("contact_score", 0.6, 0.6).passed
    assert not measured("duration", math.nan, 1.0).passed
    assert pickle.loads(pickle.dumps(verdict)) == verdict


def test_a_verdict_is_of_the_declared_metrics_in_their_order_and_of_no_others():
    limits = {metric.name: metric.limit for metric in PAPER}
    values = {metric.name: 1.0 for metric in reversed(PAPER)}
    assert list(Verdict.of(PAPER, values, limits).metrics) == [metric.name for metric in PAPER]
    for wrong in ({**values, "grace": 1.0}, {"root_jerk": 1.0}):
        with pytest.raises(AssertionError, match="other metrics than declared"):
            Verdict.of(PAPER, wrong, limits)


def test_the_human_is_measured_by_all_that_needs_soles_alone():
    assert [m.name for m in HUMAN] == ["human_non_floating", "human_non_penetration", "human_non_skating"]
    assert not {m.name for m in HUMAN} & {m.name for m in BESIDE}


COUNTS = {"frames": 120, "contact_samples": 100, "step_samples": 90}
GOOD = COUNTS | {m.name: 100.0 if m.better == "high" else 0.0 for m in ROBOT}
FLAGGED = {
    "fidelity": (62.6, "fidelity: 63 % of frames are near the human (at least 80 %)"),
    "feasibility": (70.0, "feasibility: 70 % of frames have every joint within its range and speed (at least 99.99 %)"),
    "non_floating": (62.6, "non_floating: 63 % of contacts are at most 1 cm above the ground (at least 80 %)"),
    "non_penetration": (0.0, "non_penetration: 0 % of contacts are at most 1 cm below the ground (at least 80 %)"),
    "non_skating": (79.9, "non_skating: 79.9 % of contacts slip by less than 10 cm/s (at least 80 %)"),
    "ankle_speed_ratio": (4.38, "leap: an ankle is 4.4 times as fast as the human's ever is (at most 1.5 times)"),
    "stance_roll_deg": (2.4, "stance_roll_deg: standing soles lean sideways by 2.4° on average (at most 1°)"),
    "joint_speed": (117.0, "joint_speed: a joint turns at 117 % of its greatest speed (at most 100 %)"),
    "joint_jerk": (774.0, "joint_jerk: the joints jerk by 774 rad/s³ on average (at most 500 rad/s³)"),
    "self_penetration": (
        3.2, "self_penetration: links are more than 1 cm inside each other in 3.2 % of frames (at most 0.01 %)"
    ),
    "torque_peak": (924.0, "torque_peak: a motor would need 924 % of its torque (at most 200 %)"),
    "torque_over": (31.0, "torque_over: a motor would need more than its torque in 31 % of frames (at most 20 %)"),
    "residual_contact": (
        0.76,
        "residual_contact: a force of 76 % of the robot's weight, which nothing supplies, holds it on the ground (at "
        "most 15 %)",
    ),
    "residual_flight": (
        1.0,
        "residual_flight: a force of 100 % of the robot's weight, which nothing supplies, holds it in the air (at most "
        "50 %)",
    ),
}  # fmt: skip


def test_every_limit_of_a_robot_s_metric_raises_one_flag_in_words():
    assert flags_of(GOOD) == []
    assert set(FLAGGED) == {m.name for m in ROBOT if m.limit is not None}
    for name, (value, said) in FLAGGED.items():
        assert flags_of(GOOD | {name: value}) == [said]
        assert flag_word(said) == ROBOT_METRICS[name].flag or name


def test_what_is_unknown_is_flagged_once_with_its_reason_and_not_what_was_never_measured():
    floating = dict.fromkeys(("non_floating", "non_penetration", "non_skating"))
    nowhere = GOOD | floating | {"contact_samples": 0, "step_samples": 0}
    assert flags_of(nowhere) == [
        "unknown: no sole is in contact in this clip, so nothing is known of non-floating, non-penetration, non-skating"
    ]
    assert flags_of(GOOD | {"non_skating": None, "step_samples": 0}) == [
        "unknown: no sole is in contact for two frames running, so nothing is known of non-skating"
    ]
    assert flags_of({n: v for n, v in GOOD.items() if n != "fidelity"}) == [], "without a human there is none"
    assert flag_word(flags_of(nowhere)[0]) == "unknown"


def test_flags_of_earlier_versions_are_counted_by_the_metric_too():
    assert flag_word("non_floating 62.6 %") == "non_floating"
    assert flag_word("stance_roll_deg 1.4°") == "stance_roll_deg"
    settled = "the solver stopped before it had settled"
    assert flag_word(settled) == settled


def test_a_hundred_percent_of_nothing_is_unknown():
    old = {"non_floating": 100.0, "non_skating": 100.0, "feasibility": 100.0, "contact_samples": 0, "step_samples": 0}
    new = {"non_floating": None, "non_skating": None, "feasibility": 100.0, "contact_samples": 0, "step_samples": 0}
    assert with_unknowns(old) == with_unknowns(new) == new
    assert with_unknowns(GOOD) == GOOD


def test_names_of_earlier_versions_are_those_of_today():
    old = {"clip": "a", "helping_force": 0.5, "helping_force_limit": 0.15}
    new = {"clip": "a", "external_support_force": 0.5, "external_support_force_limit": 0.15}
    assert with_current_names(old) == with_current_names(new) == new
