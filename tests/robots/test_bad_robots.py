"""A robot folder with a fault gives an error that names the element, what is valid and what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phuma.errors import MissingExtraError, ReadError
from phuma.robots import load_robot

pytest.importorskip("mujoco")
SOURCE = load_robot("g1").folder
KNEE = '<joint class="motor_139" name="left_knee_joint" axis="0 1 0" range="-0.087267 2.8798"/>'


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the G1 under another name, to be spoilt."""
    return Path(shutil.copytree(SOURCE, tmp_path / "mine"))


def edit_model(folder: Path, old: str, new: str) -> None:
    text = (folder / "model.xml").read_text()
    assert old in text
    (folder / "model.xml").write_text(text.replace(old, new))


def edit_mapping(folder: Path, change: Callable[[Any], Any]) -> None:
    data = json.loads((folder / "robot.json").read_text())
    change(data)
    (folder / "robot.json").write_text(json.dumps(data))


def test_a_copy_of_a_robot_is_that_robot(folder):
    robot = load_robot(folder)
    assert (robot.name, robot.n_joints, robot.folder) == ("mine", 29, folder.resolve())
    assert load_robot(str(folder)).joint_names == robot.joint_names


@pytest.mark.parametrize("name", ["model.xml", "robot.json"])
def test_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(ReadError, match=rf"{name}: .*A robot is a folder with model.xml and robot.json"):
        load_robot(folder)


def test_broken_json(folder):
    (folder / "robot.json").write_text('{"format": 1,\n "keypoints": }')
    with pytest.raises(ReadError, match=r"is not JSON: Expecting value in line 2, column 15"):
        load_robot(folder)


def test_broken_xml(folder):
    (folder / "model.xml").write_text("<mujoco><worldbody>")
    with pytest.raises(ReadError, match=r"model\.xml: is not XML: no element found"):
        load_robot(folder)


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else []


MODEL_FAULTS = {
    "millimetres": (
        '<body name="left_knee_link" pos="-0.078273',
        '<body name="left_knee_link" pos="1000',
        r"body 'left_knee_link' is 1,000 m from the one before; expected metres, at most 10",
    ),
    "zero width": (
        KNEE,
        KNEE.replace("-0.087267 2.8798", "0.5 0.5"),
        r"joint' has the range 0.5 to 0.5",
    ),
    "reversed": (
        KNEE,
        KNEE.replace("-0.087267 2.8798", "2 -1"),
        r"joint' has the range 2 to -1; the lower limit must",
    ),
    "no limits": (KNEE, KNEE.replace('range="-0.087267 2.8798"', ""), r"'left_knee_joint' has no limits; give it a"),
    "slide": (
        KNEE,
        KNEE.replace("axis", 'type="slide" axis'),
        r"joint 'left_knee_joint' is a slide joint; only",
    ),
    "fixed base": ('<freejoint name="floating_base_joint"/>', "", r"no free joint; add <freejoint/> .* 'pelvis'"),
    "second tree": ("<worldbody>", '<worldbody><body name="box"/>', r"2 bodies in the world \(box, pelvis\)"),
    "nameless body": (' name="left_hip_yaw_link"', "", r"a body after left_hip_roll_link has no name"),
}


@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_faults_of_the_model(folder, fault):
    old, new, message = MODEL_FAULTS[fault]
    _without_keyframe(folder)  # it counts the joints
    edit_model(folder, old, new)
    with pytest.raises(ReadError, match=message):
        load_robot(folder)


def _without_keyframe(folder: Path) -> None:
    text = (folder / "model.xml").read_text()
    start, end = text.index("  <keyframe>"), text.index("</mujoco>")
    (folder / "model.xml").write_text(text[:start] + text[end:])


def test_a_joint_that_the_mapping_knows_and_the_model_lacks(folder):
    _without_keyframe(folder)
    edit_model(folder, KNEE, "")
    edit_model(folder, '<position class="motor_139" name="left_knee_joint" joint="left_knee_joint"/>', "")
    edit_mapping(folder, lambda d: d["default_pose"].update({"left_knee_joint": 0.6}))
    with pytest.raises(ReadError, match=r"default_pose: the model has no joint 'left_knee_joint'; it has: left_hip"):
        load_robot(folder)


