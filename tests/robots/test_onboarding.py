"""A robot's folder from its model file: what is found is what is true of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco

from phuma.curation import curate
from phuma.errors import ConfigError, ReadError
from phuma.retargeting import retarget_motion
from phuma.robots import KEYPOINTS, load_robot
from phuma.robots.check import check_robot, stand
from phuma.robots.onboarding import OnboardedRobot, onboard_robot
from phuma.robots.onboarding.model_file import read_model_file
from phuma.synth import generate
from tests.robots.kept_process import kept_process  # noqa: F401  # a fixture
from tests.robots.originals import original
from tests.robots.posing import NAMES, posed
from tests.robots.sample_robots import MODELS, SAMPLE_ROBOTS, SIDES, SampleRobot

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_process")]


@pytest.fixture(scope="module")
def onboarded(tmp_path_factory) -> Callable[[str], OnboardedRobot]:
    """The sample robots, onboarded by name, each once for all tests."""
    return cache(lambda name: onboard_robot(SAMPLE_ROBOTS[name].path, tmp_path_factory.mktemp("onboarded") / name))


@pytest.fixture(params=SAMPLE_ROBOTS)
def sample(request) -> SampleRobot:
    return SAMPLE_ROBOTS[request.param]


@pytest.fixture
def made(sample, onboarded) -> OnboardedRobot:
    return onboarded(sample.name)


def test_keypoints_are_on_the_bodies_that_they_belong_to(sample, made):
    robot = made.robot
    bodies = dict(zip(KEYPOINTS, (robot.body_names[b] for b in robot.keypoint_body)))
    assert bodies.pop("pelvis") == robot.body_names[0] == sample.pelvis
    assert bodies == {f"{s}_{part}": sample.named(body, s) for part, body in sample.keypoints.items() for s in SIDES}
    assert [robot.body_names[b] for b in robot.sole_body[::2]] == [sample.named(sample.foot, s) for s in SIDES]
    assert robot.anchor_body == sample.chest


def test_limbs_are_as_long_as_they_are(sample, made):
    p = stand(made.robot, made.robot.shared_pose).keypoints
    links = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
    for side in SIDES:
        lengths = [np.linalg.norm(p[f"{side}_{b}"] - p[f"{side}_{a}"]) for a, b in links]
        np.testing.assert_allclose(lengths, sample.lengths, atol=3e-3)


def test_joints_serve_as_what_they_are(sample, made):
    serving = {part: [n for n, p in made.parts.items() if p == part] for part in set(made.parts.values())}
    for part in ("knee", "elbow"):
        assert sorted(serving[part]) == sorted(sample.named(getattr(sample, part), s) for s in SIDES)
    assert sorted(serving["waist"]) == sorted(sample.waist)
    assert len(serving.get("other", [])) == sample.unseen


def test_soles_are_the_undersides_of_the_feet(sample, made):
    standing = stand(made.robot, made.robot.shared_pose)
    heel, toe, half, height = sample.sole
    for k, side in enumerate(SIDES):
        ankle = standing.keypoints[f"{side}_ankle"]
        corners = standing.corners[k] - ankle
        np.testing.assert_allclose(corners[:, 0], [heel, heel, toe, toe], atol=4e-3)
        inner = -1 if side == "left" else 1
        np.testing.assert_allclose(corners[:, 1], [inner * half, -inner * half, -inner * half, inner * half], atol=4e-3)
        np.testing.assert_allclose(corners[:, 2], -height, atol=1e-3)


def test_ambiguities_say_what_was_assumed_and_how_to_settle_it(sample, made):
    text = (made.robot.folder / "ambiguities.md").read_text()
    for words in sample.ambiguities:
        assert words in text
    for words in sample.without:
        assert words not in text
    assert text.count("To settle it: ") == len(made.ambiguities)


def test_nothing_is_wrong_with_what_was_made(made):
    assert [f.what for f in check_robot(made.robot) if f.wrong] == []


def test_the_robot_faces_ahead_and_bends_like_a_human(made):
    """Against the eye's errors: a robot that looks backwards, or whose knees bend ahead, passes many other tests."""
    standing = stand(made.robot, made.robot.default_pose)
    p = standing.keypoints
    for k, side in enumerate(SIDES):
        heel, toe = standing.soles[2 * k : 2 * k + 2]
        assert toe[0] - p[f"{side}_ankle"][0] > 1.2 * (p[f"{side}_ankle"][0] - heel[0])
        assert p[f"{side}_knee"][0] > max(p[f"{side}_hip"][0], p[f"{side}_ankle"][0]) + 0.04
        assert p[f"{side}_wrist"][0] > p[f"{side}_elbow"][0] + 0.04
        assert p[f"{side}_hip"][1] * (1 if side == "left" else -1) > 0.05


