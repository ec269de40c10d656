"""What the viewer can be asked for: what there is, a page of it, and a clip with whoever performs it."""

import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("duckdb")

from phuma.curation import curate
from phuma.dataset.exchange import gmr
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.clip_file import save_clip
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.pipelines.build_dataset import WorkCfg
from phuma.pipelines.collections import DatasetCollection, FileCollection, search_of
from phuma.pipelines.import_motions import ImportCfg, import_motions
from phuma.pipelines.scene_building import MOST
from phuma.retargeting import METHODS
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from phuma.synth import generate
from tests.pipelines.test_scene_building import still
from tests.report_dataset import HOSTILE, ROBOTS, built, rows_on_disk

pytestmark = pytest.mark.slow

PROTOCOL = {
    "clip", "robot", "recording", "start", "end", "category", "split", "kept", "reasons", "label", "mirrored", "value",
}  # fmt: skip


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def rows(dataset):
    return rows_on_disk(dataset)


@pytest.fixture(scope="module")
def collection(dataset):
    return DatasetCollection(dataset, [load_robot(name) for name in ROBOTS])


@pytest.fixture(scope="module")
def short(rows):
    """The id of a clip that is kept and quick to be put on a robot."""
    return min((r for r in rows if r["kept"]), key=lambda r: r["frames"])["clip"]


@pytest.fixture(scope="module")
def rejected(rows):
    return next(row for row in rows if not row["kept"])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A robot's motion and two clips of a human, one of them too short to be kept."""
    folder = tmp_path_factory.mktemp("files")
    motion = generate("walk", 2.0, 0).motion
    fine, short = (curate(part) for part in (motion, motion.cut(0.5, 1.0)))
    save_robot_motion(folder / "Robot <b>.npz", replace(still("h1_2"), report={"method": "ik"}))
    save_clip(folder / "walk fine.npz", fine.clips[0])
    save_clip(folder / "walk short.npz", short.clips[0])
    return [folder / name for name in ("Robot <b>.npz", "walk fine.npz", "walk short.npz")]


def files_of(files, *robots):
    return FileCollection(files, [load_robot(name) for name in robots or ["g1"]], ReadCfg())


def as_json(value):
    return json.loads(json.dumps(value, allow_nan=False))


def tree_of(folder):
    return {
        p.relative_to(folder): (
            p.stat().st_mtime_ns,
            hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else None,
        )
        for p in [folder, *folder.rglob("*")]
    }


def ids(opened):
    return [p.id for p in opened.show]


# A dataset.


def test_a_dataset_says_what_there_is(collection, rows):
    about = as_json(collection.about())
    facets = {"title", "clips", "kept", "robots", "categories", "splits", "sources", "metrics"}
    assert set(about) == {*facets, "review", "path", "folders"}
    assert about["review"] is None, "no file for judgements was asked for"
    clips, kept = {r["clip"] for r in rows}, {r["clip"] for r in rows if r["kept"]}
    assert (about["title"], about["clips"], about["kept"]) == ("dataset", len(clips), len(kept))
    assert about["robots"] == list(ROBOTS)
    assert set(about["categories"]) == {r["category"] for r in rows}
    assert HOSTILE in about["sources"]
    assert set(about["metrics"][0]) == {"name", "label", "unit", "better"}
    assert {"fidelity", "root_jerk"} <= {m["name"] for m in about["metrics"]}


