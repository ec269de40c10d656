"""Robot motions on disk."""

from dataclasses import replace

import numpy as np
import pytest

import phuma
from phuma.errors import PhumaError, ReadError
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion


@pytest.fixture(scope="module")
def motion():
    return phuma.retarget(phuma.generate("squat", 2.0, 1).motion, "g1", "physink")


@pytest.fixture(scope="module")
def step():
    """A motion whose contacts are not those by height."""
    return phuma.retarget(phuma.generate("kick", 2.0, 1).motion, "g1", "sink", contacts="stance")


def test_what_is_saved_is_loaded_and_saved_again_the_same(tmp_path, motion):
    save_robot_motion(tmp_path / "a.npz", motion)
    loaded = load_robot_motion(tmp_path / "a.npz")
    for name in ("root_pos", "root_quat", "joint_pos", "contact", "contact_paper", "contact_used", "human_joints"):
        np.testing.assert_allclose(getattr(loaded, name), getattr(motion, name), atol=1e-5)
    assert (loaded.robot, loaded.joint_names, loaded.fps) == (motion.robot, motion.joint_names, motion.fps)
    assert loaded.report == motion.report
    save_robot_motion(tmp_path / "b.npz", loaded)
    assert (tmp_path / "a.npz").stat().st_size == (tmp_path / "b.npz").stat().st_size


def test_the_metrics_in_a_file_are_those_of_the_motion_in_it(tmp_path, motion):
    """Files hold single precision; a joint that was on its limit must not be beyond it there."""
    save_robot_motion(tmp_path / "a.npz", motion)
    loaded = load_robot_motion(tmp_path / "a.npz")
    measured = phuma.robot_metrics(loaded)
    for name, value in loaded.report["metrics"].items():
        if not name.startswith("human_"):
            same = measured[name] is None if value is None else measured[name] == pytest.approx(value, 1e-9, 1e-12)
            assert same, name
    assert measured["feasibility"] == 100.0


def test_a_file_that_calls_nothing_perfect_is_read_as_unknown(tmp_path, motion):
    """Earlier versions wrote 100 % for what has no contact to be measured on."""
    metrics = {"feasibility": 100.0, "non_floating": 100.0, "non_skating": 100.0, "human_non_skating": 100.0}
    counts = {"frames": len(motion), "contact_samples": 0, "step_samples": 0}
    save_robot_motion(tmp_path / "a.npz", replace(motion, report={"flags": [], "metrics": metrics | counts}))
    unknown = {"non_floating": None, "non_skating": None, "human_non_skating": None}
    assert load_robot_motion(tmp_path / "a.npz").report["metrics"] == {"feasibility": 100.0} | unknown | counts


def test_the_file_is_as_agreed(tmp_path, motion):
    save_robot_motion(tmp_path / "a.npz", motion)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        frames = len(motion)
        shapes = {"root_pos": (frames, 3), "root_quat": (frames, 4), "joint_pos": (frames, 29), "contact": (frames, 4)}
        shapes["contact_paper"] = (frames, 4)
        for name, shape in shapes.items():
            assert data[name].shape == shape
            assert data[name].dtype == np.float32
        assert data["human_joints"].shape == (frames, 22, 3)
        assert str(data["robot"]) == "g1"
        assert data["joint_names"].tolist() == list(motion.joint_names)


def test_contacts_by_height_are_stored_beside_the_others_and_were_not_before(tmp_path, step):
    assert (step.contact != step.contact_paper).any()
    save_robot_motion(tmp_path / "a.npz", step)
    np.testing.assert_array_equal(load_robot_motion(tmp_path / "a.npz").contact_paper, step.contact_paper)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        arrays = {name: data[name] for name in data if name != "contact_paper"} | {"version": np.int64(1)}
    np.savez(tmp_path / "b.npz", **arrays)
    np.testing.assert_array_equal(load_robot_motion(tmp_path / "b.npz").contact_paper, step.contact)


def test_metrics_work_on_a_motion_whose_joints_are_in_another_order(motion):
    other = motion.reordered(motion.joint_names[::-1])
    assert phuma.robot_metrics(other)["fidelity"] == pytest.approx(motion.report["metrics"]["fidelity"])
    with pytest.raises(PhumaError, match="no joint 'left_tail_joint' in this motion; it has left_hip_pitch"):
        motion.reordered(("left_tail_joint",))


def test_damaged_files_say_so(tmp_path, motion):
    path = tmp_path / "a.npz"
    save_robot_motion(path, motion)
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 30):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError, match=r"a\.npz"):
            load_robot_motion(path)
