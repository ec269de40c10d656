"""What was recorded stays with its joints and its frames."""

import numpy as np
import pytest

from phuma.core.performed_motion import PerformedMotion
from phuma.core.provenance import Provenance
from phuma.errors import PhumaError

NAMES = ("a", "b", "c")


def performed(frames=11, fps=50.0, **more):
    time = np.arange(frames)[:, None] / fps
    given = {
        "velocity": time + np.arange(9.0),
        "torque": 10 * time + np.arange(3.0),
        "foot_force": np.repeat(time, 6, axis=1).reshape(-1, 2, 3),
    }
    return PerformedMotion(
        "g1", NAMES, fps, np.zeros((frames, 3)), np.tile([1.0, 0, 0, 0], (frames, 1)), time + np.arange(3.0),
        contact=np.ones((frames, 4)), human_joints=None, provenance=Provenance("made up", "none"), **{**given, **more},
    )  # fmt: skip


def test_in_another_order_every_joint_keeps_what_is_its_own():
    motion = performed()
    other = motion.reordered(("c", "a", "b"))
    np.testing.assert_array_equal(other.torque, motion.torque[:, [2, 0, 1]])
    np.testing.assert_array_equal(other.velocity[:, :6], motion.velocity[:, :6])
    np.testing.assert_array_equal(other.velocity[:, 6:], motion.velocity[:, [8, 6, 7]])
    np.testing.assert_array_equal(other.foot_force, motion.foot_force)
    np.testing.assert_array_equal(other.reordered(NAMES).velocity, motion.velocity)


@pytest.mark.parametrize("fps", [25.0, 30.0, 100.0])
def test_at_another_rate_what_grows_with_time_still_does(fps):
    motion = performed().resampled(fps)
    time = np.arange(len(motion)) / fps
    np.testing.assert_allclose(motion.torque[:, 0], 10 * time, atol=1e-12)
    np.testing.assert_allclose(motion.velocity[:, 0], time, atol=1e-12)
    np.testing.assert_allclose(motion.foot_force[:, 1, 2], time, atol=1e-12)


def test_some_frames_are_some_frames_of_everything():
    motion = performed().frames(np.array([3, 3, 7]))
    np.testing.assert_allclose(motion.torque[:, 0], [0.6, 0.6, 1.4])
    assert (len(motion.velocity), len(motion.foot_force)) == (3, 3)


def test_what_was_not_recorded_stays_unknown():
    motion = performed(velocity=None, torque=None, foot_force=None)
    for other in (motion.resampled(30.0), motion.reordered(("c", "b", "a")), motion.frames(slice(2))):
        assert (other.velocity, other.torque, other.foot_force) == (None, None, None)


def test_a_torque_too_few_is_refused():
    with pytest.raises(PhumaError, match=r"torque has shape \(10, 3\); expected \(11, 3\)"):
        performed(torque=np.zeros((10, 3)))
