"""A path that is drawn is where it was drawn, and one that grows or shrinks goes on without a jump."""

from __future__ import annotations

import numpy as np
import pytest

from phuma.core.rotations import rotate
from phuma.errors import ConfigError
from phuma.learning.motions.drawn_paths import cut, drawn_path, frame_after

POINTS = np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 5.0], [6.0, 5.0]])


def far_from(place, points):
    """(T,) m from places (T, 2) to a path."""
    start, way = points[:-1], np.diff(points, axis=0)
    share = ((place[:, None] - start) * way).sum(-1) / (way**2).sum(-1)
    nearest = start + np.clip(share, 0, 1)[..., None] * way
    return np.linalg.norm(place[:, None] - nearest, axis=-1).min(axis=1)


@pytest.mark.parametrize("heading", [0.0, 1.5, -3.0, 9.0])
def test_it_begins_where_the_robot_is_and_goes_where_it_was_drawn(g1, heading):
    motion = drawn_path(POINTS, g1, 0.8, heading).motion
    np.testing.assert_allclose(motion.root_pos[[0, -1], :2], POINTS[[0, -1]], atol=1e-6)
    assert far_from(motion.root_pos[:, :2], POINTS).max() < 0.15
    ahead = rotate(motion.root_quat, np.tile([1.0, 0, 0], (len(motion), 1)))[:, :2]
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    np.testing.assert_allclose(ahead[0], [np.cos(heading), np.sin(heading)], atol=1e-9)
    np.testing.assert_allclose(ahead[-1], [1, 0], atol=1e-6)
    turn = np.arccos(np.clip((ahead[1:] * ahead[:-1]).sum(-1), -1, 1))
    assert turn.max() < 0.1, "it turns on the spot no faster than in three quarters of a second by half"


@pytest.mark.parametrize("speed", [0.4, 1.2])
def test_a_path_that_grows_or_changes_its_speed_goes_on_where_it_was(g1, speed):
    before = drawn_path(POINTS, g1, 0.8, 0.0)
    after = drawn_path(np.concatenate([POINTS, [[6.0, 9.0]]]), g1, speed, 0.0)
    step = 1.5 * max(0.8, speed) / 50
    for frame in range(0, len(before.way), 7):
        found = frame_after(before, frame, after)
        assert abs(after.way[found] - before.way[frame]) < step
        jump = np.linalg.norm(after.motion.root_pos[found, :2] - before.motion.root_pos[frame, :2])
        near_the_end = before.way[-1] - before.way[frame] < 0.5  # where the path now bends
        assert jump < step + 0.06 + 0.1 * near_the_end, "and a pelvis that may be over the other foot"
    still = [frame_after(before, frame, after) for frame in range(25)]
    assert still == list(range(25)), "it does not stand again for as long"


def test_a_path_is_cut_where_it_is_so_long():
    np.testing.assert_allclose(cut(POINTS, 3.0), [[1, 2], [3, 2], [3, 3]])
    np.testing.assert_allclose(cut(POINTS, 2.0), [[1, 2], [3, 2]])
    np.testing.assert_allclose(cut(POINTS, 99.0), POINTS)


def test_what_cannot_be_walked_is_named(g1):
    with pytest.raises(ConfigError, match="the path turns back on itself at 2,0, by 180 deg"):
        drawn_path(np.array([[0.0, 0], [2, 0], [1, 0]]), g1, 0.7, 0.0)
