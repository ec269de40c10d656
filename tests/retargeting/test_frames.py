"""Numbers of a robot motion over time: what `measure` says follows from them, and each is where it belongs."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.curation import curate
from phuma.retargeting import metrics, retarget_motion
from phuma.retargeting.measure import measure, robot_frames
from phuma.robots import load_robot
from phuma.synth import generate

FPS = 30.0
REGION = 2  # right heel


@pytest.fixture(scope="module", params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="module")
def poor(robot):
    """A motion that fails in all ways: nothing keeps this method from it, and the rate makes joints and feet fast."""
    clip = curate(generate("kick", 2.0, 0).motion)
    motion = retarget_motion(clip.motion, clip.contact, robot, "sink")
    root = motion.root_pos + 0.012 * np.sin(np.arange(len(motion)))[:, None]
    joints = motion.joint_pos.copy()
    joints[10:14, 3] = 0.99 * robot.upper[3]
    human = motion.human_joints + np.linspace(0, 0.2, len(motion))[:, None, None]
    return replace(motion, fps=60.0, root_pos=root, joint_pos=joints, human_joints=human)


def still(robot, frames=8, fps=FPS):
    """The default pose, all soles in contact, no human."""
    return RobotMotion(
        robot=robot.name,
        joint_names=robot.joint_names,
        fps=fps,
        root_pos=np.tile([0.3, -0.2, robot.default_height], (frames, 1)),
        root_quat=np.tile([1.0, 0, 0, 0], (frames, 1)),
        joint_pos=np.tile(robot.default_pose, (frames, 1)),
        contact=np.ones((frames, 4)),
        human_joints=None,
        provenance=Provenance("made up", "none"),
    )


def share(passed):
    """Percent, counted one by one."""
    passed = list(passed)
    return 100 * sum(map(bool, passed)) / len(passed)


def test_what_is_measured_follows_from_the_frames(poor, robot):
    frames, scores = robot_frames(poor, robot), measure(poor, robot)
    assert len(frames) == len(poor)
    near = [p < 0.10 and d < 10 for p, d in zip(frames.position_error, frames.direction_error)]
    standing = [(t, r) for t in range(len(poor)) for r in range(4) if poor.contact[t, r] > 0.5]
    steps = [(t, r) for t, r in standing if (t + 1, r) in standing]
    counted = {
        "fidelity": share(near),
        "feasibility": share(not any(row) for row in frames.over),
        "non_floating": share(frames.height[at] <= 0.01 for at in standing),
        "non_penetration": share(frames.height[at] >= -0.01 for at in standing),
        "non_skating": share(not frames.slips[at] for at in steps),
        "torque_over": share(use > 100 for use in frames.torque_use),
    }
    for name, value in counted.items():
        assert scores[name] == pytest.approx(value, abs=1e-9), name
        assert 0 < value < 100, f"{name} is to be tried where some of it fails"
    assert scores["step_samples"] == len(steps) == np.isfinite(frames.slip).sum()
    assert {(int(t), int(r)) for t, r in np.argwhere(np.isfinite(frames.slip))} == set(steps)
    assert [frames.slip[at] >= 0.10 for at in steps] == [frames.slips[at] for at in steps]
    assert 100 * np.mean(frames.position_error) == pytest.approx(scores["position_error_cm"])
    assert np.mean(frames.direction_error) == pytest.approx(scores["direction_error_deg"])
    assert np.max(frames.torque_use) == pytest.approx(scores["torque_peak"])


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_joint_beyond_its_range_is_over_in_that_frame_alone(robot, end):
    robot = replace(robot, velocity_limit=np.full(robot.n_joints, 1e3))  # no step is too fast
    for j in range(robot.n_joints):
        limit, motion = getattr(robot, end)[j], still(robot)
        joints = motion.joint_pos.copy()
        joints[3, j], joints[5, j] = 0.985 * limit, 0.975 * limit
        frames = robot_frames(replace(motion, joint_pos=joints), robot)
        assert np.argwhere(frames.over).tolist() == [[3, j]]
        assert frames.joint_use[3] == pytest.approx(98.5)


def test_a_step_that_is_too_fast_belongs_to_the_frame_it_starts_from(robot):
    motion = still(robot, fps=1000.0)
    joints = motion.joint_pos.copy()
    joints[4:, 1] += 1.1 * robot.velocity_limit[1] / 1000
    frames = robot_frames(replace(motion, joint_pos=joints), robot)
    assert np.argwhere(frames.over).tolist() == [[3, 1]]


def test_joint_use_is_a_hundred_at_the_limit_and_nothing_in_the_zero_pose(robot):
    motion = still(robot, frames=3)
    frames = robot_frames(replace(motion, joint_pos=np.stack([robot.lower, 0 * robot.lower, robot.upper])), robot)
    np.testing.assert_allclose(frames.joint_use, [100, 0, 100])


def test_range_use_tells_what_is_beyond_98_percent(robot):
    joints = np.random.default_rng(0).uniform(1.1 * robot.lower, 1.1 * robot.upper, (300, robot.n_joints))
    use = metrics.range_use(joints, robot.lower, robot.upper)
    over = metrics.beyond_limits(joints, 1e-9, robot.lower, robot.upper, robot.velocity_limit)
    np.testing.assert_array_equal(over, use > 98)
    assert 0.1 < over.mean() < 0.9


def test_range_use_of_a_joint_that_cannot_be_at_zero():
    """From 0 to 2, from 1 to 3 and from -3 to -1: the limit is 100 at either end, less between, more beyond."""
    lower, upper = np.array([0.0, 1.0, -3.0]), np.array([2.0, 3.0, -1.0])
    use = metrics.range_use(np.stack([lower, upper, 0.5 * (lower + upper), lower - 0.1, upper + 0.1]), lower, upper)
    np.testing.assert_allclose(use[:2], 100)
    assert (use[2] < 100).all()
    assert (use[3:] > 100).all()


def test_slip_is_the_level_speed_of_soles_that_stand_now_and_in_the_next_frame(robot):
    motion = still(robot)
    contact = np.zeros((len(motion), 4))
    contact[:, 0], contact[2:4, REGION] = 1.0, 0.51
    away = np.outer(np.arange(len(motion)) / FPS, [0.12, 0.16, 0.7])  # 20 cm/s over the ground, and upwards
    slow = np.outer(np.arange(len(motion)) / FPS, [0.0, 0.09, 0.7])
    expected = np.full((len(motion), 4), np.nan)
    expected[:-1, 0], expected[2, REGION] = 1.0, 1.0
    for step, speed in ((away, 0.2), (slow, 0.09)):
        frames = robot_frames(replace(motion, root_pos=motion.root_pos + step, contact=contact), robot)
        np.testing.assert_allclose(frames.slip, speed * expected, atol=1e-9)
        np.testing.assert_array_equal(frames.slips, ~np.isnan(expected) & (speed >= 0.1))
        np.testing.assert_allclose(np.diff(frames.height, axis=0), 0.7 / FPS, atol=1e-9)


def test_the_order_of_a_motions_joints_does_not_matter(poor, robot):
    frames, other = robot_frames(poor, robot), robot_frames(poor.reordered(robot.joint_names[::-1]), robot)
    for name in vars(frames):
        np.testing.assert_array_equal(getattr(frames, name), getattr(other, name), err_msg=name)


def test_without_a_human_nothing_is_compared_and_one_frame_is_enough(robot):
    frames = robot_frames(still(robot, frames=1), robot)
    assert frames.position_error is None
    assert frames.direction_error is None
    assert frames.over.shape == (1, robot.n_joints)
    assert np.isnan(frames.slip).all()
    assert not frames.slips.any()
    assert not frames.over.any()
