"""Motions to learn from: what is kept of a recording, and which ones are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core import rotations as rot
from phuma.errors import PhumaError
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.robots import load_robot
from phuma.sim.reference import at_control_rate
from tests.learning.sample_motions import library, small_motions, stand, wandering

BUDGET = 4e9
"""bytes for the motions of 73 hours, the size of the paper's dataset"""


def left_out(robot, motion):
    """Why a library does not take this motion."""
    library = MotionLibrary(robot)
    library.add("clip", motion)
    assert not library.names
    [(name, reason)] = library.left_out
    assert name == "clip"
    return reason


def altered(motion, name, change):
    """With one array changed in place."""
    values = getattr(motion, name).copy()
    change(values)
    return replace(motion, **{name: values})


def test_what_moves_evenly_is_itself(g1):
    """A spline of straight lines is straight."""
    steady = np.linspace(0, 1, 61)[:, None]
    motion = replace(stand(g1, 2.0), root_pos=steady * [1.0, 2.0, 0.1] + [0, 0, 0.7])
    found = at_control_rate(motion)
    assert len(found) == 101
    np.testing.assert_allclose(found.root_pos[::5], motion.root_pos[::3], atol=1e-6)
    np.testing.assert_allclose(found.joint_pos, np.tile(motion.joint_pos[0], (101, 1)), atol=1e-6)


def test_a_flight_stays_ballistic(g1):
    """A parabola keeps its acceleration, h^2 a / 6 below itself."""
    time = np.arange(31) / 30
    fall = np.stack([time, 0 * time, 3 - 0.5 * 9.81 * time**2], axis=1)
    found = at_control_rate(replace(stand(g1, 1.0), root_pos=fall)).double().root_pos
    np.testing.assert_allclose(np.diff(found, 2, axis=0) * 50**2, np.tile([0, 0, -9.81], (49, 1)), atol=2e-3)
    np.testing.assert_allclose(found[::5, 2] - fall[::3, 2], -9.81 / 900 / 6, atol=1e-5)


def test_accelerations_lie_between_those_of_the_frames(g1):
    """Neither a take-off nor a landing makes the reference swing: no overshoot, whatever the motion."""
    motion = wandering(g1)
    rng = np.random.default_rng(0)
    rough = replace(motion, joint_pos=motion.joint_pos + rng.normal(0, 0.01, motion.joint_pos.shape))
    given = np.diff(rough.joint_pos, 2, axis=0) * 30**2
    found = np.diff(at_control_rate(rough).double().joint_pos, 2, axis=0) * 50**2
    assert (found.max(axis=0) <= given.max(axis=0) + 2e-2).all()
    assert (found.min(axis=0) >= given.min(axis=0) - 2e-2).all()


def test_between_frames_a_smooth_motion_is_itself(g1):
    """But for h^2 a / 6."""
    found, true = at_control_rate(wandering(g1, fps=30.0)), at_control_rate(wandering(g1, fps=50.0))
    np.testing.assert_allclose(found.root_pos, true.root_pos, atol=2e-3)
    np.testing.assert_allclose(found.joint_pos, true.joint_pos, atol=5e-3)
    turn = rot.to_rotvec(rot.multiply(rot.conjugate(found.root_quat), true.root_quat))
    np.testing.assert_allclose(turn, 0, atol=5e-3)
    np.testing.assert_allclose(np.linalg.norm(found.root_quat, axis=1), 1, atol=1e-6)


def test_the_motion_ends_with_the_recording_and_not_beyond_it(g1):
    for frames, expected in ((31, 51), (32, 52), (33, 54), (34, 56)):  # the last at 1.0, 1.033, 1.067, 1.1 s
        motion = stand(g1, (frames - 1) / 30)
        assert len(motion) == frames
        assert len(at_control_rate(motion)) == expected == len(motion.resampled(50.0))


def test_at_control_rate_nothing_is_changed(g1):
    motion = wandering(g1, fps=50.0)
    found = at_control_rate(motion)
    np.testing.assert_array_equal(found.joint_pos, motion.joint_pos.astype(np.float32))
    np.testing.assert_array_equal(found.root_pos, motion.root_pos.astype(np.float32))


def test_signs_of_quaternions_do_no_harm(g1):
    motion = wandering(g1)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(motion), 1))
    flipped = replace(motion, root_quat=signs * motion.root_quat)
    one, other = at_control_rate(motion), at_control_rate(flipped)
    np.testing.assert_allclose(np.abs((one.root_quat * other.root_quat).sum(1)), 1, atol=1e-6)
    library_of(g1, [("flipped", flipped, None)])  # and they are no jumps


