"""A motion of the free robot loses what its locked joints did, and is told how much; the way back loses nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core.performed_motion import PerformedMotion
from phuma.errors import PhumaError
from phuma.robots import load_robot
from phuma.robots.locked_motion import locked_motion, lost_by_locking, told_locked_motion, unlocked_motion
from tests.dataset.exchange.made_up import made_up

ROLL = "left_wrist_roll_joint"


def waving(g1, degrees: float):
    """The G1 at ease, whose left wrist rolls by so much."""
    motion = made_up(g1)
    joints = np.tile(g1.default_pose, (len(motion), 1))
    joints[:, g1.joint_names.index(ROLL)] = np.radians(np.linspace(0, degrees, len(motion)))
    return replace(motion, joint_pos=joints)


def test_what_is_lost_is_the_farthest_from_the_locked_angle(g1):
    motion = waving(g1, 40)
    lost = lost_by_locking(motion, load_robot("g1", ["wrist_roll*=10"]))
    assert lost == pytest.approx({ROLL: 30, "right_wrist_roll_joint": 10})
    robot = load_robot("g1-lock-wrist")
    told = told_locked_motion(motion, robot)
    assert (told.robot, told.joint_names) == (robot.name, robot.joint_names)
    note = told.provenance.notes[-1]
    assert note.startswith(f"locked joints would have moved: {ROLL} 40°; the motion needs {ROLL}: leave that free")
    assert note.endswith("with --robot g1-lock-wrist")
    assert told_locked_motion(waving(g1, 20), robot).provenance.notes[-1].endswith(f"{ROLL} 20°")
    assert told_locked_motion(told, robot) is told


def test_a_leg_that_is_locked_needs_a_motion_of_its_own(g1):
    robot = load_robot("g1", ["knee"])
    motion = waving(g1, 0)
    assert locked_motion(motion, robot).joint_names == robot.joint_names
    bent = motion.joint_pos + 0.1
    with pytest.raises(PhumaError, match="left_knee_joint, right_knee_joint free, which carry the robot; retarget"):
        locked_motion(replace(motion, joint_pos=bent), robot)


def test_unlocking_a_locked_motion_gives_the_locked_angles(g1):
    robot = load_robot("g1", ["wrist*", "elbow*=40"])
    locked = locked_motion(made_up(g1), robot)
    back = unlocked_motion(locked, robot)
    assert (back.robot, back.joint_names) == ("g1", g1.joint_names)
    assert max(lost_by_locking(back, robot).values()) == pytest.approx(0)
    np.testing.assert_array_equal(locked_motion(back, robot).joint_pos, locked.joint_pos)


def test_what_was_recorded_of_a_locked_joint_is_nothing(g1):
    robot = load_robot("g1-lock-wrist")
    locked = locked_motion(made_up(g1), robot)
    rng = np.random.default_rng(0)
    velocity, torque = rng.normal(size=(len(locked), 29)), rng.normal(size=(len(locked), 23))
    performed = PerformedMotion(**{**vars(locked), "velocity": velocity, "torque": torque})
    back = unlocked_motion(performed, robot)
    assert not back.velocity[:, 6 + g1.joint_names.index(ROLL)].any()
    again = back.reordered(robot.joint_names)
    np.testing.assert_array_equal(again.velocity, velocity)
    np.testing.assert_array_equal(again.torque, torque)
