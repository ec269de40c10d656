"""Laws of inverse dynamics and of self-collision: cases that one can compute in the head."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.trajectory import Trajectory
from phuma.retargeting import dynamics
from phuma.retargeting.collision_check import self_penetration
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import measure, robot_frames
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import _ground_columns, free_model, inverse_dynamics

FPS, FRAMES = 30.0, 12
TIME = np.arange(FRAMES) / FPS


@pytest.fixture(scope="module", params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


def still(robot, height=None, frames=FRAMES):
    """The default pose, not moving."""
    root = np.tile([0.3, -0.2, robot.default_height if height is None else height], (frames, 1))
    quat, joints = np.tile([1.0, 0, 0, 0], (frames, 1)), np.tile(robot.default_pose, (frames, 1))
    return Trajectory(robot.name, robot.joint_names, FPS, root, quat, joints)


def lifted(robot, height):
    """The default pose, the root at its height and (T,) m more."""
    path = still(robot)
    return replace(path, root_pos=path.root_pos + np.outer(height, [0.0, 0.0, 1.0]))


def waving(robot, frames=FRAMES):
    """High above the ground, all joints in motion."""
    path = still(robot, 3.0, frames)
    wave = np.sin(0.25 * np.arange(frames)[:, None] + np.arange(robot.n_joints))
    return replace(path, joint_pos=path.joint_pos + 0.1 * wave)


def test_standing_still_the_ground_bears_the_weight_and_nothing_is_left(robot):
    report = dynamics_report(robot, still(robot))
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
        about = Provenance("made up", "test")
        return measure(RobotMotion.of(path, contact=np.ones((FRAMES, 4)), human_joints=None, provenance=about), robot)

    standing, hovering = scores(still(robot)), scores(still(robot, 3.0))
    assert standing["residual_contact"] < 1e-3
    assert standing["residual_flight"] is None
    assert hovering["residual_flight"] == pytest.approx(1.0, abs=1e-6)
    assert hovering["residual_contact"] is None
    assert 1 < standing["torque_peak"] < 50


def test_free_fall_needs_no_force(robot):
    report = dynamics_report(robot, lifted(robot, 4.0 - 0.5 * 9.81 * TIME**2))
    assert not report.contact.any()
    assert report.residual_flight < 1e-9
    assert np.abs(report.joint_torque).max() < 1e-9


def test_hovering_leaves_one_body_weight(robot):
    report = dynamics_report(robot, still(robot, 3.0))
    assert report.residual_flight == pytest.approx(1.0, abs=1e-9)
    assert report.residual[:, 2] == pytest.approx(1.0, abs=1e-9)
    assert report.ground_force.max() == 0


def test_lifted_at_two_g_the_ground_bears_two_body_weights(robot):
    report = dynamics_report(robot, lifted(robot, 0.5 * 9.81 * TIME**2), near_ground=1.0)
    assert report.ground_force == pytest.approx(2.0, abs=2e-3)


def test_the_ground_pushes_and_does_not_pull(robot):
    """Pulled down at 3 g there is nothing to hold on to: what the ground cannot give is left over."""
    report = dynamics_report(robot, lifted(robot, -0.5 * 3 * 9.81 * TIME**2))
    assert report.ground_force == pytest.approx(0.0, abs=1e-6)
    assert report.residual_contact == pytest.approx(2.0, abs=1e-3)


def test_twice_as_fast_takes_four_times_the_torque_beyond_gravity(robot):
    """tau(k) = tau_gravity + k^2 tau_inertial."""
    path = waving(robot)
    half, normal, fast = (dynamics_report(robot, replace(path, fps=k * FPS)).joint_torque for k in (0.5, 1.0, 2.0))
    assert np.abs(normal - half).max() > 1
    np.testing.assert_allclose(fast - half, 5 * (normal - half), rtol=1e-6, atol=1e-6)  # 4 - 1/4 and 1 - 1/4


def test_place_and_heading_do_not_matter(robot):
    path = waving(robot)
    turned = path.root_pos[:, [1, 0, 2]] * [-1, 1, 1] + [5.0, 7.0, 0.0]
    quarter = np.tile([np.sqrt(0.5), 0, 0, np.sqrt(0.5)], (FRAMES, 1))
    here, there = (dynamics_report(robot, p) for p in (path, replace(path, root_pos=turned, root_quat=quarter)))
    np.testing.assert_allclose(there.joint_torque, here.joint_torque, atol=1e-8)
    np.testing.assert_allclose(there.torque_ratio, here.torque_ratio, atol=1e-8)


def test_one_frame_is_statics(robot):
    report = dynamics_report(robot, still(robot, frames=1))
    assert report.ground_force == pytest.approx(1.0, abs=1e-3)


def test_jerk_of_a_cubic_is_its_third_derivative(robot):
    path = still(robot)
    cubic = replace(path, joint_pos=path.joint_pos + 0.5 * (TIME**3)[:, None])
    assert dynamics_report(robot, cubic).jerk == pytest.approx(3.0)


def test_a_path_is_computed_once_however_often_and_as_whatever_it_is_looked_at(monkeypatch):
    """Measuring a motion and showing it takes one inverse dynamics; another path, rate or ground takes another."""
    robot, computed = load_robot("g1"), []

    def counted(*about):
        computed.append(about)
        return inverse_dynamics(*about)

    monkeypatch.setattr(dynamics, "inverse_dynamics", counted)
    path = waving(robot, frames=FRAMES + 1)
    about = Provenance("made up", "test")
    motion = RobotMotion.of(path, contact=np.ones((len(path), 4)), human_joints=None, provenance=about)
    scores = measure(motion, robot)
    shown = robot_frames(replace(motion.reordered(robot.joint_names[::-1]), report={"metrics": scores}), robot)
    assert len(computed) == 1
    assert shown.torque_use.max() == pytest.approx(scores["torque_peak"])
    others = replace(path, fps=31.0), replace(path, root_pos=path.root_pos + 1e-9), path.frames(slice(FRAMES))
    for count, other in enumerate(others, start=2):
        dynamics_report(robot, other)
        assert len(computed) == count
    dynamics_report(robot, others[-1], near_ground=1.0)
    assert len(computed) == 5
    with pytest.raises(ValueError, match="read-only"):
        dynamics_report(robot, path).residual[0] = 0


def test_no_self_collision_at_ease_nor_in_the_shared_pose(robot):
    path = replace(still(robot, frames=2), joint_pos=np.stack([robot.default_pose, robot.shared_pose]))
    assert self_penetration(robot, path).tolist() == [0.0, 0.0]


def test_a_hand_in_the_belly_is_found_in_its_frame_and_the_ground_is_not(robot):
    path = still(robot, height=0.0, frames=3)
    joints = path.joint_pos.copy()
    names = ("left_shoulder_roll_joint", "left_shoulder_yaw_joint", "left_elbow_joint")
    joints[1, robot.joint_index(names)] = -0.2, -1.5, -0.9
    depth = self_penetration(robot, replace(path, joint_pos=joints))
    assert depth[1] > 0.02
    assert depth[0] == depth[2] == 0
