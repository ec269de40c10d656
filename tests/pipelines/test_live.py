"""Live simulations as the page sees them: what a policy is told, and paths that are drawn while it walks."""

from __future__ import annotations

from threading import Lock

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.pipelines.collections import FileCollection
from phuma.pipelines.live_path import LivePath, PathCollection
from phuma.pipelines.live_play import HELD
from phuma.pipelines.playback import PlayCfg, PolicyCollection
from phuma.sources import ReadCfg
from tests.learning.sample_motions import dip
from tests.learning.students import student
from tests.viewer.serving import Page, serving


@pytest.fixture(scope="module")
def told_any(g1):
    return student(g1, "any", action=20.0)


@pytest.fixture(scope="module")
def told_pelvis(g1):
    return student(g1, "pelvis")


@pytest.fixture
def motion(g1, tmp_path):
    save_robot_motion(tmp_path / "dip.npz", dip(g1, 2.0))
    return FileCollection([tmp_path / "dip.npz"], [g1], ReadCfg())


def walker(g1, policy, points=()):
    return LivePath(policy, g1, PlayCfg(), 0.7, [np.array(p) for p in points], Lock())


def draw(live, *points):
    for point in points:
        live.order({"type": "point", "at": [float(x) for x in point]})


# What a policy is told.


def test_who_was_trained_for_anything_can_be_told_anything_and_remembers_it(g1, told_any, motion):
    collection = PolicyCollection(motion, told_any, "student", g1)
    live = collection.open("0", None, None).live
    assert (live.controls()["fixed"], live.controls()["note"]) == (None, None)
    assert all(row["position"] and row["rotation"] for row in live.controls()["bodies"])
    first = live.step()
    assert [name for name, _ in first.facts] == ["told bodies", "all bodies", "falls"]
    for order in ({"type": "tell", "body": "head", "kind": "rotation", "value": False}, {"type": "gap", "value": 0.1},
                  {"type": "far", "value": True}):  # fmt: skip
        live.order(order)
    other = collection.open("0", None, None).live
    other.take_over(live)
    assert other.controls() == live.controls()
    assert (other.controls()["gap"], other.controls()["far"]) == (0.1, True)
    for row in live.controls()["bodies"]:
        for kind in ("position", "rotation"):
            live.order({"type": "tell", "body": row["body"], "kind": kind, "value": False})
    assert "in training that lasted 0.32 s at most" in live.controls()["note"]
    assert dict(live.step().facts)["told bodies"] == "no place is told"


