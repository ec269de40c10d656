"""Laws of judging one rollout, against cases computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.errors import PhumaError
from phuma.evaluation import ERRORS, judge, metrics
from phuma.evaluation.metrics import first_failure
from phuma.robots import load_robot
from tests.dataset.exchange.made_up import Simulator, made_up
from tests.evaluation.tracking import following, g1, means, moved, reference

ALL = {"success_0.15": None, "success_0.5": None, "tracked": None}


def shifted(size, frames=slice(None)):
    """The reference with its root beside it by `size` (3,) in some frames."""
    place = reference().root_pos.copy()
    place[frames] += size
    return following(reference(), root_pos=place)


def scored(rollout, motion=None):
    return judge(rollout, reference() if motion is None else motion, g1(), "walk")


def test_who_does_what_the_reference_does_has_no_error_and_every_success():
    score = scored(following(reference()))
    assert score.failed_at == ALL
    assert (score.motion, score.category, score.frames, score.reason) == ("clip", "walk", 21, None)
    assert score.shares == {"success_0.15": 1.0, "success_0.5": 1.0, "tracked": 1.0, "progress": 1.0}
    assert means(score) == pytest.approx(dict.fromkeys(ERRORS, 0.0), abs=1e-9)
    counts = [count for _, count in score.errors.values()]
    assert counts == [21, 21, 20, 19, 21, 20, 19]


def test_a_shift_is_a_global_error_and_no_other():
    errors = means(scored(shifted([0.03, 0.0, -0.04])))
    assert errors.pop("mpjpe_global_mm") == pytest.approx(50.0)
    assert errors == pytest.approx(dict.fromkeys(errors, 0.0), abs=1e-9)


def test_a_wrong_heading_is_a_local_error_of_every_body_beside_the_root():
    """A point at distance d from the root's vertical axis moves by 2 d sin(angle / 2)."""
    angle, motion = 0.2, reference()
    turned = moved(motion, angle, [0, 0, 0])["root_quat"]
    errors = means(scored(following(motion, root_quat=turned)))
    place = Simulator(g1()).bodies(motion, list(g1().key_bodies))[0] - motion.root_pos[:, None]
    by_hand = 2000 * np.sin(angle / 2) * np.linalg.norm(place[..., :2], axis=-1).mean()
    assert by_hand > 5
    assert errors["mpjpe_local_mm"] == pytest.approx(by_hand)
    assert errors["mpjpe_global_mm"] == pytest.approx(by_hand)
    assert errors["dof_deg"] == 0.0


def test_a_wrong_velocity_is_a_velocity_error_of_that_size_and_no_acceleration_error():
    drift = np.outer(np.arange(21), [0.003, 0.004, 0.0])
    errors = means(scored(following(reference(), root_pos=reference().root_pos + drift)))
    assert errors["velocity_mm_per_frame"] == pytest.approx(5.0)
    assert errors["acceleration_mm_per_frame2"] == pytest.approx(0.0, abs=1e-9)
    assert errors["mpjpe_global_mm"] == pytest.approx(5.0 * 10)  # 0 to 20 steps of 5 mm


def test_a_wrong_acceleration_is_an_acceleration_error_of_that_size():
    drift = np.outer(np.arange(21) ** 2 / 2, [0.0, 0.0006, 0.0008])
    errors = means(scored(following(reference(), root_pos=reference().root_pos + drift)))
    assert errors["acceleration_mm_per_frame2"] == pytest.approx(1.0)
    assert errors["velocity_mm_per_frame"] == pytest.approx(np.mean(np.arange(20) + 0.5))


