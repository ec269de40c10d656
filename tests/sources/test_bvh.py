"""BVH: any skeleton comes out as the person that it was, whatever its names, axes, units and rest pose."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.skeleton import INDEX, JOINTS, PARENTS
from phuma.curation import curate
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.io.probe import Probe
from phuma.sources import ReadCfg, read, recognise
from phuma.sources.bvh import write
from phuma.sources.bvh.kinematics import forward, needed_joints
from phuma.sources.bvh.match import JointMap, match_joints, side_and_word
from phuma.sources.bvh.parse import parse_bvh
from phuma.synth import generate
from tests.fuzz import changes, damage, fuzzed, only_read_errors
from tests.motions import smooth_motion
from tests.sources.bvh_files import CONVENTIONS, bvh_text


@pytest.fixture(scope="module")
def walk():
    return generate("walk", seconds=4.0, seed=5).motion


def read_text(tmp_path, text, **cfg):
    path = tmp_path / "motion.bvh"
    path.write_text(text)
    return read(path, ReadCfg(**cfg))


def assert_same_person(got, wanted, tolerance=1e-4):
    """Joints in the world agree, and so do rotations from rest."""
    np.testing.assert_allclose(got.pose.position, wanted.pose.position, atol=tolerance)
    agreement = np.abs(np.sum(got.pose.rotation * wanted.pose.rotation, axis=-1))
    assert np.degrees(2 * np.arccos(np.clip(agreement.min(), 0, 1))) < 0.1


@pytest.mark.parametrize("fps", [30.0, 59.94, 120.0])
def test_what_is_written_is_read_back(tmp_path, fps):
    motion = smooth_motion(open_body(), frames=90, fps=fps, seed=4)
    write(tmp_path / "a.bvh", motion)
    got = read(tmp_path / "a.bvh")
    assert got.fps == pytest.approx(fps, rel=1e-6)
    assert_same_person(got, motion)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_names_of_every_package_are_known(tmp_path, walk, convention):
    names = CONVENTIONS[convention]
    path = tmp_path / "motion.bvh"
    path.write_text(bvh_text(walk, names))
    file = parse_bvh(path)
    matched = match_joints(path, file.joints, JointMap())
    assert {JOINTS[ours]: file.joints[i].name for ours, i in matched.items()} == names
    assert_same_person(read(path), walk)


@pytest.mark.parametrize(("unit", "per_metre"), [("m", 1.0), ("cm", 100.0), ("mm", 1000.0), ("CMU", 0.45 / 0.0254)])
def test_units_are_recognised_by_the_legs(tmp_path, walk, unit, per_metre):
    got = read_text(tmp_path, bvh_text(walk, units_per_metre=per_metre))
    assert unit in got.provenance.notes[0]
    assert_same_person(got, walk)


def test_files_with_z_up(tmp_path, walk):
    assert_same_person(read_text(tmp_path, bvh_text(walk, up="z")), walk)


def test_somebody_who_lies_is_not_stood_up(tmp_path, walk):
    """Lying along z in a y-up file looks like standing in a z-up one, but for the height of the pelvis."""
    turn = rot.from_axis("y", np.pi / 2)  # standing becomes lying along x, which is the file's z
    quat = walk.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    lying = replace(walk, joint_quat=quat, root_pos=np.tile([0.3, 0.0, 0.12], (len(walk), 1)))
    got = read_text(tmp_path, bvh_text(lying))
    assert got.provenance.up == "y"
    assert_same_person(got, lying)
    assert not any(clip.verdict.kept for clip in curate(got).clips)


def test_braces_may_stand_behind_the_name(tmp_path, walk):
    text = re.sub(r"\n\s*{", " {", bvh_text(walk))
    assert_same_person(read_text(tmp_path, text), walk)


def along_the_bones():
    """Axes in LaFAN1's manner: x along each bone, z across the body."""
    up = rot.from_matrix(np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]))  # rest y -> x, z -> y, x -> z
    down = rot.from_matrix(np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]]))
    ahead = rot.from_matrix(np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]]))
    left = rot.from_matrix(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]))
    right = rot.from_matrix(np.array([[-1.0, 0, 0], [0, 0, 1], [0, 1, 0]]))
    axes = dict.fromkeys(("pelvis", "spine1", "spine2", "spine3", "neck", "head"), up)
    for side, out in (("left", left), ("right", right)):
        axes |= {f"{side}_{n}": down for n in ("hip", "knee")}
        axes |= {f"{side}_{n}": ahead for n in ("ankle", "foot")}
        axes |= {f"{side}_{n}": out for n in ("collar", "shoulder", "elbow", "wrist")}
    return axes


