"""The picture of a robot shows it as it is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("mujoco")
import mujoco

from phuma.robots import load_robot
from phuma.viewer import style
from phuma.viewer.robot_picture import FRONT, SIDE, draw, pose_on_page, robot_picture

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def robot():
    return load_robot("h1_2")


def lines(robot, view) -> dict[str, list[np.ndarray]]:
    """What is drawn, by colour."""
    ax = style.figure(4, 4).subplots()
    draw(ax, pose_on_page(robot, robot.shared_pose, view), view)
    out: dict[str, list[np.ndarray]] = {}
    for line in ax.lines:
        out.setdefault(line.get_color(), []).append(np.stack(line.get_data(), axis=-1))
    return out


def test_from_the_front_left_is_to_the_right_and_blue(robot):
    drawn = lines(robot, FRONT)
    assert all((limb[1:, 0] > 0).all() for limb in drawn[style.LEFT])
    assert all((limb[1:, 0] < 0).all() for limb in drawn[style.RIGHT])


def test_from_the_side_the_robot_looks_to_the_right_and_stands_on_the_ground(robot):
    for sole in lines(robot, SIDE)[style.CONTACT]:
        np.testing.assert_allclose(sole[:, 1], 0, atol=1e-3)
        assert sole[:, 0].max() > -1.5 * sole[:, 0].min() > 0


def test_limbs_are_drawn_as_long_as_they_are(robot):
    leg, arm = lines(robot, FRONT)[style.LEFT]
    assert np.linalg.norm(leg[3] - leg[2]) == pytest.approx(0.4, abs=2e-3)
    assert leg[0].tolist() == arm[0].tolist()


def test_every_shape_for_the_eye_is_drawn(robot):
    model = mujoco.MjModel.from_xml_path(str(robot.model_file))
    assert len(pose_on_page(robot, robot.default_pose, SIDE).outlines) == (model.geom_group == 2).sum()


def test_the_picture_is_written(robot, tmp_path):
    robot_picture(tmp_path / "robot.png", robot)
    assert (tmp_path / "robot.png").read_bytes().startswith(b"\x89PNG")
