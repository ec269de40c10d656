"""Layouts of other tools, written here by their own rules and read, and written and read here by these rules."""

from __future__ import annotations

import pickle
import sys
import types
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from phuma.dataset.exchange import export_motion, import_all, import_motion, recognise
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.robots import Robot, load_robot
from tests.dataset.exchange.made_up import ROBOTS, UNITREE, Simulator, made_up, matrices

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def assert_same(back, motion):
    assert (back.robot, back.joint_names, back.fps) == (motion.robot, motion.joint_names, motion.fps)
    np.testing.assert_allclose(back.root_pos, motion.root_pos, atol=1e-6)
    np.testing.assert_allclose(matrices(back.root_quat, "wxyz"), matrices(motion.root_quat, "wxyz"), atol=1e-6)
    np.testing.assert_allclose(back.joint_pos, motion.joint_pos, atol=1e-6)


def xyzw(motion):
    return np.roll(motion.root_quat, -1, axis=1)


def read(path, robot, name):
    """The only motion of a file that is recognised by its content."""
    assert [known.name for known in recognise(Probe(path))] == [name]
    return import_motion(path, robot)


def test_bones_seed(tmp_path, robot):
    """Centimetres and degrees, the root turned about fixed axes x, y, z, joints by name in any order, 120 Hz."""
    motion = made_up(robot, fps=120.0)
    angles = Rotation.from_quat(xyzw(motion)).as_euler("xyz", degrees=True)
    header = ["Frame", *(f"root_translate{a}" for a in "XYZ"), *(f"root_rotate{a}" for a in "XYZ")]
    header += [f"{name}_dof" for name in reversed(robot.joint_names)]
    rows = [np.arange(len(motion))[:, None], 100 * motion.root_pos, angles, np.degrees(motion.joint_pos[:, ::-1])]
    np.savetxt(tmp_path / "a.csv", np.concatenate(rows, axis=1), delimiter=",", header=",".join(header), comments="")
    back = read(tmp_path / "a.csv", robot, "bones-seed")
    assert_same(back, motion)
    assert "rate assumed: 120 Hz" in back.provenance.notes
    text = (tmp_path / "a.csv").read_text().replace("left_knee_joint_dof", "tail_dof")
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(ReadError, match="has no column 'left_knee_joint_dof'; it has Frame, root_translateX"):
        import_motion(tmp_path / "b.csv", robot)
    with pytest.raises(ReadError, match=r"begins with a header .* --format bones-seed"):
        import_motion(tmp_path / "b.csv", robot, "csv")


@pytest.mark.parametrize("root_named", [True, False])
def test_mujoco_coordinates_with_names(tmp_path, robot, root_named):
    motion = made_up(robot)
    names = [*(["floating_base_joint"] if root_named else []), "a_hand", *reversed(robot.joint_names)]
    hand = np.zeros((len(motion), 1))
    qpos = np.concatenate([motion.root_pos, motion.root_quat, hand, motion.joint_pos[:, ::-1]], axis=1)
    np.savez(tmp_path / "a.npz", qpos=qpos, joint_names=names, fps=50.0)
    assert_same(read(tmp_path / "a.npz", robot, "mujoco"), motion)
    np.savez(tmp_path / "b.npz", qpos=qpos[:, 2:], joint_names=names, fps=50.0)
    with pytest.raises(ReadError, match=r"b.npz: qpos has shape .*; expected \(frames, 7 \+ "):
        import_motion(tmp_path / "b.npz", robot)


def test_locomujoco_of_several_trajectories(tmp_path, robot):
    """As its `Trajectory.save` lays it out, with what it pickles, which is not read."""
    first, second = made_up(robot, frames=31, fps=40.0), made_up(robot, frames=21, fps=40.0, seed=1)
    both = [np.concatenate([m.root_pos, m.root_quat, m.joint_pos], axis=1) for m in (first, second)]
    qpos = np.concatenate(both)
    np.savez(
        tmp_path / "a.npz", qpos=qpos, qvel=np.zeros((len(qpos), qpos.shape[1] - 1)), xpos=np.empty(0),
        split_points=np.array([0, 31, 52]), joint_names=["root", *robot.joint_names], frequency=40.0,
        body_names=["world", *robot.body_names], site_names=np.array(None, dtype=object),
        metadata=np.array(None, dtype=object), njnt=robot.n_joints + 1,
    )  # fmt: skip
    assert [known.name for known in recognise(Probe(tmp_path / "a.npz"))] == ["locomujoco"]
    one, two = import_all(tmp_path / "a.npz", robot)
    assert_same(one, first)
    assert_same(two, second)
    assert (one.provenance.start, two.provenance.start) == (0.0, 31 / 40)
    assert "trajectory 2 of 2 of the file" in two.provenance.notes
    with pytest.raises(ReadError, match="holds 2 motions; use import_all"):
        import_motion(tmp_path / "a.npz", robot)
    with np.load(tmp_path / "a.npz", allow_pickle=True) as data:
        np.savez(tmp_path / "b.npz", **{**data, "split_points": np.array([0, 60])})
    with pytest.raises(ReadError, match=r"split_points are \[0, 60\]; expected rising numbers from 0 to 52"):
        import_motion(tmp_path / "b.npz", robot)