def test_without_a_t_pose_rest_directions_come_from_offsets_and_hinges(tmp_path):
    """The zero pose of this file is a heap of bones along x, as LaFAN1's is."""
    motion = generate("walk", seconds=12.0, seed=3).motion
    got = read_text(tmp_path, bvh_text(motion, CONVENTIONS["lafan1"], axes=along_the_bones()))
    assert "hinges" in got.provenance.notes[0]
    # Positions are the file's own, whatever the axes; rotations from rest are the estimate.
    np.testing.assert_allclose(got.pose.position, motion.pose.position, atol=2e-3)
    agreement = np.abs(np.sum(got.pose.rotation * motion.pose.rotation, axis=-1))
    assert np.degrees(2 * np.arccos(np.clip(agreement, 0, 1))).max() < 8.0
    ours, theirs = curate(got).contact.ratio, curate(motion).contact.ratio
    assert np.mean(np.abs(ours - theirs)) < 0.12


def test_a_t_pose_put_before_the_recording_is_used_and_left_out(tmp_path, walk):
    names = CONVENTIONS["cmu"]
    got = read_text(tmp_path, bvh_text(walk, names, t_pose_first=True))
    assert "T-pose in frame 0" in got.provenance.notes[0]
    assert "left out" in got.provenance.notes[1]
    assert len(got) == len(walk)
    assert_same_person(got, walk)


def test_wrists_toes_and_collars_may_be_missing(tmp_path, walk):
    without = ("left_wrist", "right_wrist", "left_foot", "right_foot")
    got = read_text(tmp_path, bvh_text(walk, without=without))
    present = [j for j, name in enumerate(JOINTS) if name not in without]
    np.testing.assert_allclose(got.pose.position[:, present], walk.pose.position[:, present], atol=1e-4)
    np.testing.assert_allclose(
        got.pose.position[:, INDEX["left_foot"]], walk.pose.position[:, INDEX["left_foot"]], atol=1e-4
    )


def test_the_soles_stand_on_the_ground_where_the_person_does(tmp_path):
    """Soles are laid under a skeleton that has none; they have to stand where the person's own do."""
    motion = generate("walk", seconds=8.0, seed=7).motion
    got, wanted = curate(read_text(tmp_path, bvh_text(motion))), curate(motion)
    assert np.mean(np.abs(got.contact.ratio - wanted.contact.ratio)) < 0.05
    assert got.ground == pytest.approx(wanted.ground, abs=0.005)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LeftUpLeg", ("left", "upleg")),
        ("mixamorig:RightForeArm", ("right", "forearm")),
        ("lThigh", ("left", "thigh")),
        ("LHipJoint", ("left", "hipjoint")),
        ("Bip01 R Foot", ("right", "foot")),
        ("foot.L", ("left", "foot")),
        ("L_Knee", ("left", "knee")),
        ("rhand", ("right", "hand")),
        ("LowerBack", ("", "lowerback")),
        ("Root", ("", "root")),
    ],
)
def test_sides_are_read_from_names(name, expected):
    assert side_and_word(name) == expected


def test_an_unmatched_joint_is_named_with_the_names_there_were(tmp_path, walk):
    names = CONVENTIONS["lafan1"] | {"left_knee": "Thing", "left_hip": "Other"}
    with pytest.raises(ReadError) as e:
        read_text(tmp_path, bvh_text(walk, names))
    for part in ("left_hip", "left_knee", "Thing", "Other", "--joint-map", "motion.bvh"):
        assert part in str(e.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"joints": {"left_hip": "LHip", "right_hip": "LHip"}}, "names 'LHip' twice, as left_hip and right_hip"),
        (
            {"joints": {"left_knee": "left_ankle", "left_ankle": "left_knee"}},
            "'left_knee' is the left_ankle and 'left_ankle' "
            "the left_knee, which is not above it; above it are: left_hip, pelvis",
        ),
        (
            {"metres_per_unit": 200},
            r"at the joint map's metres_per_unit of 200 that is .* m, and a person's are 0.2 to 2",
        ),
        ({"metres_per_unit": 1e-5}, r"metres_per_unit of 1e-05 that is .* m.*Give 0.01, or none"),
        ({"metres_per_unit": 1e9}, r"metres_per_unit is 1000000000\.0; expected a number from 0.000001 to 1000"),
    ],
)
def test_a_joint_map_that_cannot_be_is_refused_with_the_value_and_what_was_valid(tmp_path, walk, given, said):
    (tmp_path / "map.json").write_text(json.dumps(given))
    with pytest.raises(PhumaError, match=said):
        read_text(tmp_path, bvh_text(walk), joint_map=tmp_path / "map.json")


def test_a_joint_map_settles_it(tmp_path, walk):
    names = CONVENTIONS["lafan1"] | {"left_knee": "Thing", "left_hip": "Other"}
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"joints": {"left_hip": "Other", "left_knee": "Thing"}}))
    assert_same_person(read_text(tmp_path, bvh_text(walk, names), joint_map=file), walk)
    file.write_text(json.dumps({"joints": {"left_hip": "Nobody"}}))
    with pytest.raises(ReadError, match="names 'Nobody' as left_hip; this skeleton has: Hips"):
        read_text(tmp_path, bvh_text(walk, names), joint_map=file)
    file.write_text(json.dumps({"joints": {"left_tail": "Hips"}}))
    with pytest.raises(ConfigError, match="left_tail"):
        read_text(tmp_path, bvh_text(walk, names), joint_map=file)


