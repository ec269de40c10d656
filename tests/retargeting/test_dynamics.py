"""Laws of inverse dynamics and of self-collision: cases that one can compute in the head."""

import mujoco
import numpy as np
import pytest

from phuma import rotations as rot
from phuma.motion import Provenance
from phuma.retargeting.collision_check import self_penetration
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import measure
from phuma.robot_motion import RobotMotion
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import _ground_columns, free_model

FPS, FRAMES = 30.0, 12


@pytest.fixture(scope="module", params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


def still(robot, height=None, frames=FRAMES):
    """The default pose, not moving: root_pos (T, 3), root_quat (T, 4) wxyz, joint_pos (T, N)."""
    root = np.tile([0.3, -0.2, robot.default_height if height is None else height], (frames, 1))
    return root, np.tile([1.0, 0, 0, 0], (frames, 1)), np.tile(robot.default_pose, (frames, 1))


def waving(robot, frames=FRAMES):
    """High above the ground, all joints in motion."""
    root, quat, joints = still(robot, 3.0, frames)
    phase = np.arange(robot.n_joints)
    return root, quat, joints + 0.1 * np.sin(0.25 * np.arange(frames)[:, None] + phase)


def test_standing_still_the_ground_bears_the_weight_and_nothing_is_left(robot):
    report = dynamics_report(robot, *still(robot), FPS)
    assert report.contact.all()
    assert report.ground_force == pytest.approx(1.0, abs=1e-3)
    assert report.residual_contact < 1e-3
    assert report.residual_moment < 1e-3
    assert 0.01 < report.peak_torque < 0.5
    assert report.frames_over_limit == 0
    assert report.mean_jerk == 0


def test_a_push_at_a_corner_does_the_work_of_that_corners_motion(robot):
    """Virtual work: what a unit force at a corner does to a coordinate is how the corner moves with it."""
    model, data = free_model(robot), mujoco.MjData(free_model(robot))
    rng = np.random.default_rng(0)
    data.qpos[:3], data.qpos[3:7] = 0.0, rot.normalize(rng.normal(size=4))
    data.qpos[7:] = rng.uniform(0.3 * robot.lower, 0.3 * robot.upper)
    foot, corners = int(robot.sole_body[0]) + 1, robot.sole_corners[0]

    def places(qpos):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        return data.xpos[foot] + corners @ data.xmat[foot].reshape(3, 3).T

    here = data.qpos.copy()
    places(here)
    columns = _ground_columns(model, data, np.array([foot]), corners[None], near_ground=np.inf, friction=0.5)
    for i in range(model.nv):
        moved, step = [], np.zeros(model.nv)
        for sign in (1, -1):
            qpos, step[i] = here.copy(), sign * 1e-6
            mujoco.mj_integratePos(model, qpos, step, 1.0)
            moved.append(places(qpos))
        slope = (moved[0] - moved[1]) / 2e-6  # (corners, 3)
        edges = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        expected = slope[:, 2:] + 0.5 * slope[:, :2] @ edges.T
        np.testing.assert_allclose(columns[i], expected.ravel(), atol=1e-6)


def test_residuals_are_told_apart_on_the_ground_and_in_the_air(robot):
    def scores(path):
        motion = RobotMotion(
            robot.name, robot.joint_names, FPS, *path, np.ones((FRAMES, 4)), None, Provenance("made up", "test")
        )
        return measure(motion, robot)

    standing, hovering = scores(still(robot)), scores(still(robot, 3.0))
    assert standing["residual_contact"] < 1e-3
    assert "residual_flight" not in standing
    assert hovering["residual_flight"] == pytest.approx(1.0, abs=1e-6)
    assert "residual_contact" not in hovering
    assert 1 < standing["torque_peak"] < 50


def test_free_fall_needs_no_force(robot):
    root, quat, joints = still(robot, 5.0)
    time = np.arange(FRAMES) / FPS
    root[:, 2] -= 0.5 * 9.81 * time**2
    report = dynamics_report(robot, root, quat, joints, FPS)
    assert not report.contact.any()
    assert report.residual_flight < 1e-9
    assert np.abs(report.joint_torque).max() < 1e-9


def test_hovering_leaves_one_body_weight(robot):
    report = dynamics_report(robot, *still(robot, 3.0), FPS)
    assert report.residual_flight == pytest.approx(1.0, abs=1e-9)
    assert report.residual[:, 2] == pytest.approx(1.0, abs=1e-9)
    assert report.ground_force.max() == 0


def test_lifted_at_two_g_the_ground_bears_two_body_weights(robot):
    root, quat, joints = still(robot)
    root[:, 2] += 0.5 * 9.81 * ((np.arange(FRAMES) - FRAMES / 2) / FPS) ** 2 * 1e-6  # contact stays: the path is tiny
    slow = dynamics_report(robot, root, quat, joints, FPS)
    fast = dynamics_report(robot, root, quat, joints, FPS * 1e3)
    assert slow.ground_force == pytest.approx(1.0, abs=1e-3)
    assert fast.ground_force == pytest.approx(2.0, abs=2e-3)


def test_the_ground_pushes_and_does_not_pull(robot):
    """Pulled down at 3 g there is nothing to hold on to: what the ground cannot give is left over."""
    root, quat, joints = still(robot)
    root[:, 2] -= 1e-6 * 0.5 * 3 * 9.81 * (np.arange(FRAMES) / FPS) ** 2
    report = dynamics_report(robot, root, quat, joints, FPS * 1e3)
    assert report.ground_force == pytest.approx(0.0, abs=1e-6)
    assert report.residual_contact == pytest.approx(2.0, abs=1e-3)


def test_twice_as_fast_takes_four_times_the_torque_beyond_gravity(robot):
    """tau(k) = tau_gravity + k^2 tau_inertial."""
    path = waving(robot)
    slow, normal, fast = (dynamics_report(robot, *path, FPS * k).joint_torque for k in (1e-4, 1.0, 2.0))
    assert np.abs(normal - slow).max() > 1
    np.testing.assert_allclose(fast - slow, 4 * (normal - slow), rtol=1e-6, atol=1e-6)


def test_place_and_heading_do_not_matter(robot):
    root, quat, joints = waving(robot)
    turned = root[:, [1, 0, 2]] * [-1, 1, 1] + [5.0, 7.0, 0.0]
    quarter = np.tile([np.sqrt(0.5), 0, 0, np.sqrt(0.5)], (FRAMES, 1))
    here, there = dynamics_report(robot, root, quat, joints, FPS), dynamics_report(robot, turned, quarter, joints, FPS)
    np.testing.assert_allclose(there.joint_torque, here.joint_torque, atol=1e-8)
    np.testing.assert_allclose(there.torque_ratio, here.torque_ratio, atol=1e-8)


def test_one_frame_is_statics(robot):
    report = dynamics_report(robot, *still(robot, frames=1), FPS)
    assert report.ground_force == pytest.approx(1.0, abs=1e-3)


def test_jerk_of_a_cubic_is_its_third_derivative(robot):
    root, quat, joints = still(robot)
    joints += 0.5 * ((np.arange(FRAMES) / FPS) ** 3)[:, None]
    assert dynamics_report(robot, root, quat, joints, FPS).jerk == pytest.approx(3.0)


def test_no_self_collision_at_ease_nor_in_the_shared_pose(robot):
    root, quat, joints = still(robot, frames=2)
    joints[1] = robot.shared_pose
    assert self_penetration(robot, root, quat, joints).tolist() == [0.0, 0.0]


def test_a_hand_in_the_belly_is_found_in_its_frame_and_the_ground_is_not(robot):
    root, quat, joints = still(robot, height=0.0, frames=3)
    names = ("left_shoulder_roll_joint", "left_shoulder_yaw_joint", "left_elbow_joint")
    joints[1, robot.joint_index(names)] = -0.2, -1.5, -0.9
    depth = self_penetration(robot, root, quat, joints)
    assert depth[1] > 0.02
    assert depth[0] == depth[2] == 0