def test_frames_are_the_shows_and_who_falls_lies_a_while(g1, told_any, motion):
    opened = PolicyCollection(motion, student(g1, "any", action=200.0), "student", g1).open("0", None, None)
    show, live = opened.show, opened.live
    seen = [live.step() for _ in range(150)]
    assert {each.frame for each in seen} <= set(range(len(show)))
    fallen = [each.fallen for each in seen]
    first = fallen.index(True)
    assert all(fallen[first : first + round(50 * HELD) + 1])
    assert not fallen[first + round(50 * HELD) + 1]
    np.testing.assert_allclose(seen[first + round(50 * HELD) + 1].qpos, seen[0].qpos, atol=1e-6)
    live.seek(len(show) // 2)
    assert abs(live.step().frame - len(show) // 2) <= 1


def test_who_was_trained_for_one_thing_shows_why_nothing_else_is_available(g1, told_pelvis, motion):
    live = PolicyCollection(motion, told_pelvis, "student", g1).open("0", None, None).live
    shown = live.controls()
    assert shown["fixed"].startswith("the policy was trained to be told pelvis alone")
    assert {row["body"] for row in shown["bodies"] if row["position"]} == {"pelvis"}
    with pytest.raises(ConfigError, match=r"the position of left foot cannot be chosen: .* --condition any"):
        live.order({"type": "tell", "body": "left_foot", "kind": "position", "value": True})


def test_a_page_tells_and_sees_it_live(g1, told_any, motion):
    pytest.importorskip("viser")
    with serving(PolicyCollection(motion, told_any, "student", g1)) as viewer, Page(viewer) as page:
        told = page.open("0", None)
        assert told["controls"]["kind"] == "told"
        page.say("tell", body="head", kind="position", value=False)
        assert not page.until("controls")["controls"]["bodies"][1]["position"]
        assert page.until("state")["live"]
        seen = {page.until("live")["frame"] for _ in range(5)}
        assert max(seen) < told["frames"]
        page.say("gap", value=5.0)
        while (message := page.next())["type"] != "error":
            pass
        assert message["text"] == "gaps of 5 s; expected 0 to 0.32, as in training"
        page.say("walk")
        while (message := page.next())["type"] != "error":
            pass
        assert message["text"].startswith("unknown message")
        page.say("live", value=False)
        while page.until("state")["live"]:
            pass


# Paths that are drawn.


def test_it_waits_until_it_is_given_a_path_and_then_leaves_a_track(g1, told_pelvis):
    live = walker(g1, told_pelvis)
    first, second = live.step(), live.step()
    np.testing.assert_array_equal(first.qpos, second.qpos)
    with pytest.raises(ConfigError, match="no path is drawn yet"):
        live.order({"type": "walk"})
    draw(live, (1, 0), (1.01, 0), (2, 1))
    assert live.controls()["drawn"] == 2, "a shaking hand draws nothing"
    assert live.controls()["length"] == pytest.approx(1 + np.sqrt(2), abs=0.01)
    np.testing.assert_allclose(live.lines()["drawn"][0], [[0, 0], [1, 0], [2, 1]], atol=1e-6)
    live.order({"type": "walk"})
    assert (live.controls()["drawn"], live.controls()["walking"]) == (0, True)
    seen = [live.step() for _ in range(30)]
    assert np.abs(seen[-1].qpos - first.qpos).max() > 1e-3
    facts = dict(seen[-1].facts)
    assert facts["pelvis error"].endswith(" m")
    assert facts["walked"].endswith("of 2.4 m")
    lines = live.lines()
    np.testing.assert_allclose(lines["walked"][0], [[0, 0], [1, 0], [2, 1]], atol=1e-6)
    assert (len(lines["drawn"][0]), len(lines["track"][0])) == (0, 6)


def test_a_path_grows_while_it_is_walked_and_is_cleared_ahead_of_the_robot(g1, told_pelvis):
    live = walker(g1, told_pelvis)
    draw(live, (2, 0))
    live.order({"type": "walk"})
    live._watch.episode._env.frame[:] = 70
    live.step()
    wanted = live._path.motion.root_pos[live._watch.episode.frame]
    draw(live, (2, 2))
    live.order({"type": "walk"})
    frame = live._watch.episode.frame
    np.testing.assert_allclose(live._path.motion.root_pos[frame], wanted, atol=0.02)
    np.testing.assert_allclose(live.lines()["walked"][0], [[0, 0], [2, 0], [2, 2]], atol=1e-6)
    live.order({"type": "pace", "value": 1.4})
    np.testing.assert_allclose(live._path.motion.root_pos[live._watch.episode.frame], wanted, atol=0.06)
    live.order({"type": "clear"})
    (start, end) = live.lines()["walked"][0]
    assert 0.1 <= end[0] - wanted[0] <= 1.5
    np.testing.assert_allclose([start[0], start[1], end[1]], 0, atol=1e-6)
    live.order({"type": "again"})
    assert not len(live.lines()["walked"][0])
    np.testing.assert_allclose(live.step().qpos[:2], 0, atol=1e-6)


def test_who_falls_begins_its_path_again(g1):
    live = walker(g1, student(g1, "pelvis", action=200.0))
    draw(live, (2, 0))
    live.order({"type": "walk"})
    seen = [live.step() for _ in range(220)]
    first = next(k for k, each in enumerate(seen) if each.fallen)
    again = next(k for k in range(first, len(seen)) if not seen[k].fallen)
    assert dict(seen[again].facts)["falls"] == "1"
    assert np.linalg.norm(seen[again].qpos[:2]) < 0.1
    assert dict(seen[again].facts)["walked"].startswith("0.0 of")


def test_it_stands_at_the_end_of_its_path_without_beginning_again(g1, told_pelvis):
    live = walker(g1, told_pelvis)
    draw(live, (0.2, 0))
    live.order({"type": "walk"})
    live._watch.episode._env.frame[:] = live._watch.episode.last - 3
    frames = []
    for _ in range(8):
        live.step()
        frames.append(live._watch.episode.frame)
    assert frames[-4:] == [live._watch.episode.last - 1] * 4
    assert not live.controls()["walking"]
    draw(live, (1.0, 0.5))
    assert live.controls()["drawn"] == 1, "it can be given another path"


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({"type": "point", "at": [1e9, 0.0]}, "expected within 50 m"),
        ({"type": "point", "at": [float("nan"), 0.0]}, "expected within 50 m"),
        ({"type": "point", "at": ["a", 0.0]}, "unknown message"),
        ({"type": "point"}, "unknown message"),
        ({"type": "pace", "value": 9}, "at most 3 m/s"),
        ({"type": "pace", "value": float("nan")}, "at most 3 m/s"),
        ({"type": "tell", "body": "head", "kind": "position", "value": True}, "unknown message"),
    ],
)
def test_what_makes_no_sense_is_refused(g1, told_pelvis, order, says):
    with pytest.raises(ConfigError, match=says):
        walker(g1, told_pelvis).order(order)


def test_a_path_that_turns_back_is_named_and_stays_drawn(g1, told_pelvis):
    live = walker(g1, told_pelvis, [(1.0, 0.0), (0.5, 0.0)])
    with pytest.raises(ConfigError, match="the path turns back on itself at 1,0"):
        live.order({"type": "walk"})
    assert (live.controls()["drawn"], live.controls()["walking"]) == (2, False)


def test_each_page_has_a_floor_and_a_robot_of_its_own(g1):
    pytest.importorskip("viser")
    policy = student(g1, "any")
    collection = PathCollection(policy, "student", g1, 0.7, [[0.0, 0.0], [0.01, 0.0], [1.0, 0.0]])
    assert policy.info.condition == "pelvis"
    with serving(collection) as viewer, Page(viewer) as one, Page(viewer) as two:
        for page in (one, two):
            told = page.open("path", None)
            assert (told["controls"]["kind"], told["controls"]["drawn"], told["controls"]["length"]) == ("path", 1, 1.0)
        one.say("walk")
        assert one.until("controls")["controls"]["walking"]
        while not (facts := one.until("live")["facts"]):
            pass
        assert facts[0][0] == "pelvis error"
        two.say("pace", value=1.0)
        assert not two.until("controls")["controls"]["walking"]
        two.say("draw", at=[0.5, 0.9])
        while (message := two.next())["type"] != "error":
            pass
        assert message["text"] == "no picture is there to draw in yet"