def test_a_unit_that_fits_no_person_asks_for_it(tmp_path, walk):
    text = bvh_text(walk, units_per_metre=7.0)
    with pytest.raises(ReadError, match="metres_per_unit"):
        read_text(tmp_path, text)
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"metres_per_unit": 1 / 7}))
    assert_same_person(read_text(tmp_path, text, joint_map=file), walk, tolerance=1e-3)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: t[: len(t) // 2], "cut short"),
        (lambda t: t.replace("MOTION", "MOTIN"), "did not expect 'MOTIN'"),
        (lambda t: t.replace("Frame Time: 0.0333333", "Frame Time: 0"), "Frame Time is 0"),
        (lambda t: t.replace("Frame Time: 0.0333333", "Frame Time: -1"), "Frame Time is -1"),
        (lambda t: t.replace("Frames: 120", "Frames: 999999999"), "999999999 frames announced, 120 found"),
        (lambda t: t.replace("Frames: 120", "Frames: many"), "`Frames: N`"),
        (lambda t: t.replace("OFFSET", "OFFSET nan", 2), "OFFSET needs three numbers"),
        (lambda t: t.replace("CHANNELS 3 Zrotation", "CHANNELS 4 Zrotation", 1), "CHANNELS needs a count"),
        (lambda t: t.replace("Zrotation", "Wrotation", 1), "unknown channel 'Wrotation'"),
        (lambda t: "\n".join([*t.splitlines()[:-1], t.splitlines()[-1].replace(" ", " nan ", 1)]), "numbers"),
        (lambda t: t.rsplit(" ", 1)[0] + " inf\n", "must be finite"),
        (lambda t: t.rsplit(" ", 1)[0] + " 1e30\n", "not a plausible value"),
        (lambda t: t.rsplit(" ", 1)[0] + " zwei\n", "'zwei' is not a number"),
        (lambda t: t.replace("ROOT", "JOINT", 1), "out of place"),
        (lambda t: "HIERARCHY\n" + "x" * 300_000, "longer than"),
        (lambda t: "HIERARCHY\n", "ends inside the hierarchy"),
        (lambda t: "", "is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, walk, spoil, says):
    with pytest.raises(ReadError) as e:
        read_text(tmp_path, spoil(bvh_text(walk)))
    assert says in str(e.value)
    assert "motion.bvh" in str(e.value)


def test_content_decides_not_the_name(tmp_path, walk):
    path = tmp_path / "walk.npz"
    path.write_text(bvh_text(walk))
    assert recognise(Probe(path)).FORMAT == "bvh"


@pytest.mark.real
def test_cmu_joints_are_where_the_file_puts_them(cmu):
    """The conversion is exact but for CMU's second neck joint, which we have no place for."""
    for name in ("104_22", "13_26", "141_14", "75_06"):
        path = cmu / f"{name}.bvh"
        motion = read(path)
        file = parse_bvh(path)
        mapping = match_joints(path, file.joints, JointMap())
        position, _ = forward(file.joints, needed_joints(file.joints, mapping.values()), file.values[1:])
        for ours, theirs in mapping.items():
            if JOINTS[ours] in ("neck", "head"):
                continue
            p = position[theirs] * (0.0254 / 0.45)
            np.testing.assert_allclose(motion.pose.position[:, ours], p[:, [2, 0, 1]], atol=1e-4, err_msg=JOINTS[ours])
        assert all(PARENTS[j] < j for j in range(1, 22))


@pytest.fixture(scope="module")
def short_bvh(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "short.bvh"
    write(path, generate("walk", seconds=1.0, seed=0).motion.frames(0, 6))
    return path.read_bytes()


WORDS = [
    b"{",
    b"}",
    b"nan",
    b"-1e39",
    b"JOINT x\n",
    b"End Site\n",
    b"CHANNELS 3 ",
    b"OFFSET ",
    b"MOTION\n",
    b"0 ",
    b"\0",
]


@fuzzed
@given(edits=changes, words=st.lists(st.tuples(st.floats(0, 1), st.sampled_from(WORDS)), max_size=3))
def test_damaged_files_give_errors_and_nothing_else(short_bvh, tmp_path, edits, words):
    data = bytearray(short_bvh)
    for where, word in words:
        at = int(where * len(data))
        data[at:at] = word
    path = tmp_path / "damaged.bvh"
    path.write_bytes(damage(bytes(data), edits))
    only_read_errors(ReadError, lambda: read(path))


@fuzzed
@given(rest=st.binary(max_size=400))
def test_any_bytes_behind_the_first_word_give_errors_and_nothing_else(tmp_path, rest):
    path = tmp_path / "bytes.bvh"
    path.write_bytes(b"HIERARCHY\nROOT a\n{\n" + rest)
    only_read_errors(ReadError, lambda: read(path))