def test_what_is_found_is_what_the_words_of_the_address_ask_for(collection, rows):
    def found(**request):
        page = as_json(collection.find(request))
        assert all(set(row) == PROTOCOL for row in page["rows"])
        assert page["total"] == len(page["rows"])
        return [(row["clip"], row["robot"]) for row in page["rows"]]

    def wanted(holds):
        return sorted((r["clip"], r["robot"]) for r in rows if holds(r))

    assert found() == wanted(lambda r: True)
    assert found(text="WALK lab") == wanted(lambda r: r["recording"] == "lab/walk.npz")
    assert found(verdict="rejected") == wanted(lambda r: not r["kept"])
    assert found(robot="g1", verdict="kept") == wanted(lambda r: r["robot"] == "g1" and r["kept"])
    assert found(source=HOSTILE) == wanted(lambda r: r["source"] == HOSTILE)
    category = rows[-1]["category"]
    assert found(category=category, split=rows[-1]["split"]) == wanted(
        lambda r: (r["category"], r["split"]) == (category, rows[-1]["split"])
    )
    assert found(metric="root_jerk", min="10", max="30") == wanted(lambda r: 10 <= r["root_jerk"] <= 30)
    assert found(metric="fidelity", min="", max="", text="", page="") == wanted(lambda r: True)
    by_jerk = sorted(rows, key=lambda r: (-r["root_jerk"], r["clip"], r["robot"]))
    assert found(sort="root_jerk", descending="1") == [(r["clip"], r["robot"]) for r in by_jerk]
    assert (
        found(sort="root_jerk", descending="0")[0]
        == found(sort="root_jerk")[0]
        != found(sort="root_jerk", descending="1")[0]
    )


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"page": "x"}, "page is 'x'; expected a number"),
        ({"page": "-1"}, "page -1; the first is 0"),
        ({"metric": "fidelity", "min": "much"}, "min is 'much'; expected a number"),
        ({"metric": "fidelity", "max": "nan"}, "high is nan; expected a number"),
        ({"sort": "beauty"}, "unknown metric 'beauty'; there are: "),
        ({"verdict": "perhaps"}, "unknown verdict 'perhaps'; there are: kept, rejected"),
        ({"category": "'; DROP TABLE manifest"}, "unknown category"),
        ({"min": "3"}, "low is 3, but of which metric"),
    ],
)
def test_a_wrong_request_is_told_and_a_strange_word_is_ignored(collection, request_, says):
    with pytest.raises(ConfigError, match=says):
        collection.find(request_)
    assert search_of({"colour": "red", "page": "2"}).page == 2


def test_a_clip_opens_with_the_motion_that_it_is_stored_with(collection, dataset, rows):
    for row in (r for r in rows if r["kept"] and not r["mirrored"]):
        opened = collection.open(row["clip"], row["robot"], None)
        assert ids(opened) == [f"{row['robot']}:stored"]
        stored = load_robot_motion(dataset / row["file"])
        np.testing.assert_array_equal(opened.show.performers[0].motion.root_pos, stored.root_pos)
        assert opened.show.path == str((dataset / row["file"]).resolve())
        assert opened.show.kept is True
        chosen = [choice.id for choice in opened.choices if choice.chosen]
        assert chosen == [f"{row['robot']}:stored"]


def test_without_a_robot_the_first_one_is_taken(collection, short):
    assert ids(collection.open(short, None, None)) == ["g1:stored"]


def test_everything_can_be_chosen_once_and_what_is_stored_is_not_offered_as_new(collection, short):
    choices = collection.open(short, "g1", None).choices
    others = [m for m in METHODS if m != "physink+dynamics"]
    assert sorted(c.id for c in choices) == sorted(
        [f"{r}:stored" for r in ROBOTS] + [f"{r}:{m}" for r in ROBOTS for m in others]
    )
    titles = {c.id: c.title for c in choices}
    assert titles["h1_2:stored"] == "h1_2 by physink+dynamics (stored)"
    assert titles["g1:ik"] == "g1 by ik"


def test_the_same_clip_on_two_robots_and_by_two_methods(collection, dataset, short, rows):
    opened = collection.open(short, "g1", ["h1_2:stored", "g1:stored", "g1:ik"])
    assert ids(opened) == ["h1_2:stored", "g1:stored", "g1:ik"]
    assert {c.id for c in opened.choices if c.chosen} == set(ids(opened))
    assert len({len(p.motion) for p in opened.show}) == 1
    for who in opened.show.performers[:2]:
        row = next(r for r in rows if r["clip"] == short and r["robot"] == who.robot.name)
        np.testing.assert_array_equal(who.motion.joint_pos, load_robot_motion(dataset / row["file"]).joint_pos)
    assert opened.show.performers[2].title == "g1 by ik"


def test_nobody_is_a_choice_too_and_one_named_twice_comes_once(collection, short):
    assert ids(collection.open(short, "g1", [])) == []
    assert ids(collection.open(short, "g1", ["g1:stored"] * 50)) == ["g1:stored"]


def test_a_rejected_clip_opens_with_its_reason_and_can_be_put_on_a_robot(collection, rejected):
    opened = collection.open(rejected["clip"], rejected["robot"], None)
    assert ids(opened) == []
    assert opened.show.kept is False
    assert list(opened.show.reasons) == rejected["reasons"] != []
    assert opened.show.path is None
    assert any(lane.kind == "reason" and lane.holds.any() for lane in opened.show.lanes)
    assert {c.id for c in opened.choices} == {f"{r}:{m}" for r in ROBOTS for m in METHODS}
    assert not any(c.chosen for c in opened.choices)
    on_robot = collection.open(rejected["clip"], rejected["robot"], ["h1_2:ik"])
    assert ids(on_robot) == ["h1_2:ik"]
    assert on_robot.show.performers[0].motion.robot == "h1_2"
    assert list(on_robot.show.reasons) == rejected["reasons"]


