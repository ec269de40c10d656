"""What stands, before gravity is known well."""

import numpy as np
import pytest

from phuma.video.standing import resting

FRAMES, LEAST = 60, 24
AWAY, ACROSS, UP = range(3)


def trembling(axis: int, metres: float) -> np.ndarray:
    soles = np.zeros((FRAMES, 1, 3))
    soles[:, 0, axis] = metres * np.where(np.arange(FRAMES) % 2, 1.0, -1.0)
    return soles


def test_a_sole_rests_though_its_depth_trembles():
    assert resting(trembling(AWAY, 0.05), LEAST).all()


@pytest.mark.parametrize(("axis", "metres"), [(AWAY, 0.12), (ACROSS, 0.05), (UP, 0.05)])
def test_a_sole_that_is_seen_to_move_does_not_rest(axis, metres):
    assert not resting(trembling(axis, metres), LEAST).any()


def test_a_step_ends_one_rest_and_begins_another():
    soles = np.zeros((FRAMES, 1, 3))
    soles[FRAMES // 2 :, 0, ACROSS] = 0.5
    rests = resting(soles, LEAST)[:, 0]
    assert rests.all()
    assert not resting(soles, FRAMES // 2 + 4).any()


def test_one_moment_is_no_rest():
    assert not resting(np.zeros((LEAST - 1, 1, 3)), LEAST).any()
