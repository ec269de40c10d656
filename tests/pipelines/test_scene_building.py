"""From any file of motion to what is looked at: whose it is, what is wrong in which frame, and who performs it."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("duckdb")

from phuma.body import open_body
from phuma.core.clip import Clip, Measure
from phuma.core.metric import Metric
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import JOINTS, REGIONS
from phuma.curation import curate
from phuma.dataset.dataset import open_dataset
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.clip_file import load_clip, save_clip
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.pipelines.filming import names_of
from phuma.pipelines.scene_building import (
    Piece,
    perform,
    performer,
    performers_of,
    piece_of_entry,
    pieces_of,
    show_of,
    stored_entry,
)
from phuma.retargeting import dynamics
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import inverse_dynamics
from phuma.robots.kinematics import point_positions, points_of
from phuma.sources import amass_smplx, registry
from phuma.synth import FAULTS, generate
from tests.dataset.tiny import copied, edit_description, edit_manifest
from tests.planted import walk
from tests.report_dataset import built

FPS = 30.0
ELEGANCE = Metric("elegance", "elegance", "", "high", "")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return open_dataset(built(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="module")
def rejected(dataset):
    return [e for e in dataset.entries(kept=False) if not e.row["kept"] and e.row["robot"] == "g1"]


@pytest.fixture(scope="module")
def clip():
    """Half a second of a walk, quick to be put on a robot."""
    whole = curate(walk(open_body(), seconds=1.0))
    return Clip(whole.motion.frames(9, 24), whole.contact.frames(9, 24), whole.verdict, whole.ground)


def still(name="g1", frames=8, **more):
    """A robot in its default pose, all soles in contact, no human."""
    robot = load_robot(name)
    motion = RobotMotion(
        name, robot.joint_names, FPS, np.tile([0.3, -0.2, robot.default_height], (frames, 1)),
        np.tile([1.0, 0, 0, 0], (frames, 1)), np.tile(robot.default_pose, (frames, 1)), np.ones((frames, 4)), None,
        Provenance("made up", "none", "free", start=2.5, notes=("by hand",)),
    )  # fmt: skip
    return replace(motion, **more)


def tracks_of(who):
    return {track.label: track for track in who.tracks}


def lanes_of(show, kind):
    return {lane.label: lane.holds for lane in show.lanes if lane.kind == kind}


# What a file holds.


def test_a_robots_motion_alone_is_shown_as_it_is(tmp_path):
    motion = still(contact=np.tile([1.0, 0.0, 0.51, 0.5], (8, 1)))
    save_robot_motion(tmp_path / "stand.npz", motion)
    (piece,) = pieces_of(tmp_path / "stand.npz")
    assert (piece.title, piece.clip, piece.measures, piece.lanes) == ("stand.npz", None, (), ())
    assert piece.facts == (("source", "made up"), ("format", "none"), ("licence", "free"), ("note", "by hand"))
    assert piece.path == tmp_path / "stand.npz"
    show = show_of(piece, performers_of(piece, [], []))
    assert (show.kept, show.human, show.reasons, show.tracks) == (None, None, (), ())
    assert (len(show), show.fps, show.subtitle) == (8, FPS, "2.5 to 2.8 s")
    assert [p.id for p in show] == ["g1:stored"]
    np.testing.assert_array_equal(show.contact, motion.contact.astype(np.float32))
    stands = lanes_of(show, "contact")
    assert [bool(holds.all()) for holds in stands.values()] == [True, False, True, False]
    assert lanes_of(show, "flight") == {}


@pytest.mark.slow
def test_a_robots_motion_in_a_dataset_comes_with_its_human_and_its_verdict(dataset):
    for row in dataset.rows("kept AND robot = 'h1_2'"):
        (piece,) = pieces_of(dataset.root / row["file"])
        assert piece.title == row["recording"]
        assert piece.motion.robot == "h1_2"
        np.testing.assert_array_equal(piece.motion.joint_pos, load_robot_motion(dataset.root / row["file"]).joint_pos)
        whole = load_clip(dataset.root / row["human_file"]).motion
        first = round(row["start"] * whole.fps)
        part = whole.frames(first, first + row["frames"])
        part = part.mirror() if row["mirrored"] else part
        np.testing.assert_allclose(piece.clip.motion.pose.position, part.pose.position, atol=1e-6)
        assert piece.span == pytest.approx((row["start"], row["end"]))
        facts = dict(piece.facts)
        assert facts["clip"] == row["clip"]
        for name in ("category", "split", "label", "source", "format", "licence"):
            assert facts.get(name) == (row[name] or None)
        assert piece.path == (dataset.root / row["file"]).resolve()


@pytest.mark.slow
def test_the_human_and_the_robot_of_a_datasets_clip_are_in_step(dataset):
    """Seen at a clip that begins in the middle of its recording: contacts are the human's own."""
    rows = dataset.rows("kept AND start > 1")
    assert rows
    for row in rows:
        (piece,) = pieces_of(dataset.root / row["file"])
        np.testing.assert_allclose(piece.motion.contact, piece.clip.contact.ratio, atol=1e-6)


