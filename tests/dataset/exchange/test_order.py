"""Tables that do not say the order of their quaternions: the order in which the robot stands, or an error."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import phuma
from phuma.contacts.robot_soles import standing_share
from phuma.core import rotations as rot
from phuma.dataset.exchange import import_motion, recognise
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.robots import Robot, load_robot
from phuma.synth import generate
from tests.dataset.exchange.made_up import ROBOTS, made_up

ORDERS = {"csv": [1, 2, 3, 0], "kimodo": [0, 1, 2, 3]}
"""Columns of a wxyz quaternion in the order of each format"""
FAR = [20, 45, 90, 135, 160, 200, 225, 270, 315, 340]
"""Headings in degrees that tell the orders apart of a robot that only stands there"""


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def standing(robot, heading=0.0, lean=0.0, frames=30):
    """A robot that stands with its feet flat, 30 cm above z = 0, turned by `heading` and leaning by `lean` degrees."""
    motion = made_up(robot, frames=frames, fps=30.0)
    turn = rot.multiply(rot.from_axis("z", np.radians(heading)), rot.from_axis("y", np.radians(lean)))
    pose = robot.default_pose.copy()
    for side in ("left", "right"):
        pose[robot.joint_names.index(f"{side}_hip_pitch_joint")] -= np.radians(lean)
    return replace(
        motion,
        joint_pos=np.tile(pose, (frames, 1)),
        root_pos=np.tile([0.0, 0.0, robot.default_height + 0.3], (frames, 1)),
        root_quat=np.tile(turn, (frames, 1)),
    )


def write(path, motion, name):
    rows = np.concatenate([motion.root_pos, motion.root_quat[:, ORDERS[name]], motion.joint_pos], axis=1)
    np.savetxt(path, rows, delimiter=",")


def assert_read(path, robot, motion, name, told=None):
    back = import_motion(path, robot, told)
    assert back.provenance.format == name
    np.testing.assert_allclose(back.root_quat, motion.root_quat, atol=1e-9)
    np.testing.assert_allclose(back.joint_pos, motion.joint_pos, atol=1e-9)


@pytest.mark.parametrize("name", list(ORDERS))
@pytest.mark.parametrize("heading", FAR)
def test_a_table_is_read_in_the_order_in_which_the_robot_stands(tmp_path, robot, name, heading):
    motion = standing(robot, heading)
    write(tmp_path / "a.csv", motion, name)
    assert {known.name for known in recognise(Probe(tmp_path / "a.csv"))} == set(ORDERS)
    assert_read(tmp_path / "a.csv", robot, motion, name)


BOTH = pytest.mark.parametrize(("name", "heading"), [("csv", 0), ("kimodo", 180)])
"""Headings at which a robot that stands upright stands in the other order, too, turned about"""


@BOTH
def test_a_table_is_refused_when_the_robot_stands_in_both_orders(tmp_path, robot, name, heading):
    motion = standing(robot, heading)
    write(tmp_path / "a.csv", motion, name)
    with pytest.raises(ReadError, match=r"stands in more than one way .*: say --format csv or --format kimodo"):
        import_motion(tmp_path / "a.csv", robot)
    assert_read(tmp_path / "a.csv", robot, motion, name, told=name)


@BOTH
def test_a_lean_tells_them_apart_as_the_soles_are_level_in_one_order_alone(tmp_path, robot, name, heading):
    motion = standing(robot, heading, lean=12.0)
    write(tmp_path / "a.csv", motion, name)
    assert_read(tmp_path / "a.csv", robot, motion, name)


@pytest.mark.parametrize("name", list(ORDERS))
def test_a_table_is_refused_when_the_robot_stands_in_neither(tmp_path, robot, name):
    lying = replace(standing(robot), root_quat=np.tile(rot.from_axis("y", np.pi / 2), (30, 1)))
    write(tmp_path / "a.csv", lying, name)
    with pytest.raises(ReadError, match=r"hardly ever stands however it is read .*: say --format csv or --format kim"):
        import_motion(tmp_path / "a.csv", robot)
    assert_read(tmp_path / "a.csv", robot, lying, name, told=name)


def test_a_format_that_is_named_is_believed(tmp_path, robot):
    """A robot on its side, of which the other order makes one that stands."""
    lying = replace(standing(robot), root_quat=np.tile(rot.from_axis("x", np.pi / 2), (30, 1)))
    write(tmp_path / "a.csv", lying, "csv")
    assert import_motion(tmp_path / "a.csv", robot).provenance.format == "kimodo"
    assert_read(tmp_path / "a.csv", robot, lying, "csv", told="csv")


@pytest.mark.parametrize("heading", FAR)
def test_a_layout_that_says_its_order_is_refused_where_the_robot_stands_in_the_other_alone(tmp_path, robot, heading):
    motion = standing(robot, heading)
    content = {"fps": 30, "root_pos": motion.root_pos, "root_rot": motion.root_quat, "dof_pos": motion.joint_pos}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content))
    with pytest.raises(ReadError, match="root_rot tips the robot over when read as xyzw, as this layout has it"):
        import_motion(tmp_path / "a.pkl", robot)
    (tmp_path / "b.pkl").write_bytes(pickle.dumps(content | {"root_rot": np.roll(motion.root_quat, -1, axis=1)}))
    assert_read(tmp_path / "b.pkl", robot, motion, "gmr")


def test_a_robot_that_walks_along_its_heading_stands_in_one_order_alone():
    """Turned about on the same path its soles slip, so a walk along x is read, too."""
    robot = load_robot("g1")
    walk = phuma.retarget(generate("walk", 3.0, 3).motion, robot, method="ik")
    ahead = rot.heading(walk.root_quat[:1])
    turned = replace(
        walk,
        root_quat=rot.multiply(rot.conjugate(ahead), walk.root_quat),
        root_pos=rot.rotate(rot.conjugate(ahead), walk.root_pos),
    )
    other = replace(turned, root_quat=np.roll(turned.root_quat, -1, axis=1))
    assert standing_share(robot, turned) > 0.6
    assert standing_share(robot, other) < 0.4 * standing_share(robot, turned)


def test_standing_is_upright_on_a_level_sole_that_does_not_slip(robot):
    still = standing(robot, 40.0)
    assert standing_share(robot, still) == 1.0
    time = np.arange(len(still))[:, None] / still.fps
    for speed, share in ((0.4, 1.0), (0.6, 0.0)):
        assert standing_share(robot, replace(still, root_pos=still.root_pos + speed * time * [1, 0, 0])) == share
    for lean, share in ((8.0, 1.0), (12.0, 0.0)):
        tilted = rot.multiply(still.root_quat, rot.from_axis("y", np.radians(lean)))
        assert standing_share(robot, replace(still, root_quat=tilted)) == share
    assert standing_share(robot, replace(still, root_pos=still.root_pos + [0, 0, 5.0])) == 1.0, (
        "the soles tell the ground"
    )
