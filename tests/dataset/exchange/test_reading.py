"""Motions that others made: what was written is read back, orders are found, contacts judged."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

import phuma
from phuma.contacts.robot_soles import JUDGED
from phuma.dataset.exchange import READ, WRITTEN, export_motion, import_motion, recognise
from phuma.errors import ReadError
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.io.probe import Probe
from phuma.robots import Robot, load_robot
from tests.dataset.exchange.made_up import FILES, ROBOTS, Simulator, isaaclab_bodies, isaaclab_joints, made_up, matrices

RATES = {
    "phuma": 30.0, "csv": 30.0, "mjlab": 50.0, "holosoma": 50.0, "protomotions": 30.0, "gmr": 59.94, "pbhc": 30.0,
    "locomujoco": 59.94,
}  # fmt: skip
"""The formats that are written and read, and the rate at which they are tried"""


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def ours(robot, name):
    """A motion that a format can hold: one of them has no wrists."""
    motion = made_up(robot, fps=RATES[name])
    if name != "pbhc":
        return motion
    wrists = ["wrist" in joint for joint in robot.joint_names]
    return replace(motion, joint_pos=np.where(wrists, robot.default_pose, motion.joint_pos))


def assert_same(back, motion):
    assert (back.robot, back.joint_names, back.fps) == (motion.robot, motion.joint_names, motion.fps)
    np.testing.assert_allclose(back.root_pos, motion.root_pos, atol=1e-6)
    np.testing.assert_allclose(matrices(back.root_quat, "wxyz"), matrices(motion.root_quat, "wxyz"), atol=1e-6)
    np.testing.assert_allclose(back.joint_pos, motion.joint_pos, atol=1e-6)


def test_these_formats_are_read():
    assert set(READ) == {*RATES, "kimodo", "bones-seed", "mujoco", "lerobot"}
    assert set(WRITTEN) == {*RATES, "beyondmimic", "lerobot", "rerun"}


@pytest.mark.parametrize("name", list(RATES))
def test_what_was_exported_is_imported(tmp_path, robot, name):
    motion = ours(robot, name)
    path = tmp_path / "file without a suffix"
    export_motion(motion, robot, path, name)
    assert [known.name for known in recognise(Probe(path))] == (["csv", "kimodo"] if name == "csv" else [name])
    back = import_motion(path, robot, name)
    assert_same(back, motion)
    assert back.human_joints is None
    assert back.contact_used is None
    assert (back.provenance.source, back.provenance.format) == (str(path), name)
    assert JUDGED in back.provenance.notes


@pytest.mark.parametrize("name", list(RATES))
def test_an_imported_motion_is_stored_as_any_other(tmp_path, robot, name):
    motion = ours(robot, name)
    export_motion(motion, robot, tmp_path / "a", name)
    save_robot_motion(tmp_path / "b.npz", import_motion(tmp_path / "a", robot, name))
    with np.load(tmp_path / "b.npz", allow_pickle=False) as data:
        assert data["human_joints"].shape == (0, 22, 3)
    back = load_robot_motion(tmp_path / "b.npz")
    assert_same(back, motion)
    assert back.human_joints is None


def test_contact_of_a_single_frame_is_a_sole_near_the_ground_or_below_it(tmp_path, robot):
    """Lifted so that the lowest sole point is 24, then 26 mm above the ground, by MuJoCo's word."""
    motion = replace(made_up(robot, frames=1, fps=30.0), joint_pos=robot.default_pose[None])
    pos, mat = Simulator(robot).bodies(motion, [robot.body_names[b] for b in robot.sole_body])
    heights = (pos[0] + np.einsum("pij,pj->pi", mat[0], robot.sole_point))[:, 2]
    for region in range(4):
        for height, expected in ((0.024, 1.0), (0.026, 0.0), (-0.5, 1.0)):
            shift = np.array([0, 0, height - heights[region]])
            export_motion(replace(motion, root_pos=motion.root_pos + shift), robot, tmp_path / "a", "csv")
            assert import_motion(tmp_path / "a", robot, "csv").contact[0, region] == expected