def test_a_clip_is_shown_with_its_own_verdict(tmp_path):
    spoilt = curate(FAULTS["jitter"].apply(generate("walk", 2.0, 1).motion, 40, 1))
    save_clip(tmp_path / "clip.npz", spoilt.clips[0])
    (piece,) = pieces_of(tmp_path / "clip.npz")
    assert (piece.title, piece.motion, piece.path) == ("clip.npz", None, tmp_path / "clip.npz")
    assert piece.measures == spoilt.clips[0].verdict.measures
    show = show_of(piece, [])
    assert show.kept is False
    assert show.reasons == spoilt.clips[0].verdict.reasons != ()
    assert show.path == str(tmp_path / "clip.npz")
    assert len(show.performers) == 0
    np.testing.assert_allclose(show.human.root_pos, spoilt.clips[0].motion.root_pos, atol=1e-6)


def test_a_recording_is_shown_whole(tmp_path):
    amass_smplx.write(tmp_path / "walk.npz", generate("walk", 5.0, 0).motion)
    (piece,) = pieces_of(tmp_path / "walk.npz")
    assert (piece.title, piece.motion, piece.path) == ("walk.npz", None, tmp_path / "walk.npz")
    assert len(piece.clip.motion) == 150
    assert ("format", "amass-smplx") in piece.facts
    assert piece.lanes == (), "all of it is in clips that are kept"
    assert show_of(piece, []).kept is True


def test_a_recording_says_which_frames_are_in_no_clip_that_is_kept(tmp_path):
    """From the fifth second on nobody can walk so high; clips are of four seconds, each but the first one begins with
    the last half second of the one before."""
    motion = generate("walk", 9.0, 0).motion
    root = motion.root_pos.copy()
    root[round(5 * motion.fps) :, 2] += 0.9
    amass_smplx.write(tmp_path / "walk.npz", replace(motion, root_pos=root))
    (piece,) = pieces_of(tmp_path / "walk.npz")
    (lane,) = piece.lanes
    assert (lane.label, lane.kind) == ("in no clip that is kept", "reason")
    assert lane.spans() == [(120, 270)]
    assert lanes_of(show_of(piece, []), "reason")[lane.label] is lane.holds


class TwoPeople:
    """A reader for files of two people."""

    FORMAT = "two"

    @staticmethod
    def recognises(probe):
        return probe.text.startswith("TWO")

    @staticmethod
    def read(probe, cfg):
        return [generate(kind, 2.0, 0).motion for kind in ("walk", "reach")]


def test_of_a_recording_of_two_people_each_is_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, TwoPeople))
    (tmp_path / "dance.two").write_text("TWO")
    pieces = pieces_of(tmp_path / "dance.two")
    assert [p.title for p in pieces] == ["dance.two, person 1", "dance.two, person 2"]
    far = [np.ptp(p.clip.motion.root_pos[:, 0]) for p in pieces]
    assert far[0] > 0.5 > far[1]


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be opened: No such file"), ("", "is empty"), ("?", "is called BVH, but")]
)
def test_a_file_that_holds_no_motion_is_named(tmp_path, content, says):
    if content is not None:
        (tmp_path / "x.bvh").write_text(content)
    with pytest.raises(ReadError, match=rf"x\.bvh: {says}"):
        pieces_of(tmp_path / "x.bvh")


