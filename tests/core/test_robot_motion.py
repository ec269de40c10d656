"""Laws of robot motions."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

import phuma
from phuma.errors import PhumaError
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.retargeting.measure import combine
from phuma.robots import load_robot
from tests.dataset.exchange.made_up import made_up, matrices

ARRAYS = ("root_pos", "root_quat", "joint_pos", "contact", "human_joints", "contact_used")


@pytest.fixture(scope="module")
def motion():
    whole = made_up(load_robot("g1"), frames=31, fps=30.0, turning=9.0)
    return replace(whole, contact_used=np.round(whole.contact))


def test_three_times_the_rate_keeps_the_frames_and_puts_two_evenly_between_each_two(motion):
    triple = motion.resampled(90.0)
    assert (len(triple), triple.fps) == (91, 90.0)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(triple, name)[::3], getattr(motion, name), atol=1e-12)
    for name in ("root_pos", "joint_pos", "contact", "human_joints"):
        values = getattr(motion, name)
        np.testing.assert_allclose(getattr(triple, name)[1::3], (values[1:] + 2 * values[:-1]) / 3, atol=1e-12)
    turns = matrices(triple.root_quat, "wxyz")
    steps = turns[1:] @ np.swapaxes(turns[:-1], 1, 2)
    for k in (1, 2):  # great arcs at constant speed: three times the same turn
        np.testing.assert_allclose(steps[k::3], steps[::3], atol=1e-9)
    assert set(np.unique(triple.contact_used)) <= {0.0, 1.0}


@pytest.mark.parametrize(("fps", "frames"), [(50.0, 51), (25.0, 26), (29.0, 30), (7.0, 8), (1000.0, 1001)])
def test_a_motion_ends_where_it_ended(motion, fps, frames):
    """A second from the first frame to the last."""
    other = motion.resampled(fps)
    assert len(other) == frames
    np.testing.assert_allclose(other.root_pos[[0, -1]], motion.root_pos[[0, -1]], atol=1e-9)


def test_rounding_does_not_cost_the_last_frame():
    """69 / 30 * 50 is a little less than 115."""
    assert len(made_up(load_robot("g1"), frames=70, fps=30.0).resampled(50.0)) == 116


def test_no_frame_is_made_up_beyond_the_last(motion):
    other = replace(motion, fps=31.0).resampled(50.0)
    assert (len(other) - 1) / 50 <= 30 / 31 < len(other) / 50


def test_the_same_rate_is_the_same_motion_and_one_frame_stays_one(motion):
    assert motion.resampled(30.0) is motion
    one = made_up(load_robot("g1"), frames=1).resampled(10.0)
    assert (len(one), one.fps) == (1, 10.0)


def test_a_motion_without_a_human_has_all_metrics_but_those_that_compare(motion):
    whole, bare = phuma.robot_metrics(motion), phuma.robot_metrics(replace(motion, human_joints=None))
    missing = set(whole) - set(bare)
    compared = ("error_cm", "error_deg", "speed_ratio")
    assert missing == {name for name in whole if "fidelity" in name or name.endswith(compared)}
    assert bare == {name: whole[name] for name in bare}


def test_metrics_of_many_count_for_those_that_have_them(motion):
    whole, bare = phuma.robot_metrics(motion), phuma.robot_metrics(replace(motion, human_joints=None))
    for scores in ([whole, bare], [bare, whole]):
        total = combine(scores)
        assert total["position_error_cm"] == pytest.approx(whole["position_error_cm"])
        assert total["frames"] == 2 * len(motion)
    assert "fidelity" not in combine([bare, bare])


def test_files_without_the_human_s_name_are_read(tmp_path, motion):
    save_robot_motion(tmp_path / "a.npz", replace(motion, human_joints=None))
    data = dict(np.load(tmp_path / "a.npz"))
    assert data.pop("human_joints").shape == (0, 22, 3)
    np.savez(tmp_path / "b.npz", **data)
    for name in ("a", "b"):
        back = load_robot_motion(tmp_path / f"{name}.npz")
        assert back.human_joints is None
        assert len(back) == len(motion)
    with pytest.raises(PhumaError, match=r"human_joints has shape \(31, 21, 3\); expected \(frames, 22, 3\)"):
        replace(motion, human_joints=motion.human_joints[:, 1:])
