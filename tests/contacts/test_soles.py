"""Corners of the soles, and which of them can carry."""

import numpy as np
import pytest

from phuma.body import open_body
from phuma.contacts.soles import FASTEST, REACH, Soles, corner_points

FPS = 30.0


def test_corners_span_every_region():
    """A hull of the corners is as wide and as long as that of all points, but for a tenth."""
    body = open_body()
    corners = corner_points(body)
    assert len(set(corners)) == 16
    for r in range(4):
        own, points = corners[4 * r : 4 * r + 4], body.soles[22 * r : 22 * r + 22]
        assert (own // 22 == r).all()
        np.testing.assert_array_equal(np.ptp(body.soles[own], axis=0), np.ptp(points, axis=0))


@pytest.mark.parametrize(
    ("height", "speed", "carries"),
    [(0.0, 0.0, True), (REACH - 1e-3, 0.0, True), (REACH + 1e-3, 0.0, False), (-REACH + 1e-3, 0.0, True),
     (-REACH - 1e-3, 0.0, False), (0.0, FASTEST - 0.01, True), (0.0, FASTEST + 0.01, False)],
)  # fmt: skip
def test_a_sole_carries_at_the_floor_unless_it_swings(height, speed, carries):
    place = np.zeros((20, 16, 3))
    place[..., 0] = speed * np.arange(20)[:, None] / FPS
    place[..., 2] = 0.4 + height
    np.testing.assert_array_equal(Soles.of(place, FPS).carrying(0.4), carries)