@pytest.mark.slow
def test_only_what_a_dataset_lists_is_its_clip(dataset, tmp_path):
    row = dataset.rows("kept")[0]
    entry = stored_entry(dataset.root / row["file"])
    assert (entry.id, entry.row["robot"]) == (row["clip"], row["robot"])
    copy = copied(dataset.root, tmp_path / "copy")
    save_robot_motion(copy / "clips" / "stray.npz", still())
    save_robot_motion(copy / "mine.npz", still())
    for stray in (copy / "clips" / "stray.npz", copy / "mine.npz", tmp_path / "outside.npz"):
        assert stored_entry(stray) is None
    # Another program's file of that name is none of ours.
    (tmp_path / "dataset.json").write_text("[]")
    save_robot_motion(tmp_path / "outside.npz", still())
    assert pieces_of(tmp_path / "outside.npz")[0].clip is None


@pytest.mark.slow
def test_while_a_dataset_is_being_built_its_motions_can_be_looked_at(dataset, tmp_path):
    copy = copied(dataset.root, tmp_path / "copy")
    edit_description(copy, finished=False)
    (piece,) = pieces_of(copy / dataset.rows("kept")[0]["file"])
    assert piece.clip is None
    assert piece.motion is not None


# What is known of a clip.


@pytest.mark.slow
def test_every_clip_of_a_dataset_has_the_measures_and_the_reasons_of_the_manifest(dataset):
    seen = set()
    for row in dataset.rows():
        piece = piece_of_entry(dataset.entry(row["clip"], row["robot"]))
        show = show_of(piece, [])
        assert (show.kept, list(show.reasons)) == (row["kept"], row["reasons"])
        names = [name.removesuffix("_limit") for name in row if name.endswith("_limit") and row[name] is not None]
        assert {m.name: (m.value, m.limit) for m in show.measures} == {n: (row[n], row[f"{n}_limit"]) for n in names}
        assert (show.title, len(show), show.fps) == (row["recording"], row["frames"], row["fps"])
        assert show.subtitle == f"{row['start']:.1f} to {row['end']:.1f} s"
        assert (show.path is None) == (not row["kept"])
        seen |= {m.name for m in show.measures if not m.passed}
    assert len(seen) >= 4, "several filters are at work"


@pytest.mark.slow
def test_the_limits_are_those_that_the_manifest_names(dataset, tmp_path):
    copy = copied(dataset.root, tmp_path / "copy")
    edit_manifest(copy, lambda row: row.update(root_jerk_limit=0.125))
    row = open_dataset(copy).rows("kept")[0]
    show = show_of(piece_of_entry(open_dataset(copy).entry(row["clip"])), [])
    assert {m.name: m.limit for m in show.measures}["root_jerk"] == 0.125
    assert {t.label: t.limits for t in show.tracks}["root jerk"] == (0.125,)


@pytest.mark.slow
def test_the_lane_of_a_reason_marks_the_frames_beyond_its_limit_and_no_others(rejected):
    tried = set()
    for entry in rejected:
        piece = piece_of_entry(entry)
        show = show_of(piece, [])
        lanes = lanes_of(show, "reason")
        assert list(lanes) == [m.metric.label for m in piece.measures if not m.passed]
        height = piece.clip.motion.root_pos[:, 2]
        values = {track.label: track.value for track in show.tracks}
        for m in (m for m in piece.measures if not m.passed):
            bad = lanes[m.metric.label]
            if m.name == "pelvis_min":
                expected = height <= m.limit
            elif m.name == "contact_score":
                expected = piece.clip.contact.ratio.max(axis=1) <= m.limit
            elif m.name == "root_jerk":  # a third difference: of four frames
                third = np.linalg.norm(np.diff(piece.clip.motion.root_pos, 3, axis=0), axis=1) * FPS**3
                expected = np.zeros(len(show), bool)
                for t in np.flatnonzero(third >= m.limit):
                    expected[t : t + 4] = True
            else:
                expected = values[m.name.replace("_", " ")] >= m.limit
            assert bad.tolist() == expected.tolist(), m
            assert bad.any()
            tried.add(m.name)
    assert len(tried) >= 4, tried


@pytest.mark.slow
def test_a_clip_that_is_kept_has_no_reason_in_any_frame(dataset):
    row = dataset.rows("kept")[0]
    assert lanes_of(show_of(piece_of_entry(dataset.entry(row["clip"])), []), "reason") == {}