DIALECTS = {
    "mjlab": (lambda robot: list(robot.joint_names), lambda robot: list(robot.body_names), "joints in MuJoCo's order"),
    "beyondmimic": (
        lambda robot: isaaclab_joints(robot.name),
        lambda robot: isaaclab_bodies(robot.name),
        "joints in IsaacLab's order",
    ),
}


@pytest.mark.parametrize("name", list(DIALECTS))
def test_both_dialects_of_tracking_files_are_read_by_their_names(tmp_path, robot, name):
    motion = made_up(robot)
    export_motion(motion, robot, tmp_path / "a", name)
    back = import_motion(tmp_path / "a", robot)
    assert_same(back, motion)
    assert "joints by name" in back.provenance.notes


@pytest.mark.parametrize("name", list(DIALECTS))
def test_and_without_names_by_the_order_in_which_joints_and_bodies_fit(tmp_path, robot, name):
    """The files of others have no names: these arrays are MuJoCo's, put in order here."""
    joints, bodies, said = DIALECTS[name]
    motion = made_up(robot)
    pos, mat = Simulator(robot).bodies(motion, bodies(robot))
    from scipy.spatial.transform import Rotation

    xyzw = Rotation.from_matrix(mat.reshape(-1, 3, 3)).as_quat().reshape(*mat.shape[:2], 4)
    order = [motion.joint_names.index(n) for n in joints(robot)]
    np.savez(
        tmp_path / "a.npz",
        fps=[50],
        joint_pos=motion.joint_pos[:, order],
        joint_vel=np.zeros((len(motion), robot.n_joints)),
        body_pos_w=pos,
        body_quat_w=np.roll(xyzw, 1, axis=-1),
    )
    back = import_motion(tmp_path / "a.npz", robot)
    assert_same(back, motion)
    assert said in back.provenance.notes


def test_the_robot_of_a_tracking_file_is_proven_by_kinematics(tmp_path, robot):
    motion = made_up(robot)
    export_motion(motion, robot, tmp_path / "a", "mjlab")
    data = dict(np.load(tmp_path / "a"))
    data["joint_pos"] = data["joint_pos"][:, ::-1]
    np.savez(tmp_path / "b.npz", **data)
    with pytest.raises(ReadError, match=r"b.npz: bodies are \d+ cm on average from where the joints put them on"):
        import_motion(tmp_path / "b.npz", robot)


def test_what_numpy_pickles_itself_is_read_too(tmp_path, robot):
    """As the paper's code and GMR write: with NumPy's own pickles, in double precision."""
    motion = made_up(robot, fps=30.0)
    root_rot = np.roll(motion.root_quat, -1, axis=1)
    np.save(
        tmp_path / "a.npy",
        {"root_trans": motion.root_pos, "root_ori": root_rot, "dof_pos": motion.joint_pos, "fps": np.float64(30)},
        allow_pickle=True,
    )
    assert_same(import_motion(tmp_path / "a.npy", robot), motion)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        content = {"fps": 30, "root_pos": motion.root_pos, "root_rot": root_rot, "dof_pos": motion.joint_pos}
        content |= {"local_body_pos": None, "link_body_list": None}
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(content, protocol))
        assert_same(import_motion(tmp_path / "a.pkl", robot), motion)


@pytest.mark.parametrize("name", [*FILES, "lerobot"])
def test_a_robots_file_is_no_recording_and_names_the_command_that_reads_it(tmp_path, name):
    robot = load_robot("g1")
    export_motion(made_up(robot), robot, tmp_path / "a", name)
    with pytest.raises(ReadError, match=r"a: is a robot's motion .*run: phuma import \S*a --robot NAME --out FOLDER"):
        phuma.read(tmp_path / "a")
