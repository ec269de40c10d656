"""The forces and contacts of robots, by the same estimator as people's."""

import numpy as np
import pytest

from phuma.contacts.robot_evidence import robot_evidence, robot_force
from phuma.core import rotations as rot
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import derivatives, inverse_dynamics
from phuma.robots.kinematics import body_poses
from phuma.robots.masses import masses_of
from tests.dataset.exchange.made_up import made_up


@pytest.mark.parametrize("name", ["g1", "h1_2"])
def test_the_force_is_that_of_inverse_dynamics(name):
    """Of a robot that nothing touches, which turns and swings its limbs: force and moment at its root."""
    robot = load_robot(name)
    path = made_up(robot, fps=1000.0)
    found = robot_force(masses_of(robot), *body_poses(robot, path), path.fps)
    wrench = inverse_dynamics(robot, path, derivatives(path), near_ground=-np.inf).residual
    force, moment = wrench[:, :3], rot.rotate(path.root_quat, wrench[:, 3:])
    about_centre = moment + np.cross(path.root_pos - found.centre, force)
    inner = slice(2, -2)
    for ours, theirs in (
        (found.vertical, force[:, 2]),
        (found.horizontal, force[:, :2]),
        (found.spin, np.stack([-about_centre[:, 1], about_centre[:, 0]], axis=1)),
    ):
        np.testing.assert_allclose(ours[inner], theirs[inner], atol=0.01 * np.abs(theirs).max())
    assert np.abs(about_centre).max() > 0.01, "the motion turns enough for moments to be compared"


def test_long_motions_are_posed_in_blocks_without_a_seam(monkeypatch):
    robot = load_robot("g1")
    path = made_up(robot, fps=30.0)
    whole = robot_evidence(robot, path)
    monkeypatch.setattr("phuma.contacts.blocks.BLOCK", 10)
    parts = robot_evidence(robot, path)
    for name in ("centre", "vertical", "horizontal", "spin"):
        np.testing.assert_allclose(getattr(parts.support.force, name), getattr(whole.support.force, name), atol=1e-9)
    np.testing.assert_allclose(parts.support.soles.position, whole.support.soles.position, atol=1e-12)