def test_contact_is_marked_where_a_sole_stands_and_flight_where_none_does(clip):
    ratio = np.zeros((15, 4))
    ratio[:5, 0], ratio[4:8, 1], ratio[2:4, 2], ratio[:12, 3] = 1.0, 0.51, 0.5, 0.49
    piece = Piece("x", replace(clip, contact=replace(clip.contact, ratio=ratio)))
    show = show_of(piece, [])
    stands = lanes_of(show, "contact")
    assert (
        list(stands) == ["left heel", "left toe", "right heel", "right toe"] == [r.replace("_", " ") for r in REGIONS]
    )
    assert [np.flatnonzero(holds).tolist() for holds in stands.values()] == [[0, 1, 2, 3, 4], [4, 5, 6, 7], [], []]
    assert [holds.tolist() for holds in lanes_of(show, "flight").values()] == [[False] * 8 + [True] * 7]
    assert show.kept is None, "nobody judged it"


@pytest.mark.slow
def test_tracks_of_a_human_are_what_the_filters_look_at_with_their_limits(rejected):
    piece = piece_of_entry(rejected[0])
    limits = {m.name: m.limit for m in piece.measures}
    tracks = {t.label: t for t in show_of(piece, []).tracks}
    assert {label: t.limits for label, t in tracks.items()} == {
        "root jerk": (limits["root_jerk"],), "contact score": (limits["contact_score"],),
        "pelvis height": (limits["pelvis_min"], limits["pelvis_max"]),
        "pelvis support": (limits["pelvis_support"],), "spine support": (limits["spine_support"],),
    }  # fmt: skip
    np.testing.assert_array_equal(tracks["pelvis height"].value, piece.clip.motion.root_pos[:, 2])
    np.testing.assert_array_equal(tracks["contact score"].value, piece.clip.contact.ratio.max(axis=1))
    assert [t.unit for t in tracks.values()] == ["m/s³", "", "m", "m", "m"]


# What is known of a robot.


def test_a_robot_that_stands_has_no_fault_in_any_frame():
    who = performer("x", "X", still(), load_robot("g1"))
    assert (who.id, who.title) == ("x", "X")
    assert not who.over.any()
    assert not who.slips.any()
    tracks = tracks_of(who)
    assert list(tracks) == [
        "joint use", "standing soles off the ground", "slip of standing soles", "fastest ankle", "torque"
    ]  # fmt: skip
    assert (tracks["torque"].value < 100).all()
    np.testing.assert_allclose(tracks["slip of standing soles"].value[:-1], 0, atol=1e-9)
    assert np.isnan(tracks["slip of standing soles"].value[-1])
    assert (tracks["standing soles off the ground"].value < 10).all()
    assert (who.scores, who.flags) == ({}, ())


def test_tracks_of_a_robot_are_in_their_units_and_beside_their_limits():
    robot = load_robot("g1")
    motion = still()
    joints = motion.joint_pos.copy()
    joints[3, 2] = robot.upper[2]
    root = motion.root_pos + np.outer(np.arange(8) / FPS, [0.12, 0.16, 0]) + [0, 0, 0.05]
    contact = np.tile([1.0, 1.0, 0.0, 0.0], (8, 1))
    contact[5:] = 0
    human = np.tile(curate(walk(open_body(), seconds=1.0)).motion.pose.position[:1], (8, 1, 1))
    who = performer(
        "x", "X", replace(motion, joint_pos=joints, root_pos=root, contact=contact, human_joints=human), robot
    )
    tracks = tracks_of(who)
    assert {label: (t.unit, t.limits) for label, t in tracks.items()} == {
        "position error": ("cm", (10.0,)), "direction error": ("°", (10.0,)), "joint use": ("% of range", (98.0,)),
        "torque": ("% of limit", (100.0,)), "fastest ankle": ("m/s", ()),
        "slip of standing soles": ("cm/s", (10.0,)), "standing soles off the ground": ("mm", (10.0,)),
        "foot off the human's": ("cm", (10.0,)),
    }  # fmt: skip
    assert tracks["joint use"].value[3] == pytest.approx(100)
    slip = tracks["slip of standing soles"].value
    np.testing.assert_allclose(slip[[0, 1]], 20, atol=1e-6)  # the joint moves the left leg later on
    assert np.isnan(slip[4:]).all()
    assert who.slips[:2, :2].all()
    assert not who.slips[:, 2:].any()
    faults = [lane.holds.tolist() for lane in who.lanes if lane.kind == "violation"]
    assert faults == [np.any(who.over, 1).tolist(), np.any(who.slips, 1).tolist()]
    off = tracks["standing soles off the ground"].value
    np.testing.assert_allclose(off[:3], 50, atol=10)
    assert np.isnan(off[5:]).all()
    assert who.over[3, 2]
    assert 5 < tracks["position error"].value[0] < 300
    assert 0 < tracks["direction error"].value[0] < 180


