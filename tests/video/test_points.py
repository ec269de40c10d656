"""Points in space: the same body is fitted, whatever a tool calls them."""

import numpy as np
import pytest

from phuma.core.human_motion import HumanMotion
from phuma.errors import PhumaError
from phuma.video import windows
from phuma.video.landmarks import NAMES
from phuma.video.markers import marker_positions
from phuma.video.points import marker_of, motion_of_points
from tests.video.filming import LIKE, walker

OPENCAP = (
    "Neck", "RShoulder", "RElbow", "RWrist", "LShoulder", "LElbow", "LWrist", "midHip", "RHip", "RKnee", "RAnkle",
    "LHip", "LKnee", "LAnkle", "LBigToe", "LSmallToe", "LHeel", "RBigToe", "RSmallToe", "RHeel",
)  # fmt: skip


@pytest.fixture(scope="module")
def walk() -> HumanMotion:
    return walker("walk", 2.0)


def points_of(motion: HumanMotion, names: tuple[str, ...]) -> np.ndarray:
    return marker_positions(motion, names, motion.body.shape["stature"])


def away(a: HumanMotion, b: HumanMotion) -> np.ndarray:
    return np.linalg.norm(a.pose.position - b.pose.position, axis=-1)


def test_a_motion_comes_back_from_its_points_where_it_was(walk):
    found = motion_of_points(points_of(walk, LIKE), NAMES, walk.fps)
    assert away(found, walk).mean() < 0.01
    assert found.body.shape["stature"] == pytest.approx(walk.body.shape["stature"], rel=0.03)
    assert found.fps == walk.fps


def test_names_of_other_tools_are_understood(walk):
    names = tuple(marker_of(n) or "" for n in OPENCAP)
    assert "" not in names
    found = motion_of_points(points_of(walk, names), OPENCAP, walk.fps)
    assert away(found, walk)[:, :12].mean() < 0.02


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("left_hip", "left_hip"), ("LHip", "left_hip"), ("l hip", "left_hip"), ("Left Foot Index", "left_foot_index"),
        ("RBigToe", "right_big_toe"), ("r_small_toe", "right_small_toe"), ("MidHip", "mid_hip"), ("Hip", "mid_hip"),
        ("mouth_left", "mouth_left"), ("Nose", "nose"), ("r_thigh1_study", None), ("", None),
    ],
)  # fmt: skip
def test_spelling_does_not_matter(name, here):
    assert marker_of(name) == here


def test_missing_points_are_listed(walk):
    points = points_of(walk, LIKE)
    names = [n for n in NAMES if n not in ("left_knee", "right_wrist")]
    with pytest.raises(PhumaError, match=r"right_wrist, left_knee are missing"):
        motion_of_points(points[:, [NAMES.index(n) for n in names]], names, walk.fps)
    points[: len(points) // 2 + 1, NAMES.index("left_hip")] = np.nan
    with pytest.raises(PhumaError, match="left_hip are missing, or known in less than half"):
        motion_of_points(points, NAMES, walk.fps)


def test_points_that_are_gone_for_a_while_are_bridged(walk):
    points = points_of(walk, LIKE)
    points[20:30, NAMES.index("left_wrist")] = np.nan
    points[0:4, NAMES.index("nose")] = np.nan
    found = motion_of_points(points, NAMES, walk.fps)
    assert away(found, walk).mean() < 0.015


def test_arrays_of_another_shape_are_refused(walk):
    with pytest.raises(PhumaError, match=r"expected \(frames, 33, 3\)"):
        motion_of_points(np.zeros((4, 12, 3)), NAMES, 30.0)


def test_a_long_recording_is_solved_in_windows(walk, monkeypatch):
    points = points_of(walk, LIKE)
    whole = motion_of_points(points, NAMES, walk.fps)
    monkeypatch.setattr(windows, "WINDOW", 30)
    monkeypatch.setattr(windows, "OVERLAP", 8)
    joined = motion_of_points(points, NAMES, walk.fps)
    assert len(joined) == len(walk)
    assert away(joined, whole).mean() < 0.015


def test_one_frame_is_a_pose(walk):
    found = motion_of_points(points_of(walk, LIKE)[:1], NAMES, walk.fps)
    assert away(found, walk.frames(0, 1)).mean() < 0.03
