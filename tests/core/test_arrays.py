"""Arrays of the frozen types: of their shape, finite, not too large, and nobody else's."""

import tracemalloc

import numpy as np
import pytest

from phuma.core.arrays import LARGEST, checked, checked_unit
from phuma.errors import PhumaError


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.nan, "every value must be finite"),
        (np.inf, "every value must be finite"),
        (-np.inf, "every value must be finite"),
        (1e300, "expected at most 1e[+]09"),
        (-1.001 * LARGEST, "expected at most 1e[+]09"),
    ],
)
def test_a_value_that_nothing_can_be_computed_from_is_told_with_its_place(value, says):
    array = np.zeros((4, 3))
    array[2, 1] = value
    with pytest.raises(PhumaError, match=rf"root_pos holds .* at index \(2, 1\); {says}"):
        checked("root_pos", array, ("frames", 3))


def test_all_others_come_through_and_cannot_be_changed():
    array = np.array([[LARGEST, -LARGEST, 0.0]])
    out = checked("root_pos", array, ("frames", 3))
    np.testing.assert_array_equal(out, array)
    array[0, 0] = 1.0
    assert out[0, 0] == LARGEST
    assert not out.flags.writeable
    assert checked("root_pos", np.zeros((0, 3)), ("frames", 3)).shape == (0, 3)


def test_the_rotations_of_a_long_recording_are_checked_in_little_memory():
    quat = np.zeros((200_000, 22, 4), dtype=np.float32)
    quat[..., 0] = 1.0
    quat[150_000, 7, 0] = 1.01
    quat.flags.writeable = False
    tracemalloc.start()
    with pytest.raises(PhumaError, match=r"joint_quat at index \(150000, 7\) has length 1.01"):
        checked_unit("joint_quat", quat, ("frames", 22, 4), dtype=np.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < quat.nbytes / 2.5, "as much as the lengths of all of them, twice, would take"