def test_the_written_model_moves_as_the_file_does(sample, made):
    """All bodies, in any pose: the same positions up to the one rotation between the two roots."""
    theirs, ours = read_model_file(sample.path).model, mujoco.MjModel.from_xml_path(str(made.robot.model_file))
    names = [ours.joint(j).name for j in range(1, ours.njnt)]
    rng = np.random.default_rng(0)
    rotation = None
    for _ in range(20):
        q = rng.uniform(ours.jnt_range[1:, 0], ours.jnt_range[1:, 1])
        a, b = posed(ours, q), mujoco.MjData(theirs)
        for name, angle in zip(names, q):
            if (address := _address(theirs, name)) is not None:
                b.qpos[address] = angle
        mujoco.mj_kinematics(theirs, b)
        there = np.array([b.body(n).xpos for n in made.robot.body_names])
        frames = np.array([b.body(n).xmat.reshape(3, 3) for n in made.robot.body_names])
        there, frames = (there - there[0]) @ frames[0], frames[0].T @ frames
        here = a.xpos[1:] - a.xpos[1]
        if rotation is None:
            rotation = _best_rotation(there, here)
        np.testing.assert_allclose(there @ rotation.T, here, atol=1e-6)
        np.testing.assert_allclose(rotation @ frames[1:], a.xmat[2:].reshape(-1, 3, 3), atol=1e-6)


def _address(model, name: str) -> int | None:
    try:
        return int(model.joint(name).qposadr[0])
    except KeyError:  # a joint without a name in the file
        return None


def _best_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    u, _, v = np.linalg.svd(b.T @ a)
    return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v


def test_masses_are_the_files(sample, made):
    theirs, ours = read_model_file(sample.path).model, mujoco.MjModel.from_xml_path(str(made.robot.model_file))
    mass = sum(theirs.body(n).mass[0] for n in made.robot.body_names)
    assert ours.body_subtreemass[1] == pytest.approx(mass, rel=1e-6)


@pytest.mark.parametrize("kind", ["walk", "squat", "kick"])
def test_motions_keep_limits_ground_and_stance_on_every_robot(made, kind):
    person = curate(generate(kind, seed=1).motion)
    motion = retarget_motion(person.motion, person.contact, made.robot)
    scores = motion.report["metrics"]
    for metric in ("feasibility", "non_floating", "non_penetration", "non_skating"):
        assert scores[metric] > 99.5, metric
    assert scores["fidelity"] > 85
    unseen = [n for n, part in made.parts.items() if part == "other"]
    rest = made.robot.default_pose[made.robot.joint_index(unseen)]
    # By a hair, as of a joint that rests on its limit: 1e-6 rad.
    np.testing.assert_allclose(
        motion.joint_pos[:, made.robot.joint_index(unseen)], np.tile(rest, (len(motion), 1)), atol=2e-6
    )


def test_joints_that_nothing_sees_rest_where_the_file_draws_them(onboarded):
    robot = onboarded("handy").robot
    rest = robot.default_pose[robot.joint_index(["l_thumb_2", "r_thumb_2", "l_index_1", "neck_yaw"])]
    assert rest.tolist() == [0.3, 0.3, 0, 0]


def test_degrees_includes_and_defaults_are_resolved(onboarded):
    robot = onboarded("scout").robot
    (knee,) = robot.joint_index(["left_knee_joint"])
    assert (robot.lower[knee], robot.upper[knee]) == pytest.approx((0, np.radians(140)))
    assert (robot.torque_limit[knee], robot.armature[knee]) == (200, 0.04)


