"""A robot with locked joints is the free one with these at their angles: the same masses in the same places, the same
shapes that touch, under a name of its own."""

from __future__ import annotations

import shutil

import mujoco
import numpy as np
import pytest

pytest.importorskip("numba")

from phuma.errors import ConfigError
from phuma.pipelines.build_dataset import robot_identity
from phuma.robots import KEYPOINTS, Robot, cached_robot, free_robot, is_built_in, load_robot, spec_of
from phuma.robots.check import check_robot
from phuma.robots.folder import HERE
from phuma.robots.model import touching_bodies
from phuma.robots.welding import robot_model, weld
from tests.robots.posing import compiled, forward, posed, some_poses
from tests.robots.test_kinematics import ODD

LOCKS = {
    "g1-lock-wrist": ("g1", ["wrist*"], 23),
    "h1_2-lock-wrist": ("h1_2", ["wrist*"], 21),
    "g1-lock-elbow=40+left_knee=30+waist_roll": ("g1", ["*elbow*=40", "waist_roll", "left_knee_joint=30"], 25),
}


@pytest.fixture(params=LOCKS)
def robot(request) -> Robot:
    return load_robot(request.param)


def with_locked(robot: Robot, joints: np.ndarray) -> np.ndarray:
    """(N,) angles of the free robot."""
    free = free_robot(robot)
    out = np.empty(free.n_joints)
    out[free.joint_index(robot.locked)] = list(robot.locked.values())
    out[free.joint_index(robot.joint_names)] = joints
    return out


