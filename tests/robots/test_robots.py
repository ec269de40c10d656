"""The built-in robots: the same machine as Unitree's files describe, and the laws that any robot must keep."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from phuma import rotations as rot
from phuma.errors import ConfigError
from phuma.robots import KEYPOINTS, Robot, built_in_robots, load_robot
from phuma.skeleton import JOINTS
from tests.robots.originals import original

mujoco = pytest.importorskip("mujoco")
NAMES = ("g1", "h1_2")
MIRROR = np.array([1.0, -1.0, 1.0])


@pytest.fixture(params=NAMES)
def robot(request) -> Robot:
    return load_robot(request.param)


def compiled(robot: Robot):
    return mujoco.MjModel.from_xml_path(str(robot.model_file))


def posed(model, joints, height: float = 0.0):
    """The model's data at these joint angles, its root level at the given height."""
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[3:7], data.qpos[7:] = (0, 0, height), rot.IDENTITY, joints
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return data


def forward(robot: Robot, joints) -> tuple[np.ndarray, np.ndarray]:
    """Body positions (B, 3) and rotations (B, 4) wxyz with the root at the origin, by the equation of `Robot`."""
    pos, quat = np.zeros((robot.n_bodies, 3)), np.tile(rot.IDENTITY, (robot.n_bodies, 1))
    for b in range(robot.n_bodies):
        if (a := robot.parents[b]) >= 0:
            pos[b] = pos[a] + rot.rotate(quat[a], robot.body_pos[b])
            quat[b] = rot.multiply(quat[a], robot.body_quat[b])
        for j in np.flatnonzero(robot.joint_body == b):
            turn = rot.from_rotvec(joints[j] * robot.joint_axis[j])
            anchor = robot.joint_anchor[j]
            pos[b] += rot.rotate(quat[b], anchor - rot.rotate(turn, anchor))
            quat[b] = rot.multiply(quat[b], turn)
    return pos, quat


def points(robot: Robot, joints, body, offset) -> np.ndarray:
    pos, quat = forward(robot, joints)
    return pos[body] + rot.rotate(quat[body], offset)


def other(name: str) -> str:
    return name.replace("left", "#").replace("right", "left").replace("#", "right")


def swap(names: tuple[str, ...]) -> list[int]:
    return [names.index(other(n)) for n in names]