def test_gears_and_control_ranges_make_torque_limits(onboarded):
    robot = onboarded("handy").robot
    knee, elbow = robot.joint_index(["l_knee", "r_elbow"])
    assert (robot.torque_limit[knee], robot.torque_limit[elbow]) == (180, 35)
    assert (robot.stiffness[elbow], robot.damping[elbow]) == (60, 4)


def test_a_urdf_gives_speed_and_torque_limits(onboarded):
    robot = onboarded("bare").robot
    (knee,) = robot.joint_index(["right_knee"])
    assert (robot.velocity_limit[knee], robot.torque_limit[knee]) == (16, 160)


def test_joints_without_end_get_half_a_turn(onboarded):
    robot = onboarded("bare").robot
    (head,) = robot.joint_index(["head_turn"])
    assert (robot.lower[head], robot.upper[head]) == pytest.approx((-np.pi, np.pi))


@pytest.mark.parametrize("name", ["loops", "handy"])
def test_names_do_not_matter(onboarded, tmp_path, name):
    """Without any word in its names the same places are found, and fingers are no part of the arm."""
    text = SAMPLE_ROBOTS[name].path.read_text()
    named = r'((?:name|joint[12]?|body[12])=")(\w+)"'
    blind = {word: f"n{k:03d}" for k, word in enumerate(sorted({m[2] for m in re.finditer(named, text)}))}
    (tmp_path / "blind.xml").write_text(re.sub(named, lambda m: f'{m[1]}{blind[m[2]]}"', text))
    plain, found = onboarded(name).robot, onboard_robot(tmp_path / "blind.xml", tmp_path / "out").robot
    assert found.body_names == tuple(blind[n] for n in plain.body_names)
    np.testing.assert_array_equal(found.keypoint_body, plain.keypoint_body)
    np.testing.assert_array_equal(found.keypoint_offset, plain.keypoint_offset)
    np.testing.assert_array_equal(found.sole_corners, plain.sole_corners)
    np.testing.assert_array_equal(found.shared_pose, plain.shared_pose)


def test_upper_arms_are_twisted_so_that_elbows_bend_ahead(tmp_path):
    """Elbows drawn to bend inwards: out to the side they would bend down."""
    text = (MODELS / "loops.xml").read_text()
    for side, lower, upper in (("L", -2.3, 0.1), ("R", -0.1, 2.3)):
        elbow = f'name="{side}Elbow" axis="0 1 0" range="-2.3 .1"'
        assert elbow in text
        text = text.replace(elbow, f'name="{side}Elbow" axis="1 0 0" range="{lower} {upper}"')
    (tmp_path / "inwards.xml").write_text(text)
    robot = onboard_robot(tmp_path / "inwards.xml", tmp_path / "out").robot
    for side, elbow, sense in (("left", "LElbow", -1), ("right", "RElbow", 1)):
        bent = robot.shared_pose.copy()
        bent[robot.joint_index([elbow])] += 0.1 * sense
        straight, moved = (stand(robot, q).keypoints[f"{side}_wrist"] for q in (robot.shared_pose, bent))
        way = (moved - straight) / np.linalg.norm(moved - straight)
        assert way[0] > 0.95


def test_the_bend_that_knees_are_drawn_with_does_not_matter(onboarded, tmp_path):
    """Drawn on bent knees the robot stands on its toes: the sole is the foot's underside all the same."""
    bent, half = 0.3, 0.15
    text = (MODELS / "loops.xml").read_text()
    for side in "LR":
        place = f'<body name="{side}Shank" pos="0 0 -.38"'
        assert place in text
        text = text.replace(place, f'{place} quat="{np.cos(half)} 0 {np.sin(half)} 0"')
        knee = f'<joint name="{side}Knee" axis="0 1 0" range="-.02 2.3"'
        assert knee in text
        text = text.replace(knee, knee.replace("-.02 2.3", f"{-0.02 - bent} {2.3 - bent}"))
    (tmp_path / "bent.xml").write_text(text)
    plain, made = onboarded("loops").robot, onboard_robot(tmp_path / "bent.xml", tmp_path / "out")
    a, b = (stand(r, r.shared_pose) for r in (plain, made.robot))
    np.testing.assert_allclose(list(a.keypoints.values()), list(b.keypoints.values()), atol=5e-3)
    np.testing.assert_allclose(a.corners, b.corners, atol=5e-3)
    assert any("leans by 17 degrees" in d.what for d in made.ambiguities)