@pytest.mark.parametrize("wrong", ["g1:magic", "atlas:ik", "stored", "", "g1:physink+dynamics", "../g1:ik"])
def test_a_choice_that_is_not_there_is_refused_with_those_that_are(collection, short, wrong):
    with pytest.raises(ConfigError, match=r"no choice .*; there are: g1:stored, h1_2:stored, g1:physink"):
        collection.open(short, "g1", ["g1:stored", wrong])


def test_too_many_at_once_are_refused_before_anybody_works(collection, rejected):
    many = [f"g1:{m}" for m in METHODS]
    assert len(many) > MOST
    with pytest.raises(ConfigError, match=f"{len(many)} robots at once; at most {MOST}"):
        collection.open(rejected["clip"], "g1", many)


@pytest.mark.parametrize(("clip", "robot"), [("nothing", None), ("' OR true --", None), (None, "atlas")])
def test_a_clip_that_is_not_there_is_refused(collection, short, clip, robot):
    with pytest.raises(PhumaError, match=r"no clip|is of g1, h1_2, not of atlas"):
        collection.open(clip or short, robot, None)


def test_what_was_put_on_a_robot_once_is_remembered(collection, short):
    first, again = (collection.open(short, "g1", ["g1:sink"]).show.performers[0] for _ in range(2))
    assert first is again
    other = collection.open(short, "g1", ["h1_2:sink"]).show.performers[0]
    assert (other.robot.name, other.motion.report["method"]) == ("h1_2", "sink")


def test_several_threads_get_what_each_asked_for(collection, rows):
    wanted = [(r["clip"], r["robot"]) for r in rows if r["kept"]] * 2
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda w: collection.open(*w, None), wanted))
        pages = list(pool.map(lambda w: collection.find({"text": w[0], "robot": w[1]}), wanted))
    by_key = {(r["clip"], r["robot"]): r for r in rows}
    for key, found, page in zip(wanted, opened, pages):
        assert ids(found) == [f"{key[1]}:stored"]
        assert (found.show.title, len(found.show)) == (by_key[key]["recording"], by_key[key]["frames"])
        assert key in [(row["clip"], row["robot"]) for row in page["rows"]]


def test_a_robot_that_the_dataset_does_not_have_can_be_given(dataset, short, tmp_path):
    folder = shutil.copytree(load_robot("g1").folder, tmp_path / "mine")
    collection = DatasetCollection(dataset, [*map(load_robot, ROBOTS), load_robot(folder)])
    opened = collection.open(short, "g1", ["mine:ik"])
    assert ids(opened) == ["mine:ik"]
    assert opened.show.performers[0].robot.folder == folder


def test_an_imported_motion_opens_without_a_human_and_on_its_robot_alone(tmp_path):
    (tmp_path / "theirs").mkdir()
    gmr.write(still(frames=45), load_robot("g1"), tmp_path / "theirs" / "stand.pkl")
    import_motions([tmp_path / "theirs"], tmp_path / "out", ImportCfg("g1"), WorkCfg(jobs=1).runner())
    collection = DatasetCollection(tmp_path / "out", [load_robot("g1")])
    (row,) = as_json(collection.find({}))["rows"]
    opened = collection.open(row["clip"], row["robot"], None)
    assert opened.show.human is None
    assert ids(opened) == [c.id for c in opened.choices] == ["g1:stored"]
    assert opened.show.measures == ()
    with pytest.raises(ConfigError, match="no choice 'g1:ik'; there are: g1:stored"):
        collection.open(row["clip"], "g1", ["g1:ik"])
    with pytest.raises(ConfigError, match="choose a robot, no human is known"):
        collection.open(row["clip"], "g1", [])


def test_a_folder_that_is_no_dataset_is_named(tmp_path):
    with pytest.raises(ReadError, match="is not a dataset"):
        DatasetCollection(tmp_path, [load_robot("g1")])