def test_soles_below_the_ground_are_as_wrong_as_soles_above_it():
    motion = still()
    who = performer("x", "X", replace(motion, root_pos=motion.root_pos - [0, 0, 0.03]), load_robot("g1"))
    np.testing.assert_allclose(tracks_of(who)["standing soles off the ground"].value, 30, atol=10)


def test_joints_in_another_order_are_the_same_robot():
    motion, robot = still(), load_robot("g1")
    joints = motion.joint_pos.copy()
    joints[3, 2] = 1.1 * robot.upper[2]
    turned = replace(motion, joint_pos=joints).reordered(robot.joint_names[::-1])
    who = performer("x", "X", turned, robot)
    assert who.motion.joint_names == robot.joint_names
    np.testing.assert_array_equal(who.motion.joint_pos, joints)
    assert who.over[3, 2]


def test_faults_of_a_robot_are_marked_and_named_where_there_are_several(clip):
    robot, motion = load_robot("g1"), still(frames=15)
    fine = performer("a", "A", motion, robot)
    over, slips = (lane.holds.copy() for lane in fine.lanes)
    over[4], slips[6:8] = True, True
    lanes = tuple(replace(lane, holds=holds) for lane, holds in zip(fine.lanes, (over, slips)))
    bad = replace(fine, id="g1:b", lanes=lanes)
    other = performer("c", "C", still("h1_2", frames=15), load_robot("h1_2"))
    piece = Piece("x", clip)
    assert lanes_of(show_of(piece, [fine]), "violation") == {}
    crowds = [bad], [fine, bad], [other, bad]
    alone, same, two = (lanes_of(show_of(piece, crowd), "violation") for crowd in crowds)
    assert list(alone) == ["joint beyond its limit", "standing sole slides"]
    assert list(same) == ["g1:b: joint beyond its limit", "g1:b: standing sole slides"]
    assert list(two) == ["g1: joint beyond its limit", "g1: standing sole slides"]
    for lanes in (alone, same, two):
        assert [np.flatnonzero(holds).tolist() for holds in lanes.values()] == [[4], [6, 7]]


@pytest.mark.slow
def test_scores_are_the_five_metrics_that_the_motion_was_stored_with(dataset):
    row = dataset.rows("kept")[0]
    (piece,) = pieces_of(dataset.root / row["file"])
    (who,) = performers_of(piece, [], [])
    assert list(who.scores) == ["fidelity", "feasibility", "non-floating", "non-penetration", "non-skating"]
    assert {name.replace("-", "_"): value for name, value in who.scores.items()} == pytest.approx(
        {name.replace("-", "_"): row[name.replace("-", "_")] for name in who.scores}
    )
    assert list(who.flags) == row["flags"]


# Who performs it.


def test_a_clip_that_is_put_on_a_robot_and_shown_takes_one_inverse_dynamics(clip, monkeypatch):
    computed = []

    def counted(*about):
        computed.append(about)
        return inverse_dynamics(*about)

    monkeypatch.setattr(dynamics, "inverse_dynamics", counted)
    who = perform(clip, load_robot("g1"), "sink")
    assert len(computed) == 1
    assert tracks_of(who)["torque"].value.max() == pytest.approx(who.motion.report["metrics"]["torque_peak"])


def test_several_robots_by_several_methods(clip):
    robots = [load_robot(name) for name in ("h1_2", "g1")]
    found = performers_of(Piece("x", clip), robots, ["ik", "sink"])
    assert [p.id for p in found] == ["h1_2:ik", "h1_2:sink", "g1:ik", "g1:sink"]
    assert [p.title for p in found] == ["h1_2 by ik", "h1_2 by sink", "g1 by ik", "g1 by sink"]
    for who in found:
        assert who.motion.robot == who.robot.name == who.id.split(":")[0]
        assert who.motion.report["method"] == who.id.split(":")[1]
        assert len(who.motion) == 15
        assert set(who.scores) == {"fidelity", "feasibility", "non-floating", "non-penetration", "non-skating"}
    assert (found[2].motion.joint_pos != found[3].motion.joint_pos).any()
    show = show_of(Piece("x", clip), found)
    assert show.performers == tuple(found)
    np.testing.assert_array_equal(show.contact, clip.contact.ratio)