def test_bodies_and_joints_without_names_get_some(onboarded, tmp_path):
    text = re.sub(r'<(body|joint) name="\w+"', r"<\1", (MODELS / "crouch.xml").read_text())
    (tmp_path / "nameless.xml").write_text(text)
    plain, found = onboarded("crouch").robot, onboard_robot(tmp_path / "nameless.xml", tmp_path / "out").robot
    assert len(set(found.joint_names)) == plain.n_joints
    np.testing.assert_array_equal(found.keypoint_body, plain.keypoint_body)
    np.testing.assert_array_equal(found.shared_pose, plain.shared_pose)


@pytest.mark.parametrize("degrees", [90, 180, 217])
def test_the_way_that_a_file_faces_does_not_matter(onboarded, tmp_path, degrees):
    text = (MODELS / "loops.xml").read_text()
    half = np.radians(degrees) / 2
    turned = text.replace('<body name="Pelvis"', f'<body name="Pelvis" quat="{np.cos(half)} 0 0 {np.sin(half)}"')
    turned = turned.replace("<freejoint/>", "")  # a free joint's frame is the body's own, so only a fixed one turns
    (tmp_path / "turned.xml").write_text(turned)
    plain, found = onboarded("loops").robot, onboard_robot(tmp_path / "turned.xml", tmp_path / "out").robot
    np.testing.assert_allclose(found.body_pos, plain.body_pos, atol=1e-9)
    np.testing.assert_allclose(found.shared_pose, plain.shared_pose, atol=1e-4)


def test_names_of_the_wrong_side_are_ambiguous_and_the_shape_is_followed(tmp_path):
    text = (MODELS / "loops.xml").read_text()
    swapped = re.sub(r'"(L|R)([A-Z]\w+)"', lambda m: f'"{"R" if m[1] == "L" else "L"}{m[2]}"', text)
    (tmp_path / "swapped.xml").write_text(swapped)
    made = onboard_robot(tmp_path / "swapped.xml", tmp_path / "out")
    names = dict(zip(KEYPOINTS, (made.robot.body_names[b] for b in made.robot.keypoint_body)))
    assert names["left_knee"] == "RShank"
    assert any("its name says right" in d.what for d in made.ambiguities)


def test_a_knee_that_bends_ahead_is_ambiguous(tmp_path):
    text = (MODELS / "loops.xml").read_text().replace('range="-.02 2.3"', 'range="-2.3 .02"')
    (tmp_path / "bird.xml").write_text(text)
    made = onboard_robot(tmp_path / "bird.xml", tmp_path / "out")
    assert any(d.what.startswith("Feet and knees disagree") for d in made.ambiguities)
    assert any("knee bends the wrong way" in d.what for d in made.ambiguities)