def test_joint_errors_are_means_over_joints_in_degrees():
    joints = reference().joint_pos.copy()
    joints[:, 28] += np.radians(2.9) * np.arange(21) ** 2  # one of 29 joints, at the end of a hand
    joints[:, 27] -= np.radians(2.9)
    errors = means(scored(following(reference(), joint_pos=joints)))
    assert errors["dof_deg"] == pytest.approx(0.1 * (np.mean(np.arange(21) ** 2) + 1))
    assert errors["dof_velocity_deg_per_frame"] == pytest.approx(0.1 * np.mean(2 * np.arange(20) + 1))
    assert errors["dof_acceleration_deg_per_frame2"] == pytest.approx(0.2)


def test_errors_are_means_over_bodies_of_distances():
    body, still = np.zeros((1, 2, 3)), np.zeros((1, 2, 3))
    body[0, 0], body[0, 1] = [0.003, 0.004, 0.0], [0.0, 0.0, -0.001]
    assert metrics.global_errors(body, still) == pytest.approx(3.0)
    assert metrics.local_errors(body, still, body[:, 0], still[:, 0]) == pytest.approx(np.sqrt(9 + 16 + 1) / 2)


@pytest.mark.parametrize(("size", "strict", "loose"), [(0.149, None, None), (0.151, 7, None), (0.501, 7, 7)])
def test_one_frame_too_far_away_is_a_failure_there(size, strict, loose):
    score = scored(shifted([0.0, size, 0.0], 7))
    assert score.failed_at == {"success_0.15": strict, "success_0.5": loose, "tracked": None}
    assert score.reason == (None if loose is None else "deviated")
    assert score.shares["progress"] == pytest.approx(1.0 if loose is None else 7 / 21)


@pytest.mark.parametrize("frame", [0, 20])
def test_the_first_and_the_last_frame_count(frame):
    assert scored(shifted([0.6, 0.0, 0.0], frame)).failed_at["success_0.5"] == frame


def test_only_what_is_more_than_the_threshold_is_too_far_away():
    deviation = np.array([0.1, 0.5, 0.2, 0.6, 0.7])
    assert first_failure(deviation, 5, None, 0.5) == 3
    assert first_failure(deviation, 5, None, 0.499) == 1
    assert first_failure(deviation, 5, None, np.inf) is None


def test_the_mean_over_bodies_is_judged_and_not_the_worst_of_them():
    """A hand far out of place is one body of fourteen."""
    joints = reference().joint_pos.copy()
    elbow = g1().joint_names.index("left_elbow_joint")
    joints[:, elbow] += 2.0
    score = scored(following(reference(), joint_pos=joints))
    assert score.failed_at == ALL
    assert means(score)["mpjpe_local_mm"] == pytest.approx(means(score)["mpjpe_global_mm"])
    assert means(score)["mpjpe_local_mm"] > 10


@pytest.mark.parametrize("frame", [0, 12, 20])
def test_a_termination_is_a_failure_even_at_the_last_frame(frame):
    score = scored(following(reference(), terminated_at=frame))
    assert score.failed_at == dict.fromkeys(ALL, frame)
    assert score.reason == "terminated"
    assert score.errors["mpjpe_global_mm"][1] == frame


def test_who_was_too_far_away_before_the_termination_has_failed_there():
    score = scored(replace(shifted([0.6, 0.0, 0.0], 7), terminated_at=12))
    assert score.failed_at == {"success_0.15": 7, "success_0.5": 7, "tracked": 12}
    assert score.reason == "deviated"


def test_a_rollout_that_stops_before_the_end_has_failed_there():
    whole = following(reference())
    score = scored(replace(whole, **{n: getattr(whole, n)[:20] for n in ("root_pos", "root_quat", "joint_pos")}))
    assert score.failed_at == dict.fromkeys(ALL, 20)
    assert (score.reason, score.frames) == ("stopped", 21)
    assert score.shares["progress"] == pytest.approx(20 / 21)
    assert score.errors["mpjpe_global_mm"][1] == 20


def test_the_state_at_a_termination_need_not_be_stored():
    whole = following(reference())
    short = replace(whole, **{n: getattr(whole, n)[:5] for n in ("root_pos", "root_quat", "joint_pos")})
    assert scored(replace(short, terminated_at=5)).reason == "terminated"


