"""What a page is told is plain JSON, and says what the show says."""

import json
from dataclasses import replace

import numpy as np
import pytest

from phuma.core.clip import Measure
from phuma.core.curation_metrics import CURATION_METRICS
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.robots import load_robot
from phuma.viewer import style
from phuma.viewer.formatting import beside
from phuma.viewer.payload import Choice, payload_of
from phuma.viewer.show import Lane, Performer, Show, Track

FRAMES = 6
NAN = float("nan")


def performer(name, *tracks, scores=(), flags=()):
    robot = load_robot("g1")
    n = robot.n_joints
    motion = RobotMotion(
        "g1", robot.joint_names, 30.0, np.zeros((FRAMES, 3)), np.tile([1.0, 0, 0, 0], (FRAMES, 1)),
        np.zeros((FRAMES, n)), np.zeros((FRAMES, 4)), None, Provenance("made up", "none"),
    )  # fmt: skip
    still = np.zeros((FRAMES, n), bool), np.zeros((FRAMES, 4), bool)
    return Performer(name, f"title of {name}", robot, motion, *still, tracks, dict(scores), tuple(flags))


def track(label, *values, limits=(), unit="m"):
    return Track(label, unit, np.array(values or [0.0] * FRAMES), tuple(limits))


def a_show(performers=(), **more):
    return Show("walk.bvh", "0.0 to 0.2 s", 30.0, None, np.zeros((FRAMES, 4)), tuple(performers), **more)


def measured(name, value, limit):
    return Measure(CURATION_METRICS[name], value, limit)


def as_page_gets_it(show, choices=()):
    """Through JSON as browsers read it, which knows no NaN."""
    return json.loads(json.dumps(payload_of(show, choices), allow_nan=False))


def test_what_is_told_is_json_with_every_field_of_the_protocol():
    show = a_show(
        [performer("g1:ik", track("slip", 1.0, NAN, np.inf, -np.inf, 0.0, 2.0), scores={"fidelity": np.float32(99.5)})],
        lanes=(Lane("left heel", "contact", np.array([1, 1, 0, 0, 1, 0], bool)),),
        tracks=(track("root jerk", *np.arange(3.0, dtype=np.float32)),),
        measures=(measured("root_jerk", 60.7, 50.0),),
        kept=False, reasons=("root_jerk 60.7 m/s^3, needs < 50 m/s^3",), facts=(("licence", "free"),), path="/a/b.npz",
    )  # fmt: skip
    got = as_page_gets_it(show, [Choice("g1:ik", "g1 by ik", True), Choice("g1:gmr", "g1 by gmr", False)])
    assert set(got) == {
        "title", "subtitle", "fps", "frames", "human", "kept", "verdict", "reasons", "facts", "measures", "performers",
        "choices", "lanes", "tracks", "path",
    }  # fmt: skip
    assert (got["title"], got["subtitle"], got["fps"], got["frames"]) == ("walk.bvh", "0.0 to 0.2 s", 30.0, FRAMES)
    assert (got["kept"], got["reasons"]) == (False, ["root_jerk 60.7 m/s^3, needs < 50 m/s^3"])
    assert (got["facts"], got["path"]) == ([["licence", "free"]], "/a/b.npz")
    assert got["lanes"] == [{"label": "left heel", "kind": "contact", "spans": [[0, 2], [4, 5]]}]
    assert got["choices"] == [
        {"id": "g1:ik", "title": "g1 by ik", "chosen": True},
        {"id": "g1:gmr", "title": "g1 by gmr", "chosen": False},
    ]
    assert got["performers"] == [
        {"id": "g1:ik", "title": "title of g1:ik", "colour": style.PERFORMERS[0], "scores": [["fidelity", "99.5 %"]],
         "flags": [], "notes": []}
    ]  # fmt: skip
    assert got["tracks"][1]["series"][0]["values"] == [1.0, None, None, None, 0.0, 2.0]


def test_nothing_known_is_told_as_nothing():
    got = as_page_gets_it(a_show())
    assert (got["kept"], got["path"]) == (None, None)
    assert [got[name] for name in ("reasons", "facts", "measures", "performers", "choices", "lanes", "tracks")] == (
        [[]] * 7
    )


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (measured("root_jerk", 60.71234, 50.0), ("root jerk", "60.7 m/s³", "< 50 m/s³", False)),
        (measured("contact_score", 0.61234, 0.6), ("foot contact score", "0.612", "> 0.6", True)),
        (measured("duration", NAN, 1.0), ("length of the clip", "nan s", "> 1 s", False)),
    ],
    ids=lambda m: getattr(m, "name", ""),
)
def test_a_measure_is_told_in_words_with_what_was_wanted(measure, said):
    (got,) = as_page_gets_it(a_show(measures=(measure,)))["measures"]
    assert got == dict(zip(("name", "value", "limit", "passed"), said))


