"""Paths begin at the robot, lead ahead, and are walked at their speed; what is no path is named."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.core.rotations import rotate
from phuma.errors import ConfigError, PhumaError
from phuma.learning.motions.path_walks import LEAN, STEP, path_motion
from phuma.learning.motions.paths import RADIUS, named_path
from phuma.robots.check import stand


@pytest.mark.parametrize("text", ["circle", "figure-eight", "0,0 0,4", "5,5 4,5 4,9"])
def test_a_path_begins_at_the_robot_and_leads_ahead(g1, text):
    motion = path_motion(named_path(text), g1, 0.7)
    np.testing.assert_allclose(motion.root_pos[0, :2], 0, atol=1e-9)
    ahead = rotate(motion.root_quat, np.tile([1.0, 0, 0], (len(motion), 1)))
    np.testing.assert_allclose(ahead[0], [np.cos(LEAN), 0, -np.sin(LEAN)], atol=1e-6)
    speed = 50 * np.linalg.norm(np.diff(motion.root_pos, axis=0), axis=1)
    assert speed[:5].max() < 0.05
    assert speed[-5:].max() < 0.05
    assert np.median(speed) == pytest.approx(0.7, rel=0.1)
    assert speed.max() < 0.8
    walking = speed > 0.3
    way = np.diff(motion.root_pos, axis=0)[walking]
    facing = (way * ahead[:-1][walking]).sum(1) / np.linalg.norm(way, axis=1)
    assert facing.min() > 0.7


def test_a_path_is_walked_from_its_first_point_to_its_last_with_a_pelvis_that_steps(g1):
    motion = path_motion(named_path("0,0 4,0"), g1, 0.7)
    np.testing.assert_allclose(motion.root_pos[-1, :2], [4, 0], atol=1e-9)
    tall = motion.root_pos[0, 2]
    soles = rotate(motion.root_quat[0], stand(g1, motion.joint_pos[0]).corners)[..., 2] + tall
    np.testing.assert_allclose(soles, 0, atol=1e-3)  # it stands on level soles
    assert tall > g1.default_height
    walking = motion.root_pos[100:-100]
    aside = walking[:, 1]
    assert 0.005 < aside.max() < 0.02
    np.testing.assert_allclose(aside.min(), -aside.max(), rtol=0.1)
    stride = round(2 * STEP * 50)
    np.testing.assert_allclose(aside[stride:], aside[:-stride], atol=1e-9)
    assert walking[:, 2].max() < tall
    for still in (motion.root_pos[:20], motion.root_pos[-20:]):
        np.testing.assert_allclose(still, np.broadcast_to(still[0], still.shape), atol=1e-9)


def test_a_circle_is_round_and_goes_round_as_long_as_asked(g1):
    motion = path_motion(named_path("circle"), g1, 0.7, seconds=30.0)
    assert len(motion) == 1501
    far = np.linalg.norm(motion.root_pos[200:1400, :2] - [0, RADIUS], axis=1)
    np.testing.assert_allclose(far, RADIUS, atol=0.1)


def test_a_path_is_read_from_a_table(g1, tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("x,y\n1,1\n2,1\n2,3\n")
    np.testing.assert_array_equal(named_path(str(file)), [[1, 1], [2, 1], [2, 3]])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,0", "has one point; a path needs at least two"),
        ("0,0 nan,1", r"point 2 is \[nan, 1.0\]; coordinates have to be finite"),
        ("0,0 0,0.01", "is 0.01 m long; at least 0.1 m"),
        ("square", "expected circle, figure-eight, a .csv"),
        ("1,0 2,b", "has a point that is no pair of numbers"),
        ("nowhere.csv", "does not exist"),
        ("", "expected circle, figure-eight, a .csv"),
        ("0,0 2,0 1,0", r"turns back on itself at 2,0, by 180 deg; .* at most 150 deg"),
    ],
)
def test_what_is_no_path_is_named(text, told):
    with pytest.raises(PhumaError, match=told):
        named_path(text)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "has no point"),
        ("x,y\n", "has no point"),
        ("1,2\n", "has one point"),
        ("1;2\n", "no table"),
        ("walk to the door\nand back\n", "no table of x,y in m with a row per point: line 2 is 'and back'"),
        ("x,y\n0,0\n1,b\n", "line 3 is '1,b'"),
        ("nan,0\n1,0\n2,0\n", r"point 1 is \[nan, 0.0\]; coordinates have to be finite"),
        ("0,0\n1,inf\n", "coordinates have to be finite"),
    ],
)
def test_a_table_that_is_no_path_is_named(tmp_path, content, told):
    file = tmp_path / "path.csv"
    file.write_text(content)
    with pytest.raises(PhumaError, match=told):
        named_path(str(file))


@pytest.mark.parametrize("text", ["0,0 1,0 1,1 0,1 0,0 -1,0", "0,0 0,0 1,0 1,0 1,1", "0,0 2,0 1,1 1,-1"])
def test_a_path_through_its_own_start_or_across_itself_is_walked_as_any_other(g1, text):
    motion = path_motion(named_path(text), g1, 0.7)
    ahead = rotate(motion.root_quat, np.tile([1.0, 0, 0], (len(motion), 1)))
    turn = np.arccos(np.clip((ahead[1:] * ahead[:-1]).sum(-1), -1, 1))
    assert turn.max() < 0.2
    assert 50 * np.linalg.norm(np.diff(motion.root_pos, axis=0), axis=1).max() < 0.8


@pytest.mark.parametrize("speed", [0.0, -1.0, 3.5, float("nan")])
def test_a_speed_that_nobody_walks_is_named(g1, speed):
    with pytest.raises(ConfigError, match="more than 0 and at most 3 m/s"):
        path_motion(named_path("circle"), g1, speed)
