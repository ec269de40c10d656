"""Legs that hang beside the axes of their hips, ankles that cannot roll, and joints that are slow."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core.foot_contacts import feet_in_contact
from phuma.core.robot_motion import RobotMotion
from phuma.curation import curate
from phuma.retargeting import retarget_motion
from phuma.retargeting.ankles import stiff_ankles
from phuma.retargeting.measure import foot_roll, places
from phuma.robots import Robot, load_robot
from phuma.robots.check import stand
from phuma.robots.onboarding import OnboardedRobot, onboard_robot
from phuma.synth import generate
from tests.robots.posing import NAMES, forward, some_poses
from tests.robots.sample_robots import BESIDE, MODELS, SAMPLE_ROBOTS, SIDES

pytestmark = pytest.mark.slow

OUTSET = (MODELS / "outset.xml").read_text()
ROLL = "stance_roll_deg"


@pytest.fixture
def onboarded(tmp_path) -> Callable[[str], OnboardedRobot]:
    """A robot from the text of its model."""

    def made(text: str) -> OnboardedRobot:
        path = tmp_path / f"file.{'urdf' if '<robot' in text else 'xml'}"
        path.write_text(text)
        return onboard_robot(path, tmp_path / "out")

    return made


def hung(left: float, right: float) -> str:
    """The model with its legs so far [m] outside the axes of their hips."""
    text = OUTSET
    for side, sign, out in (("left", "", left), ("right", "-", right)):
        place = f'<body name="{side}_thigh" pos="0 {sign}.115 0">'
        assert place in text
        text = text.replace(place, place.replace(".115", f"{out:g}"))
    return text


def off_the_leg(robot: Robot, pose: np.ndarray, side: str) -> float:
    """How far [m] hip, knee and ankle are from the line from the thigh's own origin to the foot's, knee straight."""
    pos, _ = forward(robot, pose)
    start, end = (pos[robot.body_names.index(f"{side}_{part}")] for part in ("thigh", "foot"))
    way = (end - start) / np.linalg.norm(end - start)
    points = np.array([stand(robot, pose).keypoints[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]) - start
    return float(np.linalg.norm(points - (points @ way)[:, None] * way, axis=1).max())


def straight_legs(robot: Robot, count: int) -> np.ndarray:
    poses = some_poses(robot, count)
    poses[:, robot.joint_index([f"{side}_knee" for side in SIDES])] = 0
    return poses


@pytest.mark.parametrize("out", [0, 0.005, 0.02, 0.115])
def test_hips_knees_and_ankles_lie_on_the_legs_line_in_every_pose(onboarded, out):
    made = onboarded(hung(out, out))
    for pose in straight_legs(made.robot, 10):
        for side in SIDES:
            assert off_the_leg(made.robot, pose, side) < 0.01
    told = [a.what for a in made.ambiguities if BESIDE in a.what]
    assert len(told) == (2 if out > 0.01 else 0)
    assert all(f"{100 * out:.1f} cm" in what for what in told)


def test_a_hip_that_pitches_before_it_rolls_carries_its_keypoint_on_the_thigh(onboarded):
    text = OUTSET
    for side in SIDES:
        pitch = f'<joint name="{side}_hip_pitch" axis="0 1 0" range="-1.8 1.2"/>'
        roll = f'<joint name="{side}_hip_roll"'
        assert pitch in text
        assert roll in text
        text = text.replace(pitch, "").replace(roll, pitch + roll)
    robot = onboarded(text).robot
    for pose in straight_legs(robot, 10):
        for side in SIDES:
            assert off_the_leg(robot, pose, side) < 0.01


def test_a_mirrored_robot_has_mirrored_keypoints(onboarded, tmp_path):
    """Legs that differ, and the same robot in a mirror: left is right."""
    (tmp_path / "mirrored.xml").write_text(hung(0.095, 0.115))
    one = onboarded(hung(0.115, 0.095)).robot
    other = onboard_robot(tmp_path / "mirrored.xml", tmp_path / "mirrored").robot
    a, b = (stand(r, r.shared_pose).keypoints for r in (one, other))
    assert a["left_hip"][1] - abs(a["right_hip"][1]) == pytest.approx(0.02, abs=1e-4)
    for name, point in a.items():
        image = name.replace("left", "#").replace("right", "left").replace("#", "right")
        np.testing.assert_allclose(point * [1, -1, 1], b[image], atol=2e-4)


def test_where_along_its_axis_a_joint_is_anchored_does_not_matter(onboarded, tmp_path):
    """A hinge turns about a line: its anchor may be at a motor beside the leg."""
    moved, count = re.subn(r'(<joint name="\w+_(?:hip_pitch|knee|ankle)" )', r'\1pos="0 .06 0" ', OUTSET)
    assert count == 6
    plain, found = onboard_robot(MODELS / "outset.xml", tmp_path / "plain").robot, onboarded(moved).robot
    a, b = (stand(r, r.shared_pose).keypoints for r in (plain, found))
    np.testing.assert_allclose(list(a.values()), list(b.values()), atol=1e-3)


def walked(robot: Robot, kind: str, seed: int = 1) -> RobotMotion:
    person = curate(generate(kind, seed=seed).motion)
    return retarget_motion(person.motion, person.contact, robot)


@pytest.mark.parametrize(("name", "stiff"), [("outset", 1), ("numbered", 1), ("loops", 0), ("classic", 0)])
def test_ankles_that_cannot_roll_are_known(tmp_path, name, stiff):
    robot = onboard_robot(SAMPLE_ROBOTS[name].path, tmp_path / name).robot
    assert stiff_ankles(robot).tolist() == [stiff, stiff]


@pytest.mark.parametrize("name", NAMES)
def test_ankles_of_the_built_in_robots_roll(name):
    assert stiff_ankles(load_robot(name)).tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["walk", "squat", "kick", "turn"])
@pytest.mark.parametrize("name", ["outset", "numbered"])
def test_without_an_ankle_roll_standing_soles_are_level_all_the_same(tmp_path, name, kind):
    robot = onboard_robot(SAMPLE_ROBOTS[name].path, tmp_path / name).robot
    motion = walked(robot, kind)
    lean = np.abs(foot_roll(places(motion, robot)))[feet_in_contact(motion.contact)]
    assert lean.max() < 1.1
    assert motion.report["metrics"]["fidelity"] > 85
    assert not any(ROLL in flag for flag in motion.report["flags"])


def test_soles_that_no_joint_can_level_are_flagged(onboarded):
    """Hips that stay rolled outwards by more than five degrees and do not yaw, on ankles that do not roll."""
    text, yaws = re.subn(r'(axis="0 0 1") range="-.[56] .[56]"', r'\1 range="-.01 .01"', OUTSET)
    text, left = re.subn(r'(axis="1 0 0") range="-.4 .5"', r'\1 range=".1 .5"', text)
    text, right = re.subn(r'(axis="1 0 0") range="-.5 .4"', r'\1 range="-.5 -.1"', text)
    assert (yaws, left, right) == (2, 1, 1)
    made = onboarded(text)
    motion = walked(made.robot, "squat")
    assert motion.report["metrics"][ROLL] > 2
    assert motion.report["metrics"]["fidelity"] > 95, "it follows the human all the same"
    assert any(flag.startswith(f"{ROLL}: ") for flag in motion.report["flags"])
    assert any("sole leans by" in a.what for a in made.ambiguities)


@pytest.mark.parametrize(("kind", "speed", "beyond"), [("squat", 2.5, False), ("walk", 1.0, True)])
def test_slow_joints_are_kept_or_told(onboarded, kind, speed, beyond):
    """A squat keeps the speed of slow joints, and a walk says that it does not."""
    text = re.sub(r'velocity="[\d.]+"', f'velocity="{speed}"', (MODELS / "bare.urdf").read_text())
    robot = onboarded(text).robot
    assert set(robot.velocity_limit) == {speed}
    motion = walked(robot, kind)
    fastest = np.abs(np.diff(motion.joint_pos, axis=0)).max() * motion.fps
    feasible = motion.report["metrics"]["feasibility"]
    told = any(flag.startswith("feasibility: ") for flag in motion.report["flags"])
    assert told == (feasible < 100) == (fastest > 0.98 * speed) == beyond


def test_a_robot_inside_itself_is_told(tmp_path):
    robot = onboard_robot(SAMPLE_ROBOTS["numbered"].path, tmp_path / "numbered").robot
    for kind, inside in (("run", True), ("squat", False)):
        motion = walked(robot, kind)
        assert (motion.report["metrics"]["self_penetration"] > 0) == inside
        assert any(flag.startswith("self_penetration: ") for flag in motion.report["flags"]) == inside