def test_looking_writes_nothing(dataset, rows, short, rejected, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = tree_of(dataset)
    collection = DatasetCollection(dataset, [load_robot(name) for name in ROBOTS])
    collection.about()
    collection.find({"text": "walk", "sort": "fidelity"})
    collection.open(short, "g1", None)
    collection.open(rejected["clip"], "g1", ["g1:ik"])
    files_of([dataset / next(r["file"] for r in rows if r["kept"])]).open("0", None, None)
    assert tree_of(dataset) == before
    assert list(tmp_path.iterdir()) == []


# Files.


def test_files_are_a_short_list_with_their_verdicts(files):
    collection = files_of(files)
    about = as_json(collection.about())
    assert (about["title"], about["clips"], about["kept"]) == ("3 motions", 3, 1)
    assert [about[name] for name in ("robots", "categories", "splits", "sources", "metrics")] == [[]] * 5
    page = as_json(collection.find({}))
    assert (page["total"], page["page"], page["pages"]) == (3, 0, 1)
    assert [row["recording"] for row in page["rows"]] == ["Robot <b>.npz", "walk fine.npz", "walk short.npz"]
    assert all(set(row) == PROTOCOL for row in page["rows"])
    assert [row["kept"] for row in page["rows"]] == [None, True, False], "nobody judged the robot's"
    assert [bool(row["reasons"]) for row in page["rows"]] == [False, False, True]
    assert page["rows"][0]["start"] == 2.5
    assert page["rows"][1]["end"] == pytest.approx(2.0)
    assert as_json(files_of(files[1:2]).about())["title"] == "walk fine.npz"


def test_files_are_found_by_words_and_verdict_a_page_at_a_time(files):
    collection = files_of(files)

    def found(**request):
        return [row["recording"] for row in collection.find(request)["rows"]]

    assert found(text="WALK short") == ["walk short.npz"]
    assert found(text="walk") == ["walk fine.npz", "walk short.npz"]
    assert found(text="walk", verdict="kept") == ["walk fine.npz"]
    assert found(verdict="rejected") == ["walk short.npz"]
    assert found(text="run") == found(page="1") == []
    many = files_of([files[0]] * 51)
    pages = [many.find({"page": str(n)}) for n in range(3)]
    assert [len(page["rows"]) for page in pages] == [50, 1, 0]
    assert {page["pages"] for page in pages} == {2}
    assert len({row["clip"] for page in pages for row in page["rows"]}) == 51
    with pytest.raises(ConfigError, match="unknown verdict"):
        collection.find({"verdict": "perhaps"})


def test_a_file_opens_as_it_is_or_on_the_robot_that_was_asked_for(files):
    collection = files_of(files, "h1_2", "g1")
    stored = collection.open("0", None, None)
    assert ids(stored) == [c.id for c in stored.choices] == ["h1_2:stored"]
    assert stored.choices[0].title == "h1_2 by ik (stored)"
    assert stored.show.human is None
    human = collection.open("1", None, None)
    assert ids(human) == ["h1_2:physink+dynamics"], "the first robot that was given, the best method"
    assert {c.id for c in human.choices} == {f"{r}:{m}" for r in ROBOTS for m in METHODS}
    assert [c.id for c in human.choices if c.chosen] == ids(human)
    compared = collection.open("2", None, ["g1:ik", "h1_2:sink", "g1:ik"])
    assert ids(compared) == ["g1:ik", "h1_2:sink"]
    assert compared.show.kept is False
    assert ids(collection.open("1", None, [])) == []
    assert collection.open("1", None, ["g1:ik"]).show.performers[0] is not compared.show.performers[0]


def test_the_motion_of_a_robot_that_was_not_asked_for_is_shown_on_its_own(files):
    (who,) = files_of(files, "g1").open("0", None, None).show
    assert who.robot.name == "h1_2"


def test_a_file_of_a_dataset_can_be_compared(dataset, rows, short):
    file = next(r["file"] for r in rows if r["clip"] == short and r["robot"] == "h1_2")
    collection = files_of([dataset / file], "h1_2")
    opened = collection.open("0", None, ["h1_2:stored", "h1_2:ik"])
    assert ids(opened) == ["h1_2:stored", "h1_2:ik"]
    assert "h1_2:physink+dynamics" not in {c.id for c in opened.choices}, "that is what is stored"
    assert opened.show.human is not None


@pytest.mark.parametrize(
    ("clip", "performers", "says"),
    [
        ("7", None, "no motion '7' is open"),
        ("", None, "no motion '' is open"),
        ("0", ["g1:ik"], "no choice 'g1:ik'; there are: h1_2:stored"),
        ("0", [], "choose a robot, no human is known"),
        ("1", ["g1:stored"], "no choice 'g1:stored'; there are: g1:physink"),
    ],
)
def test_what_files_do_not_hold_is_refused(files, clip, performers, says):
    with pytest.raises(ConfigError, match=says):
        files_of(files).open(clip, None, performers)


def test_a_file_that_cannot_be_read_is_named(files, tmp_path):
    with pytest.raises(ReadError, match=r"missing\.npz: cannot be opened"):
        files_of([*files, tmp_path / "missing.npz"])
