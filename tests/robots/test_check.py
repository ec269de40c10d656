"""`phuma robot check` finds what somebody may have spoilt, and says what to edit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")

from phuma.robots import load_robot
from phuma.robots.check import check_robot
from tests.robots.posing import NAMES


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(load_robot("g1").folder, tmp_path / "mine"))


def edit(folder: Path, change: Callable[[Any], Any]) -> None:
    data = json.loads((folder / "robot.json").read_text())
    change(data)
    (folder / "robot.json").write_text(json.dumps(data))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_the_built_in_robots(name):
    assert check_robot(load_robot(name)) == []


def _swap(table: dict[str, Any], a: str, b: str) -> None:
    table[a], table[b] = table[b], table[a]


def _swap_sides(d: dict[str, Any]) -> None:
    for part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist"):
        _swap(d["keypoints"], f"left_{part}", f"right_{part}")
    _swap(d["soles"], "left", "right")


def _lower_arm(d: dict[str, Any]) -> None:
    d["shared_pose"]["left_shoulder_roll_joint"] = 0.2


SPOILT: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "sides swapped": (_swap_sides, "left hip is to the right of the right one", "swap left and right"),
    "heel and toe swapped": (
        lambda d: _swap(d["soles"]["left"], "heel", "toe"),
        "left toe is behind its heel",
        "swap heel and toe in soles: left",
    ),
    "height": (lambda d: d.update(default_height=0.9), "default_height is 0.9000 m", "set default_height to 0.75"),
    "knee and ankle swapped": (
        lambda d: _swap(d["keypoints"], "left_knee", "left_ankle"),
        "left_knee is",
        "correct keypoints: left_knee or left_ankle",
    ),
    "arm down": (_lower_arm, "misses straight out to the side by", "edit shared_pose for the joints of the left arm"),
    "one side only": (
        lambda d: d["keypoints"]["left_elbow"].update(offset=[0, 0.08, 0]),
        "left_elbow and right_elbow miss being mirror images by 8.0 cm",
        "compare the two sides",
    ),
    "ankle bent": (
        lambda d: d["shared_pose"].update({"*_ankle_pitch_joint": 0.3}),
        "In shared_pose the left sole leans by 17.2 degrees",
        "edit shared_pose for the ankle",
    ),
    "one foot up": (
        lambda d: d["default_pose"].update(
            {"left_knee_joint": 1.5, "right_knee_joint": 0.669} if d["default_pose"].pop("*_knee_joint") else {}
        ),
        "In default_pose the left sole is +",
        "both feet stand on one ground",
    ),
    "pelvis on the torso": (
        lambda d: d["keypoints"].update(pelvis={"body": "torso_link"}),
        "pelvis is on 'torso_link', not on the root 'pelvis'",
        "put it on 'pelvis' with an offset",
    ),
    "pelvis beside the hips": (
        lambda d: d["keypoints"].update(pelvis={"body": "pelvis", "offset": [0, 0.03, 0]}),
        "the pelvis is 3.0 cm beside the middle of the hips",
        "correct keypoints: pelvis",
    ),
    "elbow bends back": (
        lambda d: d["shared_pose"].update(
            {"left_shoulder_yaw_joint": 2.5, "left_elbow_joint": 1.429, "right_elbow_joint": 1.429}
            if d["shared_pose"].pop("*_elbow_joint")
            else {}
        ),
        "left elbow bends the wrong way",
        "edit shared_pose so that the left elbow would bend ahead",
    ),
    "speeds": (
        lambda d: d["velocity_limit"].update(
            {"left_knee_joint": 20, "right_knee_joint": 10} if d["velocity_limit"].pop("*_knee_joint") else {}
        ),
        "left_knee_joint and right_knee_joint have different velocity_limits",
        "compare them in robot.json: velocity_limit",
    ),
    "arms in the trunk": (
        lambda d: d["default_pose"].update({"left_shoulder_roll_joint": -0.5}),
        "In default_pose the shapes of left_",
        "add <exclude",
    ),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_spoilt_mapping_is_found_with_what_to_edit(folder, fault):
    change, what, remedy = SPOILT[fault]
    edit(folder, change)
    found = check_robot(load_robot(folder))
    hits = [f for f in found if what in f.what]
    assert hits, [f.what for f in found]
    assert remedy in hits[0].edit


def test_a_knee_with_its_range_turned_round_is_found(folder):
    model = (folder / "model.xml").read_text()
    model = model[: model.index("  <keyframe>")] + "</mujoco>"
    (folder / "model.xml").write_text(model.replace('range="-0.087267 2.8798"', 'range="-2.8798 0.087267"'))
    edit(folder, lambda d: d["default_pose"].update({"*_knee_joint": -0.1}))
    found = [f for f in check_robot(load_robot(folder)) if "knee bends the wrong way" in f.what]
    assert len(found) == 2
    assert all(f.wrong for f in found)


def test_ranges_of_different_width_are_found(folder):
    model = (folder / "model.xml").read_text()
    old = 'name="left_hip_yaw_joint" axis="0 0 1" range="-2.7576 2.7576"'
    assert old in model
    (folder / "model.xml").write_text(model.replace(old, old.replace("2.7576", "1.5")))
    found = [f.what for f in check_robot(load_robot(folder))]
    assert found == ["left_hip_yaw_joint and right_hip_yaw_joint have ranges of different width."]
