"""What the viewer offers of a clip: stored, under physics, by other methods; and what is shown when it is chosen."""

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("mujoco")

from phuma.core.performed_motion import PerformedMotion
from phuma.curation import curate
from phuma.errors import ConfigError
from phuma.formats.clip_file import save_clip
from phuma.pipelines.collections import DatasetCollection, FileCollection
from phuma.pipelines.performed import certified_performers
from phuma.pipelines.scene_building import performers_of, pieces_of
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from phuma.synth import generate
from phuma.viewer.payload import payload_of
from tests.certified_dataset import CERTIFIED, LOST, LOST_AT, REASON, UNTRIED, built, entry_of
from tests.viewer.serving import Page, serving

pytestmark = pytest.mark.slow

G1 = load_robot("g1")
RECORDED = ["torque", "force on the left foot", "force on the right foot"]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


def opened(root, kind, performers=None, certify=False):
    entry = entry_of(root, kind)
    return DatasetCollection(root, [G1], certify=certify).open(entry.id, "g1", performers)


def titles(found):
    return {choice.id: choice.title for choice in found.choices if choice.id.endswith(":certified")}


def tracks_of(who):
    return {track.label: track for track in who.tracks}


def test_a_clip_with_a_performance_has_one_more_choice_which_is_not_made_unasked(root):
    found = opened(root, CERTIFIED)
    assert titles(found) == {"g1:certified": "g1 certified"}
    assert [who.id for who in found.show] == ["g1:stored"]
    assert titles(opened(root, LOST)) == {"g1:certified": "g1 not certified"}
    assert titles(opened(root, UNTRIED)) == {}


def test_the_robots_that_nobody_named_are_there_to_compare_with_by_the_default_method(root):
    others = [choice.id for choice in opened(root, UNTRIED).choices if not choice.id.startswith("g1:")]
    assert others == [f"h1_2:{DEFAULT_METHOD}"]


@pytest.mark.parametrize("chosen", [["g1:certified"], ["g1:stored", "g1:certified"], ["g1:certified", "g1:stored"]])
def test_a_performance_is_shown_with_its_reference_as_a_ghost(root, chosen):
    found = opened(root, CERTIFIED, chosen)
    entry = entry_of(root, CERTIFIED)
    reference, rollout = entry.motion(), entry.performance()
    ghost, who = found.show
    assert (ghost.id, ghost.ghost, who.id, who.title, who.ghost) == (
        "g1:stored", True, "g1:certified", "g1 certified", False,
    )  # fmt: skip
    assert [c.id for c in found.choices if c.chosen] == [c.id for c in found.choices if c.id in chosen]
    assert len(found.show) == len(who.motion) == len(ghost.motion) == len(reference)
    assert who.motion.fps == reference.fps
    every = len(rollout) // len(reference)  # 50 Hz to 30 Hz: the third frame of one is the fifth of the other
    assert every == 1
    np.testing.assert_allclose(
        who.motion.joint_pos[::3][:-1], rollout.joint_pos[::5][: len(who.motion.joint_pos[::3]) - 1]
    )
    assert who.ended is None


def test_its_tracks_are_error_torque_and_forces(root):
    who = opened(root, CERTIFIED, ["g1:certified"]).show.performers[1]
    tracks, rollout = tracks_of(who), entry_of(root, CERTIFIED).performance()
    assert list(tracks)[:4] == ["body error", *RECORDED]
    assert (tracks["body error"].unit, tracks["body error"].limits) == ("cm", (15.0,))
    assert np.nanmax(tracks["body error"].value) < 15.0
    share = 100 * np.abs(rollout.torque / G1.torque_limit).max(axis=1)
    assert (tracks["torque"].unit, tracks["torque"].limits) == ("% of limit", (100.0,))
    assert np.nanmax(tracks["torque"].value) == pytest.approx(share.max(), rel=0.35)
    np.testing.assert_allclose(tracks["torque"].value[::3][1:10], share[::5][1:10], rtol=1e-6)
    both = sum(tracks[name].value for name in RECORDED[1:])
    assert np.nanmean(both) == pytest.approx(1.0, abs=0.05), "who stands weighs as much as it does"


def test_what_was_lost_is_held_and_marked_from_there_on(root):
    found = opened(root, LOST, ["g1:certified"])
    who, fps = found.show.performers[1], entry_of(root, LOST).motion().fps
    first = int((LOST_AT - 1) / 50 * fps) + 1
    assert (who.title, who.ended, len(who.motion)) == ("g1 not certified", first, len(found.show))
    held = who.motion.joint_pos[first - 1 :]
    np.testing.assert_array_equal(held, np.broadcast_to(held[0], held.shape))
    lanes = {lane.label: lane.holds for lane in found.show.lanes}
    np.testing.assert_array_equal(lanes["terminated at 0.8 s"], np.arange(len(found.show)) >= first)
    assert np.isnan(tracks_of(who)["body error"].value[first:]).all()
    assert set(RECORDED).isdisjoint(tracks_of(who)), "nothing was recorded, and nothing is made up"