def test_what_happens_after_the_reference_s_end_does_not_count():
    longer = following(reference(30), root_pos=reference(30).root_pos + [[1.0 * (t > 20), 0, 0] for t in range(30)])
    for rollout in (longer, replace(longer, terminated_at=21)):
        score = scored(rollout, reference(21))
        assert score.failed_at == ALL
        assert means(score) == pytest.approx(dict.fromkeys(ERRORS, 0.0), abs=1e-9)


def test_frames_from_the_failure_on_are_not_averaged():
    far = shifted([0.01, 0.0, 0.0])
    place = far.root_pos.copy()
    place[9:] += [0.0, 0.7, 0.0]
    score = scored(replace(far, root_pos=place))
    assert means(score)["mpjpe_global_mm"] == pytest.approx(10.0)
    assert means(score)["velocity_mm_per_frame"] == pytest.approx(0.0, abs=1e-9)
    assert [count for _, count in score.errors.values()] == [9, 9, 8, 7, 9, 8, 7]


def test_numbers_do_not_depend_on_the_place_in_the_world():
    """Robot and reference both elsewhere and facing another way."""
    rng, motion = np.random.default_rng(0), reference()
    other = replace(motion, root_pos=motion.root_pos + 0.01 * rng.normal(size=(21, 3)))
    other = replace(other, joint_pos=motion.joint_pos + 0.02 * rng.normal(size=(21, 29)))
    here = means(scored(following(other)))
    there = means(
        scored(following(other, **moved(other, 2.0, [5, -7, 0.3])), replace(motion, **moved(motion, 2.0, [5, -7, 0.3])))
    )
    assert here["mpjpe_global_mm"] > 10
    assert there == pytest.approx(here)


def test_a_reference_at_another_rate_is_judged_at_fifty_frames_a_second():
    motion = made_up(g1(), frames=31, fps=30.0)
    score = scored(following(motion.resampled(50.0)), motion)
    assert (score.frames, score.failed_at) == (51, ALL)
    assert means(score) == pytest.approx(dict.fromkeys(ERRORS, 0.0), abs=1e-9)


def test_a_reference_with_joints_in_another_order_is_the_same_reference():
    score = scored(following(reference()), reference().reordered(reference().joint_names[::-1]))
    assert means(score) == pytest.approx(dict.fromkeys(ERRORS, 0.0), abs=1e-9)


def test_a_single_frame_has_a_position_and_no_velocity():
    score = scored(following(reference(1)), reference(1))
    assert score.failed_at == ALL
    assert [count for _, count in score.errors.values()] == [1, 1, 0, 0, 1, 0, 0]


def test_another_robot_is_refused():
    h1_2 = load_robot("h1_2")
    problem = "rollout of 'clip': it is of robot g1, its reference of h1_2, judged on h1_2; all three"
    with pytest.raises(PhumaError, match=problem):
        judge(following(reference()), made_up(h1_2, frames=21), h1_2)
    with pytest.raises(PhumaError, match="it is of robot g1, its reference of g1, judged on h1_2"):
        judge(following(reference()), reference(), h1_2)


def test_another_joint_order_is_refused():
    names = list(reference().joint_names)
    names[0], names[1] = names[1], names[0]
    with pytest.raises(
        PhumaError, match="its joint 0 is left_hip_roll_joint, that of g1 is left_hip_pitch_joint; give"
    ):
        scored(following(reference(), joint_names=tuple(names)))
    fewer = following(reference(), joint_names=reference().joint_names[:28], joint_pos=reference().joint_pos[:, :28])
    with pytest.raises(PhumaError, match="its joint 28 is missing, that of g1 is right_wrist_yaw_joint"):
        scored(fewer)


def test_another_rate_is_refused():
    with pytest.raises(PhumaError, match=r"it is at 100 Hz; .* give its states at 50 Hz"):
        scored(following(reference(), fps=100.0))
