"""Laws that the baselines keep: what is within reach is reached, limits hold, place and heading do not matter."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.body import Body, Pose, open_body
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.skeleton import INDEX, JOINTS, N_JOINTS, N_SOLE, REST_TO_WORLD
from phuma.core.trajectory import Trajectory
from phuma.retargeting.baselines import baseline as baseline_called
from phuma.retargeting.baselines.differential import shared_bodies
from phuma.retargeting.baselines.gmr_tables import PUBLISHED, table_by_rule, table_of
from phuma.retargeting.baselines.ik import followed_frames, similarity
from phuma.retargeting.limits import joint_bounds
from phuma.retargeting.metrics import MARGIN
from phuma.retargeting.target import ROBOT_TO_REST
from phuma.robots import load_robot
from phuma.robots.kinematics import point_positions, points_of
from tests.motions import smooth_motion

FRAMES = 8
ik, gmr = baseline_called("ik"), baseline_called("gmr")
BASELINES = pytest.mark.parametrize("baseline", [ik, gmr], ids=["ik", "gmr"])


@pytest.fixture(scope="module", params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="module")
def human():
    return smooth_motion(open_body(), frames=FRAMES, amplitude=0.25)


def no_contact(motion):
    return FootContacts(np.zeros((len(motion), 4)), motion.fps)


def robots_own_body(robot):
    """A body whose joints are the robot's keypoints, so that nothing has to be scaled or lifted."""
    place, turn = shared_bodies(robot)
    points = place[robot.keypoint_body] + rot.rotate(turn[robot.keypoint_body], robot.keypoint_offset)
    soles = place[robot.sole_body] + rot.rotate(turn[robot.sole_body], robot.sole_point)
    joints = np.zeros((N_JOINTS, 3))
    joints[[INDEX[k] for k in robot.keypoints]] = points
    for side, toe in (("left", soles[1]), ("right", soles[3])):
        joints[INDEX[f"{side}_foot"]] = toe
    weights = np.eye(N_JOINTS)[np.zeros(N_SOLE, dtype=int)]
    turned = [rot.rotate(ROBOT_TO_REST, x) for x in (joints, np.repeat(soles, N_SOLE // 4, axis=0))]
    return Body(*turned, weights, name=robot.name)


def puppet(robot, path, fps=30.0):
    """A human whose joints are where the robot's are along `path`."""
    body = robots_own_body(robot)
    frames = followed_frames(body, robot, similarity(body, robot)[0])
    bodies = robot.body_index(frame.body for frame in frames)
    places = point_positions(robot, points_of(robot, bodies, np.array([frame.offset for frame in frames])), path)
    position = np.zeros((len(places), N_JOINTS, 3))
    position[:, [JOINTS.index(frame.name) for frame in frames]] = places
    quat = np.tile(rot.IDENTITY, (len(places), N_JOINTS, 1))
    quat[:, 0] = rot.multiply(path.root_quat, REST_TO_WORLD)
    motion = HumanMotion(body, position[:, 0], quat, fps, Provenance("made up", "none"))
    vars(motion)["pose"] = Pose(position, quat)  # instead of the body's own kinematics
    return motion


def own_motion(robot, frames=FRAMES):
    """The robot moving about its default pose, within its limits."""
    wave = np.sin(0.3 * np.arange(frames)[:, None] + np.arange(robot.n_joints))
    joints = np.clip(robot.default_pose + 0.25 * wave, 0.9 * robot.lower, 0.9 * robot.upper)
    root = np.array([0.2, 0.1, 0.8]) + 0.01 * np.arange(frames)[:, None]
    turn = rot.from_rotvec(np.stack([0.1 * wave[:, 0], 0.1 * wave[:, 1], 0.5 + 0.2 * wave[:, 2]], axis=1))
    return Trajectory(robot.name, robot.joint_names, 30.0, root, turn, joints)


def keypoints(robot, path):
    return point_positions(robot, points_of(robot, robot.keypoint_body, robot.keypoint_offset), path)


def test_a_body_like_the_robot_needs_no_scale_and_no_lift(robot):
    scale, lift = similarity(robots_own_body(robot), robot)
    assert scale == pytest.approx(1.0)
    assert lift == pytest.approx(0.0, abs=1e-9)


def test_ik_recovers_what_the_robot_itself_did(robot):
    path = own_motion(robot)
    motion = puppet(robot, path)
    found = ik(motion, no_contact(motion), robot)
    error = np.linalg.norm(keypoints(robot, found) - keypoints(robot, path), axis=-1)
    assert error.max() < 0.015  # the posture task's share
    assert error.mean() < 0.005
    knees = robot.joint_index(["left_knee_joint", "right_knee_joint"])
    assert np.abs(found.joint_pos - path.joint_pos)[:, knees].max() < 0.1


@BASELINES
def test_limits_are_those_by_which_feasibility_is_judged(baseline, robot):
    wild = smooth_motion(open_body(), frames=FRAMES, amplitude=0.9)
    path = baseline(wild, no_contact(wild), robot)
    lower, upper = joint_bounds(robot, 0.98)
    assert (lower >= MARGIN * robot.lower - 1e-12).all()
    assert ((path.joint_pos >= lower) & (path.joint_pos <= upper)).all()
    np.testing.assert_allclose(np.linalg.norm(path.root_quat, axis=1), 1, atol=1e-9)


@BASELINES
def test_same_bits_every_time(baseline, robot, human):
    once, twice = (baseline(human, no_contact(human), robot) for _ in range(2))
    assert once.qpos.tobytes() == twice.qpos.tobytes()


@BASELINES
def test_place_and_heading_do_not_matter(baseline, robot, human):
    turn = rot.from_axis("z", 2.0)
    quat = human.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    moved = replace(human, root_pos=rot.rotate(turn, human.root_pos) + [4.0, -3.0, 0.0], joint_quat=quat)
    here, there = (baseline(m, no_contact(m), robot) for m in (human, moved))
    assert np.abs(here.joint_pos - there.joint_pos).max() < 1e-3
    path = rot.rotate(turn, here.root_pos - here.root_pos[0])
    np.testing.assert_allclose(there.root_pos - there.root_pos[0], path, atol=1e-3)


def test_gmr_puts_the_lowest_point_of_the_soles_on_the_ground(robot, human):
    path = gmr(human, no_contact(human), robot)
    soles = point_positions(robot, points_of(robot, robot.sole_body, robot.sole_point), path)
    assert soles[..., 2].min() == pytest.approx(0.0, abs=1e-9)


def test_gmr_of_a_person_at_rest_stands_upright_with_arms_out(robot):
    quat = np.tile(rot.IDENTITY, (2, N_JOINTS, 1))
    quat[:, 0] = REST_TO_WORLD
    rest = HumanMotion(open_body(), np.tile([0, 0, 0.95], (2, 1)), quat, 30.0, Provenance("made up", "none"))
    path = gmr(rest, no_contact(rest), robot)
    assert np.abs(rot.to_rotvec(path.root_quat)).max() < 0.1
    points = dict(zip(robot.keypoints, keypoints(robot, path)[0]))
    for side, sign in (("left", 1), ("right", -1)):
        arm = points[f"{side}_wrist"] - points[f"{side}_shoulder"]
        assert sign * arm[1] > 0.85 * np.linalg.norm(arm)


def test_gmr_has_tables_for_the_built_in_robots_and_a_rule_for_others(robot):
    assert table_of(robot) is PUBLISHED[robot.name]
    ruled = table_by_rule(robot)
    assert 0.6 < ruled.trunk_and_legs < 1.2
    assert 0.6 < ruled.arms < 1.4
    assert table_of(replace(robot, name="another")) == ruled