def box_stl(size: tuple[float, float, float], middle: tuple[float, float, float]) -> bytes:
    """A box as a binary STL."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(size) / 2 + middle
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [corners[list(f)] for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
    data = np.zeros(len(faces), kind)
    data["corners"] = faces
    return bytes(80) + np.uint32(len(faces)).tobytes() + data.tobytes()


def test_meshes_are_found_in_their_package_and_those_that_cannot_be_used_are_left_out(tmp_path):
    folder = tmp_path / "bare_description"
    for name in ("urdf", "meshes"):
        (folder / name).mkdir(parents=True)
    (folder / "urdf" / "bare.urdf").write_bytes((MODELS / "bare.urdf").read_bytes())
    for side in SIDES:
        (folder / "meshes" / f"{side}_foot.stl").write_bytes(box_stl((0.24, 0.1, 0.04), (0.05, 0, -0.04)))
    (folder / "meshes" / "head.stl").write_bytes(b"no mesh at all" * 20)
    made = onboard_robot(folder / "urdf" / "bare.urdf", tmp_path / "out")
    np.testing.assert_allclose(made.robot.sole_point[:2], [[-0.07, 0, -0.06], [0.17, 0, -0.06]], atol=1e-5)
    text = "\n".join(d.what for d in made.ambiguities)
    assert "27 meshes were not found" in text
    assert "head.stl" in text
    assert "inertia" not in text


def test_an_impossible_inertia_is_mended_and_told(tmp_path):
    text = (MODELS / "bare.urdf").read_text()
    shin = re.search(r'<link name="left_shin">.*?(<inertia [^>]*>)', text, flags=re.S)
    assert shin
    (tmp_path / "bare.urdf").write_text(
        text.replace(shin[1], '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>', 1)
    )
    made = onboard_robot(tmp_path / "bare.urdf", tmp_path / "out")
    assert any(d.what.startswith("Inertias of ") and "are impossible" in d.what for d in made.ambiguities)


def test_what_mujoco_warns_of_is_an_ambiguity_and_no_file(tmp_path, monkeypatch, capfd):
    text = (MODELS / "bare.urdf").read_text()
    jaw = re.search(r'<joint name="left_jaw_a".*?(<limit [^>]*>)', text, flags=re.S)
    assert jaw
    stuck = jaw[0].replace(jaw[1], '<limit lower="0.1" upper="0.1" effort="2" velocity="3"/>')
    (tmp_path / "bare.urdf").write_text(text.replace(jaw[0], stuck))
    monkeypatch.chdir(tmp_path)
    made = onboard_robot("bare.urdf", "out")
    assert any(d.what.startswith("MuJoCo warns: joint 'left_jaw_a' has equal lower") for d in made.ambiguities)
    assert "WARNING" not in "".join(capfd.readouterr())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bare.urdf", "out"]


WRONG = {
    "quadruped.xml": r"4 limbs reach the ground, as of a quadruped; a humanoid has two .* Found: 4 chains .*FL_calf",
    "arm.xml": r"a single chain of joints, as of an arm; a humanoid .* two arms, .* Found: one chain .* link7",
    "one_leg.xml": r"only one leg: LFoot .*; a humanoid has two legs, .* Found: 3 chains .* LFoot \(6 joints, down to",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_humanoid_is_told_what_was_looked_for_and_found(tmp_path, name):
    with pytest.raises(ReadError, match=WRONG[name]) as caught:
        onboard_robot(MODELS / name, tmp_path / "out")
    assert name in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_biped_without_arms_is_told_so(tmp_path):
    text = (MODELS / "loops.xml").read_text()
    (tmp_path / "biped.xml").write_text(
        re.sub(r'<body name="[LR]ShoulderPitch".*?</body>\n        </body>', "", text, flags=re.S)
    )
    with pytest.raises(ReadError, match=r"only one pair of limbs, LFoot and RFoot, .* Found: 3 chains of joints"):
        onboard_robot(tmp_path / "biped.xml", tmp_path / "out")


@pytest.mark.parametrize(
    "text", ["<mujoco><worldbody>", "hello", "<robot/>", "<mujoco><worldbody><body/></worldbody></mujoco>"]
)
def test_a_file_that_holds_no_robot_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "file.xml").write_text(text)
    with pytest.raises(ReadError, match=r"file\.xml: "):
        onboard_robot(tmp_path / "file.xml", tmp_path / "out")


def test_missing_files_are_named(tmp_path):
    with pytest.raises(ReadError, match=r"none\.xml: does not exist; expected a robot's model"):
        onboard_robot(tmp_path / "none.xml", tmp_path / "out")
    with pytest.raises(ReadError, match=r"none\.urdf: does not exist; expected the robot's URDF"):
        onboard_robot(MODELS / "loops.xml", tmp_path / "out", tmp_path / "none.urdf")
    with pytest.raises(ReadError, match=r"loops\.xml: is not a URDF"):
        onboard_robot(MODELS / "loops.xml", tmp_path / "out", MODELS / "loops.xml")
    with pytest.raises(ReadError, match=r"bare\.urdf: has limits of none of the model's joints; it has left_hip_roll"):
        onboard_robot(MODELS / "loops.xml", tmp_path / "out", MODELS / "bare.urdf")
    assert not (tmp_path / "out").exists()


def test_a_trunk_that_is_part_of_the_world_is_the_robots(onboarded, tmp_path):
    """A robot whose base is fixed may have no body for it at all."""
    text = (MODELS / "loops.xml").read_text()
    text = re.sub(r'<body name="Pelvis".*?<geom[^>]*>', "", text, count=1, flags=re.S)
    (tmp_path / "fixed.xml").write_text(text.replace("    </body>\n  </worldbody>", "  </worldbody>"))
    plain, found = onboarded("loops").robot, onboard_robot(tmp_path / "fixed.xml", tmp_path / "out").robot
    assert found.body_names == ("base", *plain.body_names[1:])
    assert [f.what for f in check_robot(found)] == []
    np.testing.assert_array_equal(found.keypoint_body, plain.keypoint_body)
    np.testing.assert_allclose(found.shared_pose, plain.shared_pose, atol=1e-4)


def test_a_root_whose_origin_is_on_the_ground_has_its_pelvis_above_the_hips(onboarded, tmp_path):
    text = (MODELS / "loops.xml").read_text()
    text = re.sub(
        r'<body name="Pelvis" pos="0 0 .95">.*?<geom[^>]*>', '<frame pos="0 0 .95">', text, count=1, flags=re.S
    )
    (tmp_path / "low.xml").write_text(text.replace("    </body>\n  </worldbody>", "    </frame>\n  </worldbody>"))
    made = onboard_robot(tmp_path / "low.xml", tmp_path / "out")
    p = stand(made.robot, made.robot.shared_pose).keypoints
    hips = (p["left_hip"] + p["right_hip"]) / 2
    np.testing.assert_allclose(p["pelvis"] - hips, [0, 0, 0.12 * 0.76], atol=1e-3)
    assert any("origin is not between the hips" in d.what for d in made.ambiguities)


def test_without_any_shape_or_mass_the_joints_are_still_found(onboarded, tmp_path):
    text = re.sub(r"<geom [^>]*/>", "", (MODELS / "loops.xml").read_text())
    (tmp_path / "bones.xml").write_text(text)
    plain, made = onboarded("loops").robot, onboard_robot(tmp_path / "bones.xml", tmp_path / "out")
    np.testing.assert_array_equal(made.robot.keypoint_body, plain.keypoint_body)
    np.testing.assert_array_equal(made.robot.keypoint_offset, plain.keypoint_offset)
    assert any("as large as a person's would be" in d.what for d in made.ambiguities)
    assert any("weighs" in d.what for d in made.ambiguities)


@pytest.mark.parametrize("factor", [0.35, 1.6])
def test_size_does_not_matter(onboarded, tmp_path, factor):
    def scaled(m: re.Match) -> str:
        return m[1] + " ".join(f"{factor * float(v):.9g}" for v in m[2].split()) + '"'

    text = re.sub(r'((?:pos|fromto|size|anchor)=")([^"]*)"', scaled, (MODELS / "loops.xml").read_text())
    (tmp_path / "other.xml").write_text(text)
    plain, found = onboarded("loops").robot, onboard_robot(tmp_path / "other.xml", tmp_path / "out").robot
    np.testing.assert_array_equal(found.keypoint_body, plain.keypoint_body)
    keypoints = [np.array(list(stand(r, r.shared_pose).keypoints.values())) for r in (plain, found)]
    np.testing.assert_allclose(keypoints[1], factor * keypoints[0], atol=5e-3)


def test_arms_that_hang_down_to_the_ground_are_arms(onboarded, tmp_path):
    text = (MODELS / "loops.xml").read_text().replace('Hand" pos="-.02 0 -.22"', 'Hand" pos="-.02 0 -.83"')
    (tmp_path / "ape.xml").write_text(text)
    plain, found = onboarded("loops").robot, onboard_robot(tmp_path / "ape.xml", tmp_path / "out").robot
    np.testing.assert_array_equal(found.keypoint_body, plain.keypoint_body)
    np.testing.assert_array_equal(found.sole_corners, plain.sole_corners)


def test_without_a_waist_the_pelvis_carries_the_arms(onboarded, tmp_path):
    text = (MODELS / "loops.xml").read_text().replace('<joint name="WaistYaw" axis="0 0 1" range="-1.5 1.5"/>', "")
    (tmp_path / "stiff.xml").write_text(text)
    made = onboard_robot(tmp_path / "stiff.xml", tmp_path / "out")
    assert "waist" not in made.parts.values()
    assert [f.what for f in check_robot(made.robot)] == []


def test_a_folder_with_a_robot_is_not_overwritten(tmp_path):
    onboard_robot(MODELS / "loops.xml", tmp_path / "mine")
    before = (tmp_path / "mine" / "robot.json").read_bytes()
    with pytest.raises(ConfigError, match=r"holds a robot\.json already, .*; choose another --out"):
        onboard_robot(MODELS / "crouch.xml", tmp_path / "mine")
    assert (tmp_path / "mine" / "robot.json").read_bytes() == before


def test_a_model_file_is_not_overwritten_by_its_own_robot(tmp_path):
    source = tmp_path / "model.xml"
    source.write_bytes((MODELS / "loops.xml").read_bytes())
    with pytest.raises(ConfigError, match=r"holds a model\.xml already"):
        onboard_robot(source, tmp_path)
    assert source.read_bytes() == (MODELS / "loops.xml").read_bytes()


def test_the_same_file_gives_the_same_folder(tmp_path):
    for name in ("a", "b"):
        onboard_robot(MODELS / "crouch.xml", tmp_path / name / "crouch")
    for file in ("model.xml", "robot.json", "ambiguities.md"):
        assert (tmp_path / "a/crouch" / file).read_bytes() == (tmp_path / "b/crouch" / file).read_bytes()


@pytest.mark.parametrize("kind", ["mjcf", "urdf"])
@pytest.mark.parametrize("name", NAMES)
def test_the_makers_bare_files_give_the_built_in_mapping(tmp_path, name, kind):
    """Bodies are the same; points within 2 mm; soles within 2 mm; limits equal; the shared pose within 2 cm."""
    source, built_in = original(name), load_robot(name)
    made = onboard_robot(getattr(source, kind), tmp_path / name, source.urdf)
    _agrees(made.robot, built_in, sole=2e-3)
    np.testing.assert_allclose(made.robot.torque_limit, built_in.torque_limit)
    np.testing.assert_allclose(made.robot.velocity_limit, built_in.velocity_limit)
    assert [f.what for f in check_robot(made.robot)] == []


@pytest.mark.parametrize("name", NAMES)
def test_without_their_meshes_they_do_too_but_for_the_soles(tmp_path, name):
    """Soles are those of the few primitives, or of a box with the foot's inertia: 3.5 cm."""
    source = original(name)
    path = tmp_path / source.mjcf.name
    path.write_bytes(source.mjcf.read_bytes())
    made = onboard_robot(path, tmp_path / name)
    _agrees(made.robot, load_robot(name), sole=0.035)
    assert any("meshes were not found" in d.what for d in made.ambiguities)


def _agrees(robot, built_in, sole: float) -> None:
    assert robot.joint_names == built_in.joint_names
    np.testing.assert_allclose(robot.lower, built_in.lower, atol=1e-5)
    np.testing.assert_allclose(robot.upper, built_in.upper, atol=1e-5)
    bodies = [[r.body_names[b] for b in r.keypoint_body] for r in (robot, built_in)]
    assert bodies[0] == bodies[1]
    np.testing.assert_allclose(robot.keypoint_offset, built_in.keypoint_offset, atol=2e-3)
    assert [robot.body_names[b] for b in robot.sole_body] == [built_in.body_names[b] for b in built_in.sole_body]
    np.testing.assert_allclose(robot.sole_corners, built_in.sole_corners, atol=sole)
    shared = [np.array(list(stand(r, r.shared_pose).keypoints.values())) for r in (robot, built_in)]
    np.testing.assert_allclose(shared[0], shared[1], atol=0.02)


def test_robot_json_says_where_it_comes_from(sample, made):
    about = json.loads((made.robot.folder / "robot.json").read_text())
    assert about["source"] == Path(sample.file).name
    assert str(made.robot.n_joints) in about["title"]