def test_the_panel_tells_what_came_of_it(root):
    facts = dict(opened(root, CERTIFIED).show.facts)
    assert facts["certified"].startswith("within 15 cm, ")
    assert dict(opened(root, LOST).show.facts)["not certified"] == REASON
    assert not {"certified", "not certified"} & set(dict(opened(root, UNTRIED).show.facts))


def test_the_page_can_hold_it(root):
    found = opened(root, LOST, ["g1:stored", "g1:certified"])
    plots = {plot["label"]: plot for plot in payload_of(found.show, found.choices)["tracks"]}
    assert plots["body error"]["limits"] == [15.0]
    assert [s["name"] for s in plots["joint use"]["series"]] == ["g1 not certified", "g1 by physink"]


@pytest.fixture
def calls(monkeypatch):
    """Counts what is performed on the spot, with the least effort."""
    import phuma.pipelines.certify as module

    calls, true = [], module.certify
    quick = {"effort": "quick"}
    monkeypatch.setattr(module, "certify", lambda *args, **more: calls.append(1) or true(*args, **more | quick))
    return calls


def test_on_the_spot_every_clip_can_be_performed_and_is_once(root, calls):
    before = {p: p.stat().st_mtime_ns for p in root.rglob("*") if p.is_file()}
    collection, entry = DatasetCollection(root, [G1], certify=True), entry_of(root, UNTRIED)
    assert collection.comparing == "performing"
    assert titles(collection.open(entry.id, "g1", None)) == {"g1:certified": "g1 certified"}
    assert not calls, "not before it is chosen"
    first = collection.open(entry.id, "g1", ["g1:certified"]).show.performers[1]
    again = collection.open(entry.id, "g1", ["g1:stored", "g1:certified"]).show.performers[1]
    assert first is again
    assert len(calls) == 1
    assert first.title == "g1 certified"
    assert isinstance(first.motion, PerformedMotion)
    assert set(RECORDED) <= set(tracks_of(first))
    collection.open(entry_of(root, CERTIFIED).id, "g1", ["g1:certified"])
    assert len(calls) == 1, "what is stored is read"
    assert {p: p.stat().st_mtime_ns for p in root.rglob("*") if p.is_file()} == before, "nothing is written"


def test_on_the_spot_a_human_is_put_on_the_robot_first(tmp_path, calls):
    save_clip(tmp_path / "x.npz", curate(generate("stand", 2.0, 0).motion).clips[0])
    collection = FileCollection([tmp_path / "x.npz"], [G1], ReadCfg(), certify=True)
    alone = collection.open("0", None, ["g1:certified"]).show
    both = collection.open("0", None, [f"g1:{DEFAULT_METHOD}", "g1:certified"]).show
    for show in (alone, both):
        assert [(who.id, who.ghost) for who in show] == [(f"g1:{DEFAULT_METHOD}", True), ("g1:certified", False)]
        assert len(show) == len(show.performers[1].motion)
    assert len(calls) == 1


def test_files_have_the_same_choices(root):
    paths = [root / entry_of(root, kind).row["file"] for kind in (CERTIFIED, UNTRIED)]
    plain, on_the_spot = (FileCollection(paths, [G1], ReadCfg(), certify=certify) for certify in (False, True))
    assert titles(plain.open("0", None, None)) == {"g1:certified": "g1 certified"}
    assert titles(plain.open("1", None, None)) == {}
    assert titles(on_the_spot.open("1", None, None)) == {"g1:certified": "g1 certified"}
    ghost, who = plain.open("0", None, ["g1:certified"]).show
    assert (ghost.ghost, who.id) == (True, "g1:certified")


def test_a_performance_file_shows_what_was_recorded_and_is_not_performed_again(root):
    path = root / entry_of(root, CERTIFIED).row["certified_file"]
    (piece,) = pieces_of(path)
    (who,) = performers_of(piece, [], [])
    assert list(tracks_of(who))[:3] == RECORDED
    assert titles(FileCollection([path], [G1], ReadCfg(), certify=True).open("0", None, None)) == {}


def test_a_clip_beside_its_performance(root):
    (piece,) = pieces_of(root / entry_of(root, CERTIFIED).row["file"])
    reference, who = certified_performers(piece)
    assert (reference.id, who.id) == ("g1:stored", "g1:certified")
    (piece,) = pieces_of(root / entry_of(root, UNTRIED).row["file"])
    with pytest.raises(ConfigError, match="no performance; `phuma certify DATASET`"):
        certified_performers(piece)


def test_a_page_is_told_that_it_is_being_performed_and_gets_the_tracks(root):
    pytest.importorskip("viser")
    entry = entry_of(root, CERTIFIED)
    with serving(DatasetCollection(root, [G1], certify=True)) as viewer, Page(viewer) as page:
        told = page.open(entry.id, "g1")
        assert [c["title"] for c in told["choices"] if c["id"] == "g1:certified"] == ["g1 certified"]
        page.say("compare", performers=["g1:certified"])
        assert page.until("busy")["text"] == "performing"
        told = page.until("clip")
        assert [p["title"] for p in told["performers"]] == ["g1 by physink", "g1 certified"]
        plots = {plot["label"]: plot for plot in told["tracks"]}
        assert {"body error", *RECORDED} <= set(plots)
        assert plots["body error"]["limits"] == [15.0]