def test_joints_are_in_the_robot_s_order_whatever_the_recording_s(g1):
    motion = wandering(g1)
    order = np.random.default_rng(0).permutation(g1.n_joints)
    other = motion.reordered(tuple(g1.joint_names[i] for i in order))
    np.testing.assert_array_equal(library(g1, a=other).motions[0].qpos, library(g1, a=motion).motions[0].qpos)


def test_motions_keep_their_names_categories_and_order(g1):
    motions = small_motions(g1)
    found = library_of(g1, [(name, motion, f"type of {name}") for name, motion in motions.items()])
    assert found.names == ["stand", "dip", "brief"]
    assert found.categories == ["type of stand", "type of dip", "type of brief"]
    assert [len(m) for m in found.motions] == [51, 81, 36]
    assert (len(found), found.frames, found.left_out) == (3, 168, [])


def test_a_joint_that_jumps_is_named_with_the_time(g1):
    def jump(joints):
        joints[16:, g1.joint_names.index("left_knee_joint")] += 2.0

    reason = left_out(g1, altered(stand(g1), "joint_pos", jump))
    limit = g1.velocity_limit[g1.joint_names.index("left_knee_joint")]
    assert reason == f"jumps at 0.50 s: left_knee_joint turns at 60 rad/s, more than twice its limit of {limit:g}"


def test_a_root_that_jumps_is_named_with_the_time(g1):
    def jump(place):
        place[10:, 1] += 0.5

    reason = left_out(g1, altered(stand(g1), "root_pos", jump))
    assert reason == "jumps at 0.30 s: the root moves at 15 m/s, more than 12"


def test_a_root_that_turns_at_once_is_named_with_the_time(g1):
    def jump(quat):
        quat[22:] = rot.multiply(rot.from_axis("z", np.array(1.5)), quat[22:])

    reason = left_out(g1, altered(stand(g1), "root_quat", jump))
    assert reason == "jumps at 0.70 s: the root turns at 45 rad/s, more than 30"


def test_what_a_robot_may_do_is_no_jump(g1):
    """Joints just at their limits, a sprint and a pirouette."""
    time = np.arange(31) / 30
    motion = stand(g1)
    still = motion.joint_pos[:1] + np.minimum(g1.velocity_limit, 5.0) * 0.2 * np.sin(time / 0.2)[:, None]
    place = motion.root_pos + np.outer(time, [9.0, 0.0, 0.0])
    quat = rot.from_axis("z", 15 * time)
    assert library(g1, quick=replace(motion, joint_pos=still, root_pos=place, root_quat=quat)).names == ["quick"]


def test_motions_of_other_robots_are_left_out(g1):
    assert left_out(g1, stand(load_robot("h1_2"))) == "is of robot h1_2, not g1"


def test_a_motion_without_some_joint_is_left_out(g1):
    motion = stand(g1)
    partial = replace(motion, joint_names=motion.joint_names[1:], joint_pos=motion.joint_pos[:, 1:])
    assert left_out(g1, partial) == f"has no joint {g1.joint_names[0]}"


def test_too_short_motions_are_left_out(g1):
    assert left_out(g1, stand(g1, 12 / 30)) == "lasts 0.43 s; at least 0.5 s are needed"
    assert library(g1, brief=stand(g1, 14 / 30)).names == ["brief"]


def test_one_bad_motion_does_not_keep_the_others_out(g1):
    motions = [("good", stand(g1), None), ("brief", stand(g1, 0.1), None), ("fine", stand(g1), None)]
    found = library_of(g1, motions)
    assert found.names == ["good", "fine"]
    assert [name for name, _ in found.left_out] == ["brief"]


def test_a_library_of_nothing_is_an_error_that_says_why(g1):
    with pytest.raises(PhumaError, match=r"no motion that a robot can be asked to follow: brief: lasts 0\.13 s"):
        library(g1, brief=stand(g1, 0.1))
    with pytest.raises(PhumaError, match="no motion that a robot can be asked to follow: there are none"):
        library_of(g1, [])


def test_a_frame_takes_144_bytes_so_73_hours_fit_into_memory(g1):
    found = library(g1)
    arrays = [a for m in found.motions for a in (m.root_pos, m.root_quat, m.joint_pos)]
    alive = {id(a if a.base is None else a.base): (a if a.base is None else a.base) for a in arrays}
    a_frame = sum(array.nbytes for array in alive.values()) / found.frames  # no larger array is kept alive behind them
    assert a_frame == 144
    assert a_frame * 73 * 3600 * 50 < BUDGET / 2
