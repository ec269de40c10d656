"""Rollouts and their files."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError, ReadError
from phuma.formats.robot_motion_file import is_robot_motion
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.io.probe import Probe

ARRAYS = ("root_pos", "root_quat", "joint_pos")


@pytest.fixture
def rollout():
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(7, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return Rollout("g1", ("hip", "knee"), 50.0, rng.normal(size=(7, 3)), quat, rng.normal(size=(7, 2)), "walk/01")


@pytest.mark.parametrize("terminated_at", [None, 0, 6, 7])
def test_what_is_saved_is_loaded_and_saved_again_the_same(tmp_path, rollout, terminated_at):
    save_rollout(tmp_path / "a.npz", replace(rollout, terminated_at=terminated_at))
    loaded = load_rollout(tmp_path / "a.npz")
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(loaded, name), getattr(rollout, name), atol=1e-6)
    assert (loaded.motion, loaded.robot, loaded.joint_names) == ("walk/01", "g1", ("hip", "knee"))
    assert (loaded.fps, loaded.terminated_at) == (50.0, terminated_at)
    save_rollout(tmp_path / "b.npz", loaded)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_path_that_it_was_to_walk_is_kept_and_one_that_is_none_is_named(tmp_path, rollout):
    save_rollout(tmp_path / "a.npz", replace(rollout, report={"path": [[0.0, 0.0], [1.5, -2.0]]}))
    assert load_rollout(tmp_path / "a.npz").report["path"] == [[0.0, 0.0], [1.5, -2.0]]
    for wrong in ([[0.0]], [[0.0, "a"]], "circle", [1.0, 2.0], [[1.0, 2.0, 3.0]], [[None, 1.0]]):
        save_rollout(tmp_path / "b.npz", replace(rollout, report={"path": wrong}))
        with pytest.raises(ReadError, match=r"b\.npz.*is damaged: meta: .*path"):
            load_rollout(tmp_path / "b.npz")


def test_files_of_version_1_are_read(tmp_path, rollout):
    """They call the frame rate `rate`."""
    save_rollout(tmp_path / "a.npz", replace(rollout, fps=25.0, terminated_at=6))
    arrays = dict(np.load(tmp_path / "a.npz"))
    assert int(arrays["version"]) == 5
    np.savez(tmp_path / "b.npz", **({"rate": arrays.pop("fps")} | arrays | {"version": np.array(1)}))
    new, old = load_rollout(tmp_path / "a.npz"), load_rollout(tmp_path / "b.npz")
    assert (old.fps, old.motion, old.terminated_at) == (new.fps, new.motion, new.terminated_at) == (25.0, "walk/01", 6)
    np.testing.assert_array_equal(old.qpos, new.qpos)


@pytest.mark.parametrize("lateness", [0.0, 50.0, np.inf])
def test_the_law_of_its_feedback_is_kept_and_files_before_version_5_have_none(tmp_path, rollout, lateness):
    save_rollout(tmp_path / "a.npz", replace(rollout, lateness=lateness, regulator="damped"))
    loaded = load_rollout(tmp_path / "a.npz")
    for kept in (loaded, loaded.reordered(("knee", "hip"))):
        assert (kept.lateness, kept.regulator) == (lateness, "damped")
    save_rollout(tmp_path / "b.npz", loaded)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    arrays = dict(np.load(tmp_path / "a.npz"))
    del arrays["lateness"], arrays["regulator"]
    np.savez(tmp_path / "c.npz", **(arrays | {"version": np.array(4)}))
    assert (load_rollout(tmp_path / "c.npz").lateness, load_rollout(tmp_path / "c.npz").regulator) == (None, None)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, -np.inf])
def test_a_weight_that_is_none_is_refused(tmp_path, rollout, wrong):
    with pytest.raises(PhumaError, match=f"lateness is {wrong}; expected 0 or more"):
        replace(rollout, lateness=wrong)
    save_rollout(tmp_path / "a.npz", replace(rollout, lateness=1.0))
    np.savez(tmp_path / "b.npz", **(dict(np.load(tmp_path / "a.npz")) | {"lateness": np.array(wrong)}))
    with pytest.raises(ReadError, match=r"b\.npz: lateness is"):
        load_rollout(tmp_path / "b.npz")


def test_some_frames_of_a_rollout_or_another_rate_are_a_path_that_ends_nowhere(rollout):
    ended = replace(rollout, terminated_at=7)
    for path in (ended.frames(slice(2)), ended.resampled(25.0)):
        assert type(path) is Trajectory
    assert ended.reordered(("knee", "hip")).terminated_at == 7


def test_a_rollout_is_not_taken_for_a_robot_motion(tmp_path, rollout):
    save_rollout(tmp_path / "a.npz", rollout)
    assert not is_robot_motion(Probe(tmp_path / "a.npz"))


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named(tmp_path, rollout, name, value):
    broken = getattr(rollout, name).astype(np.float32)
    broken[3, 1] = value
    with pytest.raises(PhumaError, match=rf"{name} holds {value} at index \(3, 1\)"):
        replace(rollout, **{name: broken})
    save_rollout(tmp_path / "a.npz", rollout)
    np.savez(tmp_path / "b.npz", **(dict(np.load(tmp_path / "a.npz")) | {name: broken}))
    with pytest.raises(ReadError, match=rf"b\.npz: {name} holds {value} at index"):
        load_rollout(tmp_path / "b.npz")


def test_arrays_that_do_not_fit_together_are_refused(rollout):
    with pytest.raises(PhumaError, match=r"have \[6, 7, 7\] frames; they need the same number"):
        replace(rollout, root_pos=rollout.root_pos[1:])
    with pytest.raises(PhumaError, match=r"joint_pos has shape \(7, 2\); expected \(frames, 3\)"):
        replace(rollout, joint_names=("a", "b", "c"))
    with pytest.raises(PhumaError, match="at least 1"):
        replace(rollout, **{name: getattr(rollout, name)[:0] for name in ARRAYS})
    with pytest.raises(PhumaError, match="quaternions must have length 1"):
        replace(rollout, root_quat=2 * rollout.root_quat)


@pytest.mark.parametrize("frame", [-1, 8])
def test_a_termination_beyond_the_rollout_is_refused(rollout, frame):
    with pytest.raises(PhumaError, match=f"terminated_at is {frame}; this rollout has frames 0 to 6"):
        replace(rollout, terminated_at=frame)


def test_files_of_another_kind_or_cut_short_say_so(tmp_path, rollout):
    path = tmp_path / "a.npz"
    save_rollout(path, rollout)
    arrays = dict(np.load(path))
    for change, problem in (
        ({"format": "phuma-walk"}, "is of format 'phuma-walk'; expected 'phuma-rollout'"),
        ({"version": 6}, "is of version 6, newer than this program's 5"),
        ({"terminated_at": np.arange(2)}, "is damaged: ValueError"),
        ({"terminated_at": -2}, "terminated_at is -2"),
        ({"fps": "fast"}, "is damaged: ValueError"),
    ):
        np.savez(tmp_path / "b.npz", **(arrays | change))
        with pytest.raises(ReadError, match=problem):
            load_rollout(tmp_path / "b.npz")
    arrays.pop("terminated_at")
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(ReadError, match=r"is not a rollout \(phuma-rollout\), which has the arrays format, version"):
        load_rollout(tmp_path / "b.npz")
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 30):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError, match=r"a\.npz"):
            load_rollout(path)
