"""The ground and the contacts of robots by their own soles."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.contacts.robot_soles import robot_contacts, robot_ground
from phuma.core import rotations as rot
from phuma.core.trajectory import Trajectory
from phuma.robots import load_robot
from phuma.robots.kinematics import point_positions, points_of

FRAMES = 30


@pytest.fixture(params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


def standing(robot, lift=0.0, turn=(0.0, 0.0, 0.0)):
    """A robot at ease, lifted by some metres and turned by a rotation vector."""
    root_pos = np.tile([0.0, 0.0, robot.default_height + lift], (FRAMES, 1))
    root_quat = np.tile(rot.from_rotvec(np.array(turn)), (FRAMES, 1))
    return Trajectory(
        robot.name, robot.joint_names, 30.0, root_pos, root_quat, np.tile(robot.default_pose, (FRAMES, 1))
    )


@pytest.mark.parametrize("lift", [-0.4, 0.0, 0.3])
def test_the_ground_is_under_the_soles_that_stand(robot, lift):
    made = standing(robot, lift)
    assert robot_ground(robot, made) == pytest.approx(lift, abs=0.01)
    assert (robot_contacts(robot, made).ratio == (lift < 0.02)).all()


def test_soles_that_swing_by_do_not_raise_the_ground(robot):
    """Two of five frames are anywhere in the 5 cm above it: the vote's own middle would be 2.5 cm too high."""
    made = standing(robot)
    level = robot_ground(robot, made)
    lift = np.where(np.arange(FRAMES) % 5 < 2, np.linspace(0.0, 0.045, FRAMES), 0.0)
    hops = replace(made, root_pos=made.root_pos + lift[:, None] * [0.0, 0.0, 1.0])
    assert robot_ground(robot, hops) == pytest.approx(level, abs=1e-3)


def test_a_foot_that_is_held_in_the_air_has_no_say(robot):
    """A dancer: the left foot is drawn up, level and still, and the right one stands on its toe alone."""
    made = standing(robot)
    pose = {"left_hip_pitch": -0.6, "left_knee": 1.2, "left_ankle_pitch": -0.6, "right_ankle_pitch": 0.5}
    joints = made.joint_pos.copy()
    joints[:, [made.joint_names.index(f"{name}_joint") for name in pose]] += list(pose.values())
    dances = replace(made, joint_pos=joints)
    soles = points_of(robot, robot.sole_body, robot.sole_point)
    left_heel, left_toe, right_heel, right_toe = point_positions(robot, soles, dances)[0, :, 2]
    assert min(left_heel, left_toe) > right_toe + 0.05
    assert abs(left_heel - left_toe) < 0.03, "twice as many points as the one that stands"
    assert right_heel > right_toe + 0.05
    assert robot_ground(robot, dances) == pytest.approx(right_toe)


@pytest.mark.parametrize("turn", [(np.pi / 2, 0, 0), (-np.pi / 2, 0, 0), (0, np.pi / 2, 0), (np.pi, 0, 0)])
def test_a_robot_that_lies_or_stands_on_its_head_has_no_ground_and_no_contact(robot, turn):
    """Its feet are at some height, and that is not where the ground is, even if they touch it."""
    for lift in (0.0, -robot.default_height):
        made = standing(robot, lift, turn)
        assert robot_ground(robot, made) is None
        assert not robot_contacts(robot, made).ratio.any()


def test_a_sole_that_swings_low_is_in_no_contact_and_one_that_slides_is(robot):
    for speed, touches in ((0.5, True), (1.5, False)):
        made = standing(robot)
        ahead = np.outer(np.arange(FRAMES) / 30.0, [speed, 0.0, 0.0])
        found = robot_contacts(robot, replace(made, root_pos=made.root_pos + ahead))
        assert (found.ratio == touches).all()
        assert (found.paper == 1).all(), "the paper's contacts are by height alone"


def test_a_heel_that_is_lifted_leaves_the_toe_in_contact(robot):
    made = standing(robot, 0.0, (0.0, 0.7, 0.0))
    ground = robot_ground(robot, made)
    assert ground is not None
    low = replace(made, root_pos=made.root_pos - [0.0, 0.0, ground])
    assert robot_contacts(robot, low).ratio.any(axis=1).all()