def test_locomujoco_gets_what_mujoco_makes_of_the_motion(tmp_path, robot):
    motion, simulator = made_up(robot, fps=40.0), Simulator(robot)
    export_motion(motion, robot, tmp_path / "a.npz", "locomujoco")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        data = dict(data)
    assert data["joint_names"].tolist() == ["root", *UNITREE[robot.name]]
    assert data["body_names"].tolist() == ["world", *robot.body_names]
    assert data["split_points"].tolist() == [0, len(motion)]
    assert float(data["frequency"]) == 40.0
    assert (int(data["njnt"]), int(data["nbody"])) == (robot.n_joints + 1, robot.n_bodies + 1)
    for t in range(len(motion)):
        simulator.data.qpos[:] = data["qpos"][t]
        np.testing.assert_allclose(data["qpos"][t], simulator.qpos(motion, t), atol=1e-6)
        simulator.data.qvel[:] = data["qvel"][t]
        mujoco.mj_forward(simulator.model, simulator.data)
        for name in ("xpos", "xquat", "cvel", "subtree_com"):
            np.testing.assert_allclose(data[name][t], getattr(simulator.data, name), atol=1e-5, err_msg=name)


def test_holosoma_has_the_root_in_its_joints_and_the_world_among_its_bodies(tmp_path, robot):
    """As its conversion lays it out: MuJoCo's coordinates, and bodies' mass centres by MuJoCo's own word."""
    motion, simulator = made_up(robot), Simulator(robot)
    export_motion(motion, robot, tmp_path / "a.npz", "holosoma")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        data = dict(data)
    assert data["body_names"].tolist() == ["world", *robot.body_names]
    assert data["joint_names"].tolist() == UNITREE[robot.name]
    assert data["joint_pos"].shape == (len(motion), 7 + robot.n_joints)
    assert data["joint_vel"].shape == (len(motion), 6 + robot.n_joints)
    both = np.empty(6)
    for t in range(len(motion)):
        simulator.data.qpos[:], simulator.data.qvel[:] = data["joint_pos"][t], data["joint_vel"][t]
        np.testing.assert_allclose(data["joint_pos"][t], simulator.qpos(motion, t), atol=1e-6)
        mujoco.mj_forward(simulator.model, simulator.data)
        np.testing.assert_allclose(data["body_pos_w"][t], simulator.data.xpos, atol=1e-6)
        for b in range(simulator.model.nbody):
            mujoco.mj_objectVelocity(simulator.model, simulator.data, mujoco.mjtObj.mjOBJ_BODY, b, both, 0)
            np.testing.assert_allclose(data["body_lin_vel_w"][t, b], both[3:], atol=1e-5)
            np.testing.assert_allclose(data["body_ang_vel_w"][t, b], both[:3], atol=1e-5)
    assert_same(read(tmp_path / "a.npz", robot, "holosoma"), motion)


def test_protomotions(tmp_path, robot):
    motion = made_up(robot, fps=30.0)
    bodies = np.random.default_rng(0).normal(size=(len(motion), 33, 3)).astype(np.float32)
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (len(motion), 33, 1))
    bodies[:, 0], turns[:, 0] = motion.root_pos, xyzw(motion)
    content = {"dof_pos": motion.joint_pos.astype(np.float32), "rigid_body_pos": bodies, "rigid_body_rot": turns}
    tensors = {name: torch.from_numpy(values) for name, values in content.items()}
    torch.save({**tensors, "fps": 30.0}, tmp_path / "a.motion")
    assert_same(read(tmp_path / "a.motion", robot, "protomotions"), motion)


def of_pbhc(motion, robot):
    """A motion of PBHC's, with wrists if it has them."""
    return {
        "root_trans_offset": motion.root_pos, "pose_aa": np.zeros((len(motion), 27, 3)), "dof": motion.joint_pos,
        "root_rot": xyzw(motion), "smpl_joints": np.zeros((len(motion), 24, 3)), "fps": 30,
        "contact_mask": np.ones((len(motion), 2)),
    }  # fmt: skip