def dynamics(model, data) -> tuple[np.ndarray, np.ndarray]:
    """The matrix of inertia and the forces that gravity and velocities take."""
    mujoco.mj_forward(model, data)
    inertia = np.empty((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    return inertia, data.qfrc_bias.copy()


@pytest.mark.parametrize("name", LOCKS)
def test_a_pattern_gives_the_robot_that_its_name_gives(name):
    base, patterns, joints = LOCKS[name]
    robot = load_robot(base, patterns)
    assert (robot.name, robot.n_joints) == (name, joints)
    again = load_robot(name)
    assert again.locked == robot.locked
    np.testing.assert_array_equal(again.body_quat, robot.body_quat)
    assert cached_robot(name) is cached_robot(name)
    assert (spec_of(robot), is_built_in(name)) == (name, True)


def test_masses_bodies_and_forces_are_those_of_the_free_robot_at_the_locked_angles(robot):
    """Rows of the matrix of inertia, of gravity and of centrifugal forces too: nothing but the joints is gone."""
    model, free = robot_model(robot), compiled(free_robot(robot))
    kept = [*range(6), *(6 + free_robot(robot).joint_index(robot.joint_names))]
    assert model.nbody == free.nbody
    assert model.body_mass.sum() == pytest.approx(free.body_mass.sum())
    for joints in some_poses(robot, 5):
        data, other = posed(model, joints), posed(free, with_locked(robot, joints))
        np.testing.assert_allclose(data.xpos, other.xpos, atol=1e-12)
        np.testing.assert_allclose(data.xmat, other.xmat, atol=1e-12)
        np.testing.assert_allclose(data.geom_xpos, other.geom_xpos, atol=1e-12)
        data.qvel[:] = np.random.default_rng(0).normal(size=model.nv)
        other.qvel[kept] = data.qvel
        (inertia, bias), (inertia_free, bias_free) = dynamics(model, data), dynamics(free, other)
        np.testing.assert_allclose(inertia, inertia_free[np.ix_(kept, kept)], atol=1e-9)
        np.testing.assert_allclose(bias, bias_free[kept], atol=1e-9)


def test_the_robots_own_equation_says_the_same_as_its_model(robot):
    model = robot_model(robot)
    for joints in some_poses(robot, 5):
        pos, _ = forward(robot, joints)
        np.testing.assert_allclose(pos, posed(model, joints).xpos[1:], atol=1e-9)


@pytest.mark.parametrize("name", ["g1-lock-shoulder_roll+shoulder_yaw", "g1-lock-shoulder_pitch"])
def test_shapes_that_touch_on_the_free_robot_touch(name):
    """MuJoCo takes welded bodies for one, whose parent may not touch it: an arm could go through the trunk."""
    robot = load_robot(name)
    model, free = robot_model(robot), compiled(free_robot(robot))
    seen = set()
    for joints in some_poses(robot, 300):
        there = touching_bodies(free, with_locked(robot, joints))
        assert touching_bodies(model, joints) == there
        seen |= there
    names = {tuple(sorted(model.body(b).name for b in pair)) for pair in seen}
    assert names & {("left_shoulder_yaw_link", "torso_link"), ("left_shoulder_roll_link", "torso_link")}


@pytest.mark.parametrize("locked", [{"j1": 0.4}, {"j2": -0.7}, {"j3": 0.5}, {"j1": 0.3, "j2": 0.6}])
def test_hinges_that_share_a_body_and_miss_its_origin_are_welded_too(locked):
    """Also where a frame and Euler angles place the body."""
    text = ODD.replace('<body name="a"', '<frame pos="0.1 0 0.2" euler="0 0 50"><body name="a"')
    text = text.replace("</body></body>\n  <body name=", "</body></body></frame>\n  <body name=")
    for k, axis in enumerate(('axis="1 0 0"', 'axis="0 0.6 0.8"', 'axis="0 0 1"'), 1):
        text = text.replace(f"<joint {axis}", f'<joint name="j{k}" {axis}')
    free, spec = mujoco.MjModel.from_xml_string(text), mujoco.MjSpec.from_string(text)
    weld(spec, locked)
    model = spec.compile()
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = {f"j{k}": rng.normal() for k in (1, 2, 3)} | locked
        data = posed(model, [a for name, a in angles.items() if name not in locked])
        np.testing.assert_allclose(data.xpos, posed(free, list(angles.values())).xpos, atol=1e-12)
        np.testing.assert_allclose(data.xmat, posed(free, list(angles.values())).xmat, atol=1e-12)


def test_a_name_follows_from_the_joints_however_they_were_asked_for(g1):
    wrists = [n for n in g1.joint_names if "wrist" in n]
    asked = (["wrist"], ["*wrist*"], wrists, ["left_wrist*", "right_wrist*"], ["wrist*=0"])
    assert {load_robot("g1", patterns).name for patterns in asked} == {"g1-lock-wrist"}
    assert load_robot("g1-lock-wrist", ["waist_pitch*"]).name == "g1-lock-waist_pitch+wrist"
    assert load_robot("g1", ["wrist_yaw*=10"]).name == "g1-lock-wrist_yaw=10"


def test_identities_differ_by_what_is_locked(g1):
    names = ("g1", "g1-lock-wrist", "g1-lock-wrist_yaw", "g1-lock-wrist_yaw=10")
    assert len({robot_identity(load_robot(name)) for name in names}) == len(names)
    free = load_robot("g1", lock=[])
    assert (free.name, dict(free.locked), robot_identity(free)) == ("g1", {}, robot_identity(g1))


def test_a_folders_robot_is_locked_and_loaded_by_its_folder(tmp_path):
    shutil.copytree(HERE / "h1_2", tmp_path / "mine")
    robot = load_robot(tmp_path / "mine", ["wrist*", "torso"])
    assert robot.name == "mine-lock-torso+wrist"
    assert load_robot(spec_of(robot)).locked == robot.locked
    assert not is_built_in(robot.name)


@pytest.mark.parametrize(
    ("patterns", "problem"),
    [
        (["wirst*"], r"--lock wirst\*: g1 has no such joint; did you mean 'wrist\*'\? It has: left_hip_pitch_joint"),
        (["tail"], "--lock tail: g1 has no such joint. It has: left_hip_pitch_joint"),
        (["*"], "all 29 joints of g1 would be locked; leave one free"),
        (["elbow*=130"], r"left_elbow_joint moves between -60\.0 and 120\.0 degrees"),
        (["elbow*=up"], "'up' is no angle in degrees, as in 'elbow"),
        (["wrist", "wrist_yaw=10"], "left_wrist_yaw_joint is locked at another angle, too"),
    ],
)
def test_what_cannot_be_locked_is_told_with_what_can(patterns, problem):
    with pytest.raises(ConfigError, match=problem):
        load_robot("g1", patterns)


@pytest.mark.parametrize("name", ["g1-lock-tail", "g1-lock-", "g1-lock-wrist*", "/tmp-lock-wrist", "g1-lock-../x"])
def test_a_name_in_a_file_that_is_no_robots_is_not_built_in(name):
    assert not is_built_in(name)


def test_a_locked_robot_stands_and_has_its_keypoints(robot):
    """Soles are where they were, and the root is as high as legs that are locked bent have it."""
    wrong = [finding.what for finding in check_robot(robot) if finding.wrong]
    assert not [what for what in wrong if "height" in what or "hip" in what]
    assert len(robot.keypoint_body) == len(KEYPOINTS)