def some_poses(robot: Robot, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(robot.lower, robot.upper, (count, robot.n_joints))


# The same machine as the original


@pytest.mark.parametrize("name", NAMES)
def test_kinematics_are_the_originals(name):
    source = original(name)
    robot, theirs = load_robot(name), mujoco.MjModel.from_xml_path(str(source.mjcf))
    ours = compiled(robot)
    for joints in some_poses(robot, 200):
        a, b = posed(ours, joints), posed(theirs, joints)
        ids = [theirs.body(n).id for n in robot.body_names]
        np.testing.assert_allclose(a.xpos[1:], b.xpos[ids], atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(a.xquat[1:] * b.xquat[ids], axis=1)), 1, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_masses_and_inertias_are_the_originals(name):
    theirs = mujoco.MjModel.from_xml_path(str(original(name).mjcf))
    robot = load_robot(name)
    ours = compiled(robot)
    assert ours.body_mass.sum() == pytest.approx(theirs.body_mass.sum(), rel=1e-9)
    for joints in some_poses(robot, 20):
        a, b = (_mass_matrix(m, joints) for m in (ours, theirs))
        # Relative to what the two coordinates would have each alone: a coupling near zero has no relative error.
        scale = np.sqrt(np.outer(np.diag(b), np.diag(b)))
        assert np.diag(b).min() > 0
        assert (np.abs(a - b) / scale).max() < 1e-3


def _mass_matrix(model, joints) -> np.ndarray:
    data = posed(model, joints)
    mujoco.mj_crb(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full - np.diag(model.dof_armature)


@pytest.mark.parametrize("name", NAMES)
def test_joint_order_and_limits_are_the_originals(name):
    source, robot = original(name), load_robot(name)
    theirs = mujoco.MjModel.from_xml_path(str(source.mjcf))
    limits = source.urdf_limits()
    assert robot.joint_names == tuple(theirs.joint(j).name for j in range(1, theirs.njnt))
    assert sorted(robot.joint_names) == sorted(limits)
    for key, ours in (
        ("lower", robot.lower),
        ("upper", robot.upper),
        ("effort", robot.torque_limit),
        ("velocity", robot.velocity_limit),
    ):
        np.testing.assert_allclose(ours, [limits[n][key] for n in robot.joint_names], atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", NAMES)
def test_soles_are_the_extents_of_the_feet(name):
    source, robot = original(name), load_robot(name)
    for s, side in enumerate(("left", "right")):
        foot = source.mesh(f"{side}_ankle_roll_link")
        sole = robot.sole_corners[s]
        np.testing.assert_allclose(sole.min(axis=0), foot.min(axis=0), atol=2e-3)
        np.testing.assert_allclose(sole.max(axis=0)[:2], foot.max(axis=0)[:2], atol=2e-3)


# Laws


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
        (data.geom_xpos[g] - _half_extent(model, data, g))[2] for g in range(model.ngeom) if model.geom_bodyid[g]
    )
    soles = points(robot, level(robot), robot.sole_body, robot.sole_point)[:, 2]
    assert lowest == pytest.approx(soles.min(), abs=2e-4)


def _half_extent(model, data, geom: int) -> np.ndarray:
    """(3,) of a geom in the world, exact for the shapes used here."""
    turn, size = data.geom_xmat[geom].reshape(3, 3), model.geom_size[geom]
    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.full(3, size[0])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return size[0] + np.abs(turn[:, 2]) * size[1]
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return size[0] * np.sqrt(np.maximum(0, 1 - turn[:, 2] ** 2)) + np.abs(turn[:, 2]) * size[1]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.sqrt((turn**2) @ size**2)
    assert kind == mujoco.mjtGeom.mjGEOM_BOX
    return np.abs(turn) @ size


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


@pytest.mark.parametrize("name", NAMES)
def test_shapes_lie_within_the_links(name):
    """No shape reaches more than a centimetre beyond the box around the link's real shape."""
    source, robot = original(name), load_robot(name)
    model = compiled(robot)
    data = posed(model, np.zeros(robot.n_joints))
    for body, parts in ((b, source.meshes_of(b)) for b in robot.body_names):
        geoms = np.flatnonzero(model.geom_bodyid == model.body(body).id)
        shape = np.concatenate(parts)
        place, turn = data.body(body).xpos, data.body(body).xmat.reshape(3, 3)
        for g in geoms:
            middle, half = data.geom_xpos[g], _half_extent(model, data, g)
            real = place + shape @ turn.T
            assert (middle - half > real.min(axis=0) - 0.01).all(), (body, g)
            assert (middle + half < real.max(axis=0) + 0.01).all(), (body, g)


def test_shared_pose_is_a_t_pose(robot):
    place = dict(zip(KEYPOINTS, points(robot, robot.shared_pose, robot.keypoint_body, robot.keypoint_offset)))
    for side, y in (("left", 1.0), ("right", -1.0)):
        for chain, way in ((("shoulder", "elbow", "wrist"), (0, y, 0)), (("hip", "knee", "ankle"), (0, 0, -1))):
            for a, b in pairwise(chain):
                link = place[f"{side}_{b}"] - place[f"{side}_{a}"]
                assert np.degrees(np.arccos(link @ way / np.linalg.norm(link))) < 10 - 7 * (chain[0] == "hip")
    _, quat = forward(robot, robot.shared_pose)
    (left,) = robot.body_index(["left_wrist_yaw_link"])
    # The hand's own y axis points out of the back of the left hand: palms down.
    assert rot.rotate(quat[left], np.array([0, 1.0, 0]))[2] > np.cos(np.radians(10))


def test_keypoints_are_human_joints_on_the_robot(robot):
    assert set(KEYPOINTS) <= set(JOINTS)
    place = dict(zip(KEYPOINTS, points(robot, robot.default_pose, robot.keypoint_body, robot.keypoint_offset)))
    assert place["left_shoulder"][2] > place["pelvis"][2] > place["left_hip"][2] > place["left_knee"][2]
    assert place["left_hip"][1] > 0 > place["right_hip"][1]
    assert len(robot.key_bodies) == 14


def test_visual_shapes_do_not_collide_and_collision_shapes_are_hidden(robot):
    model = compiled(robot)
    group, on = np.array(model.geom_group), np.array(model.geom_contype) > 0
    assert set(group) == {2, 3}
    np.testing.assert_array_equal(group == 3, on)


def test_the_model_has_no_floor(robot):
    assert not (compiled(robot).geom_bodyid == 0).any()


def test_an_unknown_robot_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"no robot 'atlas'; built in are g1, h1_2, or give a folder"):
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