def without_wrists(motion, robot):
    """The motion as one with 23 joints of 29, or 21 of 27, and the same with its wrists at rest."""
    held = ["wrist" not in name for name in robot.joint_names]
    rest = replace(motion, joint_pos=np.where(held, motion.joint_pos, 0.0))
    return motion.joint_pos[:, held], rest


def test_pbhc_and_asap(tmp_path, robot):
    """Several motions by name in one file; 23 joints of the G1, which are columns 0 to 18 and 22 to 25 of the 29."""
    first, second = made_up(robot, frames=31, fps=30.0), made_up(robot, frames=21, fps=30.0, seed=1)
    (dof, rest), content = without_wrists(first, robot), {"walk": of_pbhc(first, robot), "run": of_pbhc(second, robot)}
    assert dof.shape[1] == {"g1": 23, "h1_2": 21}[robot.name]
    if robot.name == "g1":
        np.testing.assert_array_equal(dof, first.joint_pos[:, [*range(19), *range(22, 26)]])
    content["walk"]["dof"] = dof
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content))
    assert [known.name for known in recognise(Probe(tmp_path / "a.pkl"))] == ["pbhc"]
    one, two = import_all(tmp_path / "a.pkl", robot)
    assert_same(one, rest)
    assert_same(two, second)
    assert f"the file has {dof.shape[1]} joints; the wrists are at rest" in one.provenance.notes
    assert "motion 'run' of the file" in two.provenance.notes
    assert two.provenance.start == pytest.approx(31 / 30)
    (tmp_path / "b.pkl").write_bytes(pickle.dumps(content["run"]))
    assert_same(read(tmp_path / "b.pkl", robot, "pbhc"), second)


class NumpyArrayWrapper:
    """What joblib puts before the bytes of an array: its file goes on with a few bytes of padding, and those."""

    def __init__(self, array) -> None:
        self.subclass, self.shape, self.order, self.dtype = np.ndarray, array.shape, "C", array.dtype
        self.allow_mmap, self.numpy_array_alignment_bytes = True, 16


class JoblibPickler(pickle._Pickler):
    """Writes a file as joblib does."""

    def __init__(self, file) -> None:
        super().__init__(file, protocol=4)
        self.out = file

    def save(self, obj, save_persistent_id=True):
        if type(obj) is not np.ndarray:
            return super().save(obj)
        super().save(NumpyArrayWrapper(obj))
        self.framer.commit_frame(force=True)
        padding = 16 - (self.out.tell() + 1) % 16
        self.out.write(bytes([padding]) + b"\xff" * padding + np.ascontiguousarray(obj).tobytes())


def test_pbhc_by_joblib(tmp_path, robot, monkeypatch):
    module = types.ModuleType("joblib.numpy_pickle")
    module.NumpyArrayWrapper = NumpyArrayWrapper
    monkeypatch.setitem(sys.modules, "joblib", types.ModuleType("joblib"))
    monkeypatch.setitem(sys.modules, "joblib.numpy_pickle", module)
    monkeypatch.setattr(NumpyArrayWrapper, "__module__", "joblib.numpy_pickle")
    motion = made_up(robot, fps=30.0)
    with open(tmp_path / "a.pkl", "wb") as f:
        JoblibPickler(f).dump({"walk": of_pbhc(motion, robot)})
    assert_same(read(tmp_path / "a.pkl", robot, "pbhc"), motion)


def test_pbhc_gets_rotations_of_its_joints_and_contacts_of_feet(tmp_path, robot):
    motion = made_up(robot, fps=30.0)
    dof, _ = without_wrists(motion, robot)
    export_motion(motion, robot, tmp_path / "walk.pkl", "pbhc")
    (name, data), *more = pickle.loads((tmp_path / "walk.pkl").read_bytes()).items()
    assert (name, more, data["fps"]) == ("walk", [], 30)
    np.testing.assert_allclose(data["dof"], dof, atol=1e-6)
    np.testing.assert_allclose(matrices(data["root_rot"], "xyzw"), matrices(motion.root_quat, "wxyz"), atol=1e-6)
    pose, model = data["pose_aa"], Simulator(robot).model
    assert pose.shape == (len(motion), 1 + dof.shape[1] + 3, 3)
    turned = Rotation.from_rotvec(pose[:, 0]).as_matrix()
    np.testing.assert_allclose(turned, matrices(motion.root_quat, "wxyz"), atol=1e-6)
    for j, joint in enumerate(n for n in robot.joint_names if "wrist" not in n):
        np.testing.assert_allclose(pose[:, 1 + j], dof[:, [j]] * model.joint(joint).axis, atol=1e-6)
    assert not pose[:, -3:].any()
    feet = np.stack([(motion.contact[:, k : k + 2] > 0.5).any(axis=1) for k in (0, 2)], axis=1)
    np.testing.assert_array_equal(data["contact_mask"], feet)