MAPPING_FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "wrong joint": (
        lambda d: d["velocity_limit"].update({"left_kneee": 1}),
        r"velocity_limit: the model has no joint 'left_kneee'; it has: left_hip_pitch_joint, ",
    ),
    "joint without speed": (
        lambda d: d["velocity_limit"].pop("*_knee_joint"),
        r"velocity_limit has no value for left_knee_joint, right_knee_joint",
    ),
    "joint twice": (
        lambda d: d["default_pose"].update({"left_knee_joint": 0.1}),
        r"default_pose: left_knee_joint is given twice",
    ),
    "speed zero": (
        lambda d: d["velocity_limit"].update({"waist_yaw_joint": 0}),
        r"velocity_limit of joint 'waist_yaw_joint' is 0; it must be positive",
    ),
    "not a number": (
        lambda d: d["velocity_limit"].update({"waist_yaw_joint": "fast"}),
        r"velocity_limit: waist_yaw_joint is 'fast'; expected a finite number",
    ),
    "pose beyond limit": (
        lambda d: d["shared_pose"].update({"waist_roll_joint": 1.0}),
        r"shared_pose: waist_roll_joint at 1 lies outside its range -0.52 to 0.52",
    ),
    "wrong body": (
        lambda d: d["keypoints"]["left_hip"].update(body="hip"),
        r"keypoints: left_hip: the model has no body 'hip'; it has: pelvis, left_hip_pitch_link",
    ),
    "missing keypoint": (
        lambda d: d["keypoints"].pop("right_wrist"),
        r"keypoints has no 'right_wrist'; it has: pelvis",
    ),
    "unknown keypoint": (
        lambda d: d["keypoints"].update(tail={"body": "pelvis"}),
        r"keypoints: 'tail' is not one; they are pelvis, left_hip",
    ),
    "no feet": (lambda d: d.pop("soles"), r"'soles' is missing; a mapping needs velocity_limit, default_pose"),
    "one foot": (lambda d: d["soles"].pop("right"), r"soles has no 'right'; it has: left"),
    "no toe": (lambda d: d["soles"]["left"].pop("toe"), r"soles: left holds .*; it needs body, heel, toe, inner"),
    "flat point": (
        lambda d: d["soles"]["left"].update(heel=[0, 0]),
        r"soles: left: heel is \[0, 0\]; expected numbers in lists of shape \(3,\)",
    ),
    "wrong sole body": (
        lambda d: d["soles"]["right"].update(body="foot"),
        r"soles: right: the model has no body 'foot'",
    ),
    "wrong subset": (
        lambda d: d.update(subsets={"legs": {"without": ["arm"]}}),
        r"subsets: legs: the model has no joint 'arm'",
    ),
    "wrong anchor": (lambda d: d.update(anchor_body="chest"), r"anchor_body: the model has no body 'chest'"),
    "wrong key body": (lambda d: d["key_bodies"].append("tail"), r"key_bodies: the model has no body 'tail'"),
    "key body twice": (
        lambda d: d["key_bodies"].append(d["key_bodies"][0]),
        r"key_bodies names 'pelvis' twice|key_bodies names '\w+' twice",
    ),
    "point twice": (
        lambda d: d["keypoints"].update(right_hip=d["keypoints"]["left_hip"]),
        r"keypoints: right_hip and left_hip are the same point of 'left_hip_\w+'; each of them",
    ),
    "foot twice": (
        lambda d: d["soles"].update(right=d["soles"]["left"]),
        r"soles: left and right are both on 'left_ankle_roll_link'",
    ),
    "millimetres": (
        lambda d: d["soles"]["left"].update(heel=[-65.8, 0, -35.4]),
        r"soles: left: heel is 65.8 m away; expected metres, at most 10",
    ),
    "giant": (
        lambda d: d.update(default_height=17_000),
        r"default_height is 17000 m; expected more than -1 and at most 10",
    ),
    "in the ground": (lambda d: d.update(default_height=-1), r"default_height is -1 m"),
    "400 digits": (lambda d: d.update(default_height=10**400), r"holds the integer '10{39}'... \(401 characters\)"),
    "deep": (lambda d: d.update(title=nested(70)), r"is JSON of more than 64 objects or lists in each other"),
    "unknown key": (lambda d: d.update(speed=3), r"'speed' is not known; valid are velocity_limit"),
    "newer format": (lambda d: d.update(format=2), r"format is 2; this version of phuma reads format 1"),
}


@pytest.mark.parametrize("fault", MAPPING_FAULTS)
def test_faults_of_the_mapping(folder, fault):
    change, message = MAPPING_FAULTS[fault]
    edit_mapping(folder, change)
    with pytest.raises(ReadError, match=message) as caught:
        load_robot(folder)
    assert "robot.json: " in str(caught.value)


def test_a_motor_without_a_torque_limit_names_the_joint_and_the_remedy(folder):
    edit_model(folder, ' forcerange="-139 139"', "")
    with pytest.raises(ReadError, match=r"torque_limit of joint 'left_hip_roll_joint' is neither here nor in"):
        load_robot(folder)
    edit_mapping(folder, lambda d: d.update(torque_limit={"*_hip_roll_joint": 88, "*_knee_joint": 139}))
    robot = load_robot(folder)
    assert robot.torque_limit[robot.joint_index(["left_hip_roll_joint", "waist_yaw_joint"])].tolist() == [88, 88]


def test_the_mapping_overrides_the_models_motors(folder):
    edit_mapping(folder, lambda d: d.update(stiffness={"*_knee_joint": 200}, armature={"*_elbow_joint": 0.01}))
    robot, plain = load_robot(folder), load_robot("g1")
    knee, elbow, hip = robot.joint_index(["left_knee_joint", "right_elbow_joint", "left_hip_yaw_joint"])
    assert (robot.stiffness[knee], robot.armature[elbow]) == (200, 0.01)
    assert robot.stiffness[hip] == plain.stiffness[hip]


def test_without_mujoco_the_error_holds_the_install_line(monkeypatch):
    def absent(name: str):
        raise ImportError(name)

    monkeypatch.setattr("phuma.robots.model.import_module", absent)
    with pytest.raises(MissingExtraError, match=r"a robot needs mujoco.*pip install 'phuma\[retarget\]'"):
        load_robot("g1")
