"""Laws that the built-in robots keep."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core import rotations as rot
from phuma.core.skeleton import JOINTS
from phuma.errors import ConfigError
from phuma.robots import KEYPOINTS, Robot, built_in_robots, load_robot
from tests.robots.posing import NAMES, compiled, forward, half_extent, other, points, posed, some_poses, swap

MIRROR = np.array([1.0, -1.0, 1.0])


@pytest.fixture(params=NAMES)
def robot(request) -> Robot:
    return load_robot(request.param)


def test_built_in_robots_are_these_two():
    assert built_in_robots() == NAMES
    assert [load_robot(n).n_joints for n in NAMES] == [29, 27]
    assert len(load_robot("h1_2").subset_index("21")) == 21


def test_arrays_describe_the_model(robot):
    model = compiled(robot)
    for joints in some_poses(robot, 20, seed=1):
        pos, quat = forward(robot, joints)
        data = posed(model, joints)
        np.testing.assert_allclose(pos, data.xpos[1:], atol=1e-9)
        np.testing.assert_allclose(np.abs(np.sum(quat * data.xquat[1:], axis=1)), 1, atol=1e-9)


def test_keyframe_and_motors_agree_with_the_mapping(robot):
    model = compiled(robot)
    np.testing.assert_allclose(model.key("default").qpos[7:], robot.default_pose)
    assert model.key("default").qpos[2] == robot.default_height
    assert [model.actuator(i).name for i in range(model.nu)] == list(robot.joint_names)
    omega = 2 * np.pi * 10
    np.testing.assert_allclose(robot.stiffness, robot.armature * omega**2, rtol=1e-4)
    np.testing.assert_allclose(robot.damping, 4 * robot.armature * omega, rtol=1e-4)


@pytest.mark.parametrize("pose", ["default_pose", "shared_pose"])
def test_poses_are_free_of_self_collision(robot, pose):
    model = compiled(robot)
    data = posed(model, getattr(robot, pose))
    touching = [tuple(model.geom(g).name for g in c.geom) for c in data.contact]
    assert touching == []


def test_neighbours_do_not_touch_near_the_default_pose(robot):
    """Small motions bring together only what may really meet: hands with thighs, feet, knees, arms with the trunk."""
    model, rng = compiled(robot), np.random.default_rng(0)
    met: set[tuple[str, str]] = set()
    for _ in range(400):
        noise = 0.1 * rng.standard_normal(robot.n_joints)
        data = posed(model, np.clip(robot.default_pose + noise, robot.lower, robot.upper))
        met |= {tuple(model.body(model.geom_bodyid[g]).name for g in c.geom) for c in data.contact}
    for a, b in met:
        up = {n: robot.body_names[robot.parents[robot.body_names.index(n)]] for n in (a, b)}
        assert up[a] != b
        assert up[b] != a
        assert up.get(up[a]) != b
        assert up[a] != up[b] or {a, b} == {"left_hip_pitch_link", "right_hip_pitch_link"}


def test_collision_feet_stand_on_the_sole(robot):
    model = compiled(robot)
    for s, body in enumerate(robot.sole_body[::2]):
        boxes = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body + 1 and int(model.geom_contype[g]) > 0]
        assert len(boxes) == 1
        lowest = model.geom_pos[boxes[0]] - model.geom_size[boxes[0]]
        highest = model.geom_pos[boxes[0]] + model.geom_size[boxes[0]]
        np.testing.assert_allclose(lowest, robot.sole_corners[s].min(axis=0), atol=1e-4)
        np.testing.assert_allclose(highest[:2], robot.sole_corners[s].max(axis=0)[:2], atol=1e-4)


def test_nothing_of_the_robot_lies_below_its_soles(robot):
    model = compiled(robot)
    data = posed(model, level(robot))
    lowest = min(
        (data.geom_xpos[g] - half_extent(model, data, g))[2] for g in range(model.ngeom) if model.geom_bodyid[g]
    )
    soles = points(robot, level(robot), robot.sole_body, robot.sole_point)[:, 2]
    assert lowest == pytest.approx(soles.min(), abs=2e-4)


def level(robot: Robot) -> np.ndarray:
    """The default pose with the ankles set so that the soles are level."""
    pose = robot.default_pose.copy()
    for side in ("left", "right"):
        hip, knee, ankle = robot.joint_index([f"{side}_{j}_joint" for j in ("hip_pitch", "knee", "ankle_pitch")])
        pose[ankle] = -pose[hip] - pose[knee]
    return pose


def test_soles_lie_on_one_plane_when_ankles_are_level(robot):
    feet = robot.sole_body[::2]
    corners = [points(robot, level(robot), np.full(4, b), c) for b, c in zip(feet, robot.sole_corners)]
    sides = [points(robot, level(robot), np.full(2, b), c) for b, c in zip(feet, robot.sole_side)]
    heights = np.concatenate([*corners, *sides, points(robot, level(robot), robot.sole_body, robot.sole_point)])[:, 2]
    assert np.ptp(heights) < 1e-4
    standing = points(robot, robot.default_pose, robot.sole_body, robot.sole_point)[:, 2]
    assert robot.default_height == pytest.approx(-standing.min(), abs=1e-4)


def test_left_and_right_mirror_each_other(robot):
    joints, bodies = swap(robot.joint_names), swap(robot.body_names)
    # A hinge's sense in a mirror: its axis is a rotation's, so pitch stays and roll and yaw turn round.
    sense = np.sum(robot.joint_axis[joints] * -MIRROR * robot.joint_axis, axis=1)
    np.testing.assert_allclose(np.abs(sense), 1)
    lower, upper = sense * robot.lower[joints], sense * robot.upper[joints]
    np.testing.assert_allclose(np.minimum(lower, upper), robot.lower)
    np.testing.assert_allclose(np.maximum(lower, upper), robot.upper)
    for value in (robot.velocity_limit, robot.torque_limit, robot.armature, robot.stiffness):
        np.testing.assert_allclose(value[joints], value)
    for pose in (robot.default_pose, robot.shared_pose):
        np.testing.assert_allclose(sense * pose[joints], pose)
    keys = swap(KEYPOINTS)
    for pose in some_poses(robot, 20):
        there = sense * pose[joints]
        # 2e-5 m: Unitree's own G1 has the right shoulder 1e-5 m nearer to the middle than the left one.
        a, b = forward(robot, pose)[0], forward(robot, there)[0]
        np.testing.assert_allclose(a[bodies] * MIRROR, b, atol=3e-5)
        a, b = (points(robot, p, robot.keypoint_body, robot.keypoint_offset) for p in (pose, there))
        np.testing.assert_allclose(a[keys] * MIRROR, b, atol=3e-5)
        a, b = (points(robot, p, robot.sole_body, robot.sole_point) for p in (pose, there))
        np.testing.assert_allclose(a[[2, 3, 0, 1]] * MIRROR, b, atol=3e-5)
    np.testing.assert_allclose(robot.sole_side[0] * MIRROR, robot.sole_side[1])
    np.testing.assert_allclose(robot.sole_corners[0] * MIRROR, robot.sole_corners[1])


def test_shapes_mirror_each_other(robot):
    model = compiled(robot)
    for body in (n for n in robot.body_names if n.startswith("left")):
        left, right = (np.flatnonzero(model.geom_bodyid == model.body(n).id) for n in (body, other(body)))
        np.testing.assert_array_equal(model.geom_type[left], model.geom_type[right])
        np.testing.assert_allclose(model.geom_size[left], model.geom_size[right], atol=1e-6)
        np.testing.assert_allclose(model.geom_pos[left] * MIRROR, model.geom_pos[right], atol=1e-6)


def test_shared_pose_is_a_t_pose(robot):
    keypoint = dict(zip(KEYPOINTS, points(robot, robot.shared_pose, robot.keypoint_body, robot.keypoint_offset)))
    for side, y in (("left", 1.0), ("right", -1.0)):
        for chain, way in ((("shoulder", "elbow", "wrist"), (0, y, 0)), (("hip", "knee", "ankle"), (0, 0, -1))):
            for a, b in pairwise(chain):
                link = keypoint[f"{side}_{b}"] - keypoint[f"{side}_{a}"]
                assert np.degrees(np.arccos(link @ way / np.linalg.norm(link))) < 10 - 7 * (chain[0] == "hip")
    _, quat = forward(robot, robot.shared_pose)
    (left,) = robot.body_index(["left_wrist_yaw_link"])
    # The hand's own y axis points out of the back of the left hand: palms down.
    assert rot.rotate(quat[left], np.array([0, 1.0, 0]))[2] > np.cos(np.radians(10))


def test_keypoints_are_human_joints_on_the_robot(robot):
    assert set(KEYPOINTS) <= set(JOINTS)
    keypoint = dict(zip(KEYPOINTS, points(robot, robot.default_pose, robot.keypoint_body, robot.keypoint_offset)))
    assert keypoint["left_shoulder"][2] > keypoint["pelvis"][2] > keypoint["left_hip"][2] > keypoint["left_knee"][2]
    assert keypoint["left_hip"][1] > 0 > keypoint["right_hip"][1]
    assert len(robot.key_bodies) == 14


def test_visual_shapes_do_not_collide_and_collision_shapes_are_hidden(robot):
    model = compiled(robot)
    group, on = np.array(model.geom_group), np.array(model.geom_contype) > 0
    assert set(group) == {2, 3}
    np.testing.assert_array_equal(group == 3, on)


def test_the_model_has_no_floor(robot):
    assert not (compiled(robot).geom_bodyid == 0).any()


def test_an_unknown_robot_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown robot 'atlas'; there are: g1, h1_2, or give a folder"):
        load_robot("atlas")


def test_an_unknown_joint_lists_the_valid_ones(robot):
    with pytest.raises(ConfigError, match=rf"robot {robot.name} has no joint 'tail'; it has: left_hip"):
        robot.joint_index(["tail"])
    with pytest.raises(ConfigError, match=r"no subset of joints 'feet'; it has: 2"):
        robot.subset_index("feet")


def test_arrays_are_read_only(robot):
    with pytest.raises(ValueError, match="read-only"):
        robot.lower[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        robot.parents[0] = 0