def test_without_a_choice_a_human_is_put_on_the_g1_by_the_best_method(clip):
    assert [p.id for p in performers_of(Piece("x", clip), [], [])] == ["g1:physink+dynamics"]


def test_a_stored_motion_is_taken_for_its_own_robot_and_nothing_else(clip):
    stored = replace(still("h1_2", frames=15), report={"method": "by hand"})
    piece = Piece("x", clip, stored)
    g1, h1_2 = load_robot("g1"), load_robot("h1_2")

    def who(robots, methods):
        return [(p.id, p.title) for p in performers_of(piece, robots, methods)]

    assert who([], []) == who([h1_2], []) == [("h1_2:stored", "h1_2 by by hand")]
    assert who([], ["ik"]) == [("h1_2:ik", "h1_2 by ik")]
    assert who([g1, h1_2], []) == [
        ("g1:physink+dynamics", "g1 by physink+dynamics"),
        ("h1_2:stored", "h1_2 by by hand"),
    ]
    np.testing.assert_array_equal(performers_of(piece, [], [])[0].motion.joint_pos, stored.joint_pos)


@pytest.mark.parametrize(("robots", "methods"), [(["h1_2"], []), ([], ["ik"]), (["g1", "h1_2"], [])])
def test_a_robots_motion_alone_is_put_on_no_other(robots, methods):
    piece = Piece("mine.npz", None, still())
    says = r"mine\.npz holds the motion of a g1 alone; .*give the recording or its clip"
    with pytest.raises(ConfigError, match=says):
        performers_of(piece, [load_robot(name) for name in robots], methods)


def test_without_human_and_robot_there_is_nothing_to_show():
    with pytest.raises(ConfigError, match=r"mine\.npz: choose a robot, no human is known"):
        show_of(Piece("mine.npz", None, still()), [])


def test_a_robot_that_is_not_there_and_one_of_another_kind_are_refused(clip):
    stranger = replace(still(), robot="atlas")
    with pytest.raises(PhumaError, match="atlas"):
        performers_of(Piece("x", None, stranger), [], [])
    with pytest.raises(PhumaError, match="no joint"):
        performer("x", "X", still(), load_robot("h1_2"))
    with pytest.raises(ConfigError, match="magic"):
        perform(clip, load_robot("g1"), "magic")


def test_a_measure_without_a_number_a_frame_is_a_reason_with_no_frames(clip):
    show = show_of(Piece("x", clip, measures=(Measure(ELEGANCE, 0.1, 0.5),)), [])
    assert (show.kept, show.reasons) == (False, ("elegance: 0.1, needs > 0.5",))
    assert not lanes_of(show, "reason")["elegance"].any()


def test_a_foot_that_is_far_from_the_humans_has_a_lane_of_its_own_and_a_colour():
    """Far is 10 cm or more, on either side; without a human nothing is known of it."""
    robot = load_robot("g1")
    motion = still()
    ankles = [robot.keypoints.index(f"{side}_ankle") for side in ("left", "right")]
    human = np.tile(walk(open_body(), seconds=1.0).pose.position[:1], (8, 1, 1))
    own = point_positions(robot, points_of(robot, robot.keypoint_body, robot.keypoint_offset), motion)
    for k, side in enumerate(("left", "right")):
        human[:, JOINTS.index(f"{side}_ankle")] = own[:, ankles[k]]
    human[2, JOINTS.index("left_ankle")] += [0.11, 0, 0]
    human[5, JOINTS.index("right_ankle")] += [0, 0.09, 0]
    who = performer("x", "X", replace(motion, human_joints=human), robot)
    assert np.argwhere(who.far).tolist() == [[2, 0]]
    (lane,) = [lane for lane in who.lanes if lane.kind == "far"]
    assert lane.spans() == [(2, 3)]
    alone = performer("x", "X", replace(motion, human_joints=None), robot)
    assert alone.far is None
    assert not [lane for lane in alone.lanes if lane.kind == "far"]


def test_films_tell_recordings_from_each_other_by_their_names_and_else_by_their_folders(tmp_path):
    piece = Piece("walk.bvh", None, None)
    assert names_of([piece]) == [""]
    assert names_of([piece, replace(piece, title="run.bvh")]) == ["walk.bvh on ", "run.bvh on "]
    twice = [replace(piece, path=tmp_path / folder / "walk.bvh") for folder in ("a", "b")]
    assert names_of(twice) == [f"{tmp_path / folder / 'walk.bvh'} on " for folder in ("a", "b")]
