"""Laws of trajectories: what a robot did is the same in whatever order, precision and coordinates it is held."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.errors import PhumaError

ARRAYS = ("root_pos", "root_quat", "joint_pos")


def arrays(dtype=float):
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(7, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return [a.astype(dtype) for a in (rng.normal(size=(7, 3)), quat, rng.normal(size=(7, 2)))]


def path(dtype=float):
    return Trajectory("g1", ("hip", "knee"), 30.0, *arrays(dtype))


def test_mujoco_s_coordinates_hold_the_root_first_then_the_joints():
    qpos = path().qpos
    assert qpos.shape == (7, 9)
    np.testing.assert_array_equal(qpos, np.concatenate(arrays(), axis=1))
    for part, own in zip(split_qpos(qpos), arrays()):
        np.testing.assert_array_equal(part, own)


def test_nobody_else_knows_where_in_them_the_root_s_rotation_is():
    """But for the simulators, whose own they are."""
    source = Path(phuma.__file__).parent
    knowing = {file.relative_to(source) for file in source.rglob("*.py") if re.search(r"\b3:7\b", file.read_text())}
    assert Path("core/trajectory.py") in knowing
    assert {file for file in knowing if file.parts[0] != "sim"} == {Path("core/trajectory.py")}


def test_single_precision_stays_so_unless_a_part_is_double():
    single = path(np.float32)
    assert {getattr(single, name).dtype for name in ARRAYS} == {np.dtype(np.float32)}
    assert single.qpos.dtype == np.float32
    double = single.double()
    assert double.qpos.dtype == float
    np.testing.assert_array_equal(double.qpos, single.qpos)
    assert double.double() is double
    mixed = replace(single, joint_pos=single.joint_pos.astype(float))
    assert {getattr(mixed, name).dtype for name in ARRAYS} == {np.dtype(float)}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (RobotMotion, {"contact": np.ones((7, 4)), "human_joints": None, "provenance": Provenance("made up", "test")}),
        (Rollout, {"motion": "walk", "terminated_at": 6}),
    ],
)
def test_motions_and_rollouts_are_trajectories_in_double_precision(kind, more):
    single = path(np.float32)
    found = kind.of(single, **more)
    assert isinstance(found, Trajectory)
    assert found.qpos.dtype == float
    np.testing.assert_array_equal(found.qpos, single.qpos)
    assert (found.robot, found.joint_names, found.fps) == (single.robot, single.joint_names, single.fps)
    np.testing.assert_array_equal(Trajectory.of(found).qpos, single.qpos)
    for name, value in more.items():
        np.testing.assert_array_equal(getattr(found, name), value)


def test_nobody_changes_a_trajectory_from_outside():
    given = arrays()
    held = Trajectory("g1", ("hip", "knee"), 30.0, *given)
    for name, array in zip(ARRAYS, given):
        before = getattr(held, name).copy()
        array[:] = 9.0
        np.testing.assert_array_equal(getattr(held, name), before)
        with pytest.raises(ValueError, match="read-only"):
            getattr(held, name)[0] = 0.0


def test_joints_in_another_order_are_the_same_joints():
    turned = path().reordered(["knee", "hip"])
    assert turned.joint_names == ("knee", "hip")
    np.testing.assert_array_equal(turned.joint_pos, path().joint_pos[:, ::-1])
    np.testing.assert_array_equal(turned.reordered(("hip", "knee")).qpos, path().qpos)
    assert turned.reordered(turned.joint_names) is turned
    with pytest.raises(PhumaError, match="no joint 'ankle' in this motion; it has knee, hip"):
        turned.reordered(("ankle",))


def test_frames_are_those_that_are_named_as_often_as_they_are():
    rows = np.array([0, 2, 2, 6])
    np.testing.assert_array_equal(path().frames(rows).qpos, path().qpos[rows])
    np.testing.assert_array_equal(path().frames(slice(3)).qpos, path().qpos[:3])
    assert path(np.float32).frames(rows).qpos.dtype == np.float32


def test_what_does_not_fit_together_is_refused():
    whole = path()
    with pytest.raises(PhumaError, match=r"arrays of a robot's trajectory have \[6, 7, 7\] frames"):
        replace(whole, root_pos=whole.root_pos[1:])
    with pytest.raises(PhumaError, match="at least 1"):
        whole.frames(slice(0))
    with pytest.raises(PhumaError, match=r"joint_pos has shape \(7, 2\); expected \(frames, 1\)"):
        replace(whole, joint_names=("hip",))
    for dtype in (float, np.float32):
        with pytest.raises(PhumaError, match="quaternions must have length 1"):
            replace(path(dtype), root_quat=2 * path(dtype).root_quat)
        with pytest.raises(PhumaError, match=r"root_pos holds nan at index \(0, 0\)"):
            replace(path(dtype), root_pos=np.nan * path(dtype).root_pos)
    motion = RobotMotion.of(whole, contact=np.ones((7, 4)), human_joints=None, provenance=Provenance("a", "b"))
    with pytest.raises(PhumaError, match=r"arrays of a robot motion have \[7, 6, 7\] frames"):
        replace(motion, contact=motion.contact[1:])
