"""What is seen at a point of a picture is there: a camera sees a place of the floor where the place is found again."""

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.errors import ConfigError
from phuma.viewer.floor import floor_point


def looking(position, at):
    """The rotation of a camera, z ahead and y down."""
    ahead = (at - position) / np.linalg.norm(at - position)
    right = np.cross(ahead, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    return rot.from_matrix(np.stack([right, np.cross(ahead, right), ahead], axis=1))


def test_a_place_is_found_where_a_camera_sees_it():
    dice = np.random.default_rng(0)
    for _ in range(50):
        position = dice.uniform([-5, -5, 0.5], [5, 5, 4])
        place = np.append(dice.uniform(-2, 2, 2), 0.0)
        wxyz = looking(position, place + dice.uniform(-0.2, 0.2, 3))
        fov, aspect = dice.uniform(0.4, 1.0), dice.uniform(0.6, 2.0)
        x, y, z = rot.rotate_back(wxyz, place - position)
        u, v = 0.5 + 0.5 * np.array([x / (z * aspect), y / z]) / np.tan(fov / 2)
        if 0 <= u <= 1 and 0 <= v <= 1:
            np.testing.assert_allclose(floor_point(position, wxyz, fov, aspect, u, v), place, atol=1e-9)


@pytest.mark.parametrize(
    ("u", "v", "says"),
    [
        (0.5, 0.0, "draw below the horizon"),
        (1.5, 0.9, "expected 0 to 1 across and down"),
        (float("nan"), 0.9, "expected 0 to 1"),
    ],
)
def test_where_no_floor_is_seen_is_told(u, v, says):
    position = np.array([0.0, -3.0, 1.0])
    with pytest.raises(ConfigError, match=says):
        floor_point(position, looking(position, np.array([0.0, 0.0, 1.0])), 0.8, 1.5, u, v)