def test_spans_are_the_runs_that_a_loop_finds():
    dice = np.random.default_rng(0)
    cases = [dice.random(n) < share for n in (1, 2, 7, 40) for share in (0, 0.2, 0.5, 0.9, 1) for _ in range(5)]
    for holds in cases:
        expected, start = [], None
        for t, hold in enumerate([*holds, False]):
            if hold and start is None:
                start = t
            elif not hold and start is not None:
                expected.append([start, t])
                start = None
        (lane,) = as_page_gets_it(a_show(lanes=(Lane("x", "flight", holds),)))["lanes"]
        assert lane["spans"] == expected


def test_tracks_of_one_label_share_a_plot_whoever_they_belong_to():
    show = a_show(
        [performer("a", track("slip", limits=[10.0], unit="cm/s"), track("use")), performer("b", track("slip"))],
        tracks=(track("jerk", 1.0, 2.0, limits=[50.0], unit="m/s^3"), track("height", limits=[0.6, 1.5])),
    )
    got = as_page_gets_it(show)["tracks"]
    assert [(p["label"], p["unit"], p["limits"]) for p in got] == [
        ("jerk", "m/s^3", [50.0]), ("height", "m", [0.6, 1.5]), ("slip", "cm/s", [10.0]), ("use", "m", []),
    ]  # fmt: skip
    assert [[s["name"] for s in p["series"]] for p in got] == [
        ["human"], ["human"], ["title of a", "title of b"], ["title of a"],
    ]  # fmt: skip
    assert [s["colour"] for p in got for s in p["series"]] == [
        style.TRUNK, style.TRUNK, *style.PERFORMERS[:2], style.PERFORMERS[0],
    ]  # fmt: skip
    assert got[0]["series"][0]["values"] == [1.0, 2.0]


def test_what_is_compared_with_comes_after_what_is_compared():
    ghost = replace(performer("ghost", track("use"), track("torque")), ghost=True)
    got = as_page_gets_it(a_show([ghost, performer("policy", track("error"), track("use"))], verdict="fell at 1.0 s"))
    assert [(p["label"], [s["name"] for s in p["series"]]) for p in got["tracks"]] == [
        ("error", ["title of policy"]), ("use", ["title of policy", "title of ghost"]), ("torque", ["title of ghost"]),
    ]  # fmt: skip
    assert [p["colour"] for p in got["performers"]] == list(style.PERFORMERS[:2])
    assert got["tracks"][0]["series"][0]["colour"] == style.PERFORMERS[1]
    assert (got["verdict"], got["human"]) == ("fell at 1.0 s", False)


def test_numbers_are_short_and_near_enough_to_be_drawn():
    values = np.concatenate([np.random.default_rng(0).lognormal(0, 8, 200), [0.0, -1 / 3, 123456.789]])
    (plot,) = as_page_gets_it(a_show(tracks=(track("x", *values),)))["tracks"]
    np.testing.assert_allclose(plot["series"][0]["values"], values, rtol=5e-5)
    assert max(len(f"{v}".replace(".", "").strip("0-").split("e")[0]) for v in plot["series"][0]["values"]) <= 5


def test_every_performer_has_a_colour_and_the_same_in_list_and_plot():
    crowd = [performer(f"p{k}", track("slip")) for k in range(2 * len(style.PERFORMERS) + 1)]
    got = as_page_gets_it(a_show(crowd))
    colours = [p["colour"] for p in got["performers"]]
    assert colours == [s["colour"] for s in got["tracks"][0]["series"]]
    assert len(set(colours[: len(style.PERFORMERS)])) == len(style.PERFORMERS)


def test_a_score_that_is_unknown_is_a_dash_and_no_hundred():
    someone = performer("a", scores={"fidelity": 98.0, "non-skating": None}, flags=["unknown: no sole is in contact"])
    (got,) = as_page_gets_it(a_show([someone]))["performers"]
    assert got["scores"] == [["fidelity", "98.0 %"], ["non-skating", "–"]]
    assert got["flags"] == ["unknown: no sole is in contact"]


def test_scores_and_flags_are_told_and_a_hundred_only_where_nothing_is_missing():
    someone = performer("a", scores={"fidelity": 99.98, "non-skating": 100.0}, flags=["leans"])
    (got,) = as_page_gets_it(a_show([someone]))["performers"]
    assert got["scores"] == [["fidelity", "99.98 %"], ["non-skating", "100.0 %"]]
    assert got["flags"] == ["leans"]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\ud800", "漢\u202e\n\x00"])
def test_names_from_files_come_as_they_are(name):
    show = replace(a_show(), title=name, facts=((name, name),), path=name)
    got = as_page_gets_it(show)
    assert (got["title"], got["facts"], got["path"]) == (name, [[name, name]], name)


def test_a_value_is_no_finer_than_its_limit_asks_for():
    assert beside(1.45e-5, 0.03) == beside(0.000311, 3.0) == "0"
    assert [beside(v, 0.15) for v in (0.00113, 0.1234567, 0.14996)] == ["0.001", "0.123", "0.15"]
    assert beside(-2.345, 5000.0) == "-2"
    assert beside(float("inf"), 1.0) == "inf"
    assert beside(0.01234, 0.0) == "0.0123"
