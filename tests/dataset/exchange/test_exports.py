"""Every export, read by its layout's own rules: shapes, orders, quaternions, rates, and MuJoCo's word on the bodies."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.dataset.exchange import export_motion
from phuma.robots import Robot, load_robot
from phuma.robots.kinematics import local_body_poses
from tests.dataset.exchange.made_up import (
    FILES,
    ROBOTS,
    UNITREE,
    Simulator,
    isaaclab_bodies,
    isaaclab_joints,
    made_up,
    matrices,
)
from tests.robots.posing import forward

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def column(motion, name):
    return motion.joint_pos[:, motion.joint_names.index(name)]


def assert_joints(values, names, motion):
    """Columns of `values` are the motion's joints in the order of `names`."""
    assert values.shape == (len(motion), len(names))
    for i, name in enumerate(names):
        np.testing.assert_allclose(values[:, i], column(motion, name), atol=1e-6, err_msg=name)


def assert_root(pos, quat, order, motion):
    np.testing.assert_allclose(pos, motion.root_pos, atol=1e-6)
    np.testing.assert_allclose(matrices(quat, order), matrices(motion.root_quat, "wxyz"), atol=1e-6)


def test_the_made_up_motion_tells_left_from_right_and_up_from_down(robot):
    """Else the laws below would hold for swapped sides."""
    motion = made_up(robot)
    for name in motion.joint_names:
        if name.startswith("left"):
            assert np.abs(column(motion, name) - column(motion, name.replace("left", "right"))).max() > 0.01
    assert matrices(motion.root_quat, "wxyz")[..., 2, 2].min() > 0.5


@pytest.mark.parametrize("name", FILES)
def test_the_same_motion_gives_the_same_bytes_in_whatever_order_its_joints_are(tmp_path, robot, name):
    motion = made_up(robot)
    a, b = tmp_path / "a" / "motion", tmp_path / "b" / "motion"
    for path, order in ((a, motion.joint_names), (b, motion.joint_names[::-1])):
        path.parent.mkdir()
        export_motion(motion.reordered(order), robot, path, name)
    assert a.read_bytes() == b.read_bytes()
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["motion", "motion"]


@pytest.mark.parametrize("name", FILES)
def test_a_single_frame_stands_still(tmp_path, robot, name):
    export_motion(made_up(robot, frames=1), robot, tmp_path / "a", name)
    assert (tmp_path / "a").stat().st_size > 0


def test_phuma(tmp_path, robot):
    motion = made_up(robot, fps=30.0)
    export_motion(motion, robot, tmp_path / "a.npy", "phuma")
    data = np.load(tmp_path / "a.npy", allow_pickle=True).item()
    assert list(data) == ["root_trans", "root_ori", "dof_pos", "fps"]
    assert data["fps"] == 30
    assert isinstance(data["fps"], int)
    assert_root(data["root_trans"], data["root_ori"], "xyzw", motion)
    assert_joints(data["dof_pos"], UNITREE[robot.name], motion)
    assert all(data[k].dtype == np.float32 for k in ("root_trans", "root_ori", "dof_pos"))


def test_phuma_has_whole_rates(tmp_path, robot):
    """Its readers cut the rate to a whole number: at 29.97 Hz a motion would come out 3 % slower."""
    motion = made_up(robot, fps=29.97)
    export_motion(motion, robot, tmp_path / "a.npy", "phuma")
    data = np.load(tmp_path / "a.npy", allow_pickle=True).item()
    assert data["fps"] == 30
    assert_root(data["root_trans"], data["root_ori"], "xyzw", motion.resampled(30.0))


def test_csv(tmp_path, robot):
    motion = made_up(robot, fps=60.0)
    export_motion(motion, robot, tmp_path / "a.csv", "csv")
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",")
    half = made_up(robot, frames=41, fps=60.0).resampled(30.0)
    np.testing.assert_allclose(half.root_pos, motion.root_pos[::2], atol=1e-12)
    assert rows.shape == (21, {"g1": 36, "h1_2": 34}[robot.name])
    assert_root(rows[:, :3], rows[:, 3:7], "xyzw", half)
    assert_joints(rows[:, 7:], UNITREE[robot.name], half)
    assert (tmp_path / "a.csv").read_bytes().count(b"\n") == 21


TRACKING = {
    "mjlab": (np.float64, lambda name: UNITREE[name], None, "frame"),
    "beyondmimic": (np.int64, isaaclab_joints, isaaclab_bodies, "mass centre"),
}


@pytest.mark.parametrize("name", list(TRACKING))
def test_tracking(tmp_path, robot, name):
    rate_type, joints, bodies, moving = TRACKING[name]
    motion = made_up(robot)
    simulator = Simulator(robot)
    in_mujoco = [simulator.model.body(i).name for i in range(1, simulator.model.nbody)]
    body_names = bodies(robot.name) if bodies else in_mujoco
    export_motion(motion, robot, tmp_path / "a.npz", name)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        assert data["fps"].tolist() == [50]
        assert data["fps"].dtype == rate_type
        assert data["joint_names"].tolist() == joints(robot.name)
        assert data["body_names"].tolist() == body_names
        assert_joints(data["joint_pos"], joints(robot.name), motion)
        pos, mat = simulator.bodies(motion, body_names)
        np.testing.assert_allclose(data["body_pos_w"], pos, atol=1e-6)
        np.testing.assert_allclose(matrices(data["body_quat_w"], "wxyz"), mat, atol=1e-6)
        linear, angular = simulator.velocities(motion, body_names, moving)
        np.testing.assert_allclose(data["body_lin_vel_w"][1:-1], linear, atol=0.02)
        np.testing.assert_allclose(data["body_ang_vel_w"][1:-1], angular, atol=0.03)
        moved = np.diff(motion.joint_pos, axis=0)
        speed = data["joint_vel"][:, [joints(robot.name).index(n) for n in motion.joint_names]]
        np.testing.assert_allclose((speed[1:] + speed[:-1]) / 2 / 50, moved, atol=1e-3)
        assert all(data[k].dtype == np.float32 for k in data.files if k.startswith("body_") and k != "body_names")


def test_frames_and_mass_centres_move_differently(robot):
    """Else the law above would not tell the two dialects' velocities apart."""
    motion, simulator = made_up(robot), Simulator(robot)
    frame, _ = simulator.velocities(motion, list(robot.body_names), "frame")
    centre, _ = simulator.velocities(motion, list(robot.body_names), "mass centre")
    assert np.abs(frame - centre).max() > 0.2


@pytest.mark.parametrize("name", ["mjlab", "protomotions"])
def test_velocities_integrate_to_positions(tmp_path, robot, name):
    """Trapezoids over all frames, the ends too; rotations likewise, by small turns."""
    motion = made_up(robot, fps=50.0)
    export_motion(motion, robot, tmp_path / "a", name)
    if name == "mjlab":
        data = dict(np.load(tmp_path / "a"))
        pos, lin, quat, ang = (data[f"body_{k}_w"] for k in ("pos", "lin_vel", "quat", "ang_vel"))
        mat = matrices(quat, "wxyz")
    else:
        data = read_torch(tmp_path / "a")
        pos, lin, quat, ang = (data[f"rigid_body_{k}"] for k in ("pos", "vel", "rot", "ang_vel"))
        mat = matrices(quat, "xyzw")
    travelled = np.cumsum((lin[1:] + lin[:-1]) / 2, axis=0) / 50
    np.testing.assert_allclose(travelled, pos[1:] - pos[0], atol=0.003)
    turned, step = mat[0], (ang[1:] + ang[:-1]) / 2 / 50
    for t in range(len(step)):
        angle = np.linalg.norm(step[t], axis=-1, keepdims=True)
        half = np.concatenate([np.cos(angle / 2), np.sin(angle / 2) * step[t] / angle], axis=-1)
        turned = matrices(half, "wxyz") @ turned
        np.testing.assert_allclose(turned, mat[t + 1], atol=0.01)


def read_torch(path) -> dict:
    """As ProtoMotions loads it, with arrays for tensors."""
    data = torch.load(path, weights_only=True)
    return {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in data.items()}


PROTOMOTIONS_BODIES = {
    "g1": {"pelvis": "head", "left_wrist_yaw_link": "left_rubber_hand", "right_wrist_yaw_link": "right_rubber_hand"},
    "h1_2": {"torso_link": "head_aux"},
}
PROTOMOTIONS_OFFSET = {"head": (0, 0, 0.4), "left_rubber_hand": (0.12, 0, 0), "head_aux": (0, 0, 0.7)}
PROTOMOTIONS_OFFSET["right_rubber_hand"] = PROTOMOTIONS_OFFSET["left_rubber_hand"]


def test_protomotions(tmp_path, robot):
    motion = made_up(robot, fps=30.0)
    export_motion(motion, robot, tmp_path / "a.motion", "protomotions")
    data = read_torch(tmp_path / "a.motion")
    assert list(data) == [
        "fps", "dof_pos", "dof_vel", "rigid_body_pos", "rigid_body_rot", "rigid_body_vel", "rigid_body_ang_vel",
        "rigid_body_contacts",
    ]  # fmt: skip
    extra = PROTOMOTIONS_BODIES[robot.name]
    names = [n for body in robot.body_names for n in (body, *([extra[body]] if body in extra else []))]
    assert len(names) == {"g1": 33, "h1_2": 29}[robot.name]
    assert data["fps"] == 30.0
    assert_joints(data["dof_pos"], UNITREE[robot.name], motion)
    pos, mat = Simulator(robot).bodies(motion, list(robot.body_names))
    for child, parent in {v: k for k, v in extra.items()}.items():
        carrier = robot.body_names.index(parent)
        expected = pos[:, carrier] + mat[:, carrier] @ np.array(PROTOMOTIONS_OFFSET[child], dtype=float)
        np.testing.assert_allclose(data["rigid_body_pos"][:, names.index(child)], expected, atol=1e-6)
    own = [names.index(n) for n in robot.body_names]
    np.testing.assert_allclose(data["rigid_body_pos"][:, own], pos, atol=1e-6)
    np.testing.assert_allclose(matrices(data["rigid_body_rot"], "xyzw")[:, own], mat, atol=1e-6)
    assert all(v.dtype == np.float32 for k, v in data.items() if k not in ("fps", "rigid_body_contacts"))


def test_protomotions_contacts_are_the_feet_s(tmp_path, robot):
    motion = made_up(robot, fps=30.0)
    export_motion(motion, robot, tmp_path / "a.motion", "protomotions")
    contacts = read_torch(tmp_path / "a.motion")["rigid_body_contacts"]
    assert contacts.dtype == bool
    extra = PROTOMOTIONS_BODIES[robot.name]
    names = [n for body in robot.body_names for n in (body, *([extra[body]] if body in extra else []))]
    left, right = names.index("left_ankle_roll_link"), names.index("right_ankle_roll_link")
    np.testing.assert_array_equal(contacts[:, left], (motion.contact[:, :2] > 0.5).any(axis=1))
    np.testing.assert_array_equal(contacts[:, right], (motion.contact[:, 2:] > 0.5).any(axis=1))
    assert contacts.sum() == contacts[:, [left, right]].sum() > 0


def test_protomotions_files_know_no_time_of_day(tmp_path, robot):
    export_motion(made_up(robot), robot, tmp_path / "a.motion", "protomotions")
    with zipfile.ZipFile(tmp_path / "a.motion") as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}, "the earliest year that a zip can hold"


def test_joints_beside_the_origin_of_their_bodies(robot):
    """No built-in robot has any; the equation of `Robot` is the judge."""
    anchors = np.random.default_rng(0).normal(0, 0.1, (robot.n_joints, 3))
    odd = replace(robot, joint_anchor=anchors)
    motion = made_up(robot, frames=3)
    place, turn = local_body_poses(odd, motion.joint_pos)
    for t in range(3):
        pos, quat = forward(odd, motion.joint_pos[t])
        np.testing.assert_allclose(place[t], pos, atol=1e-9)
        np.testing.assert_allclose(turn[t], matrices(quat, "wxyz"), atol=1e-9)


def test_gmr(tmp_path, robot):
    motion = made_up(robot, fps=29.97)
    export_motion(motion, robot, tmp_path / "a.pkl", "gmr")
    data = pickle.loads((tmp_path / "a.pkl").read_bytes())
    assert list(data) == ["fps", "root_pos", "root_rot", "dof_pos", "local_body_pos", "link_body_list"]
    assert data["fps"] == 29.97
    assert_root(data["root_pos"], data["root_rot"], "xyzw", motion)
    assert_joints(data["dof_pos"], UNITREE[robot.name], motion)
    names = data["link_body_list"]
    assert [n for n in names if n in robot.body_names] == list(robot.body_names)
    assert names[7:10] == (GMR_G1[:3] if robot.name == "g1" else list(robot.body_names[7:10]))
    assert len(names) == {"g1": 38, "h1_2": robot.n_bodies}[robot.name]
    pos, mat = Simulator(robot).bodies(motion, list(robot.body_names))
    seen = np.einsum("tji,tbj->tbi", mat[:, 0], pos - pos[:, :1])  # from the root
    np.testing.assert_allclose(data["local_body_pos"][:, [names.index(n) for n in robot.body_names]], seen, atol=1e-6)


GMR_G1 = ["left_toe_link", "pelvis_contour_link", "right_hip_pitch_link"]
TWIST = {
    "left_rubber_hand": ("left_wrist_yaw_link", (0.0415, 0.003, 0)),
    "right_rubber_hand": ("right_wrist_yaw_link", (0.0415, -0.003, 0)),
    "head_mocap": ("torso_link", (0, 0, 0.4)),
    "left_toe_link": ("left_ankle_roll_link", (0.1, 0, -0.02)),
    "right_toe_link": ("right_ankle_roll_link", (0.1, 0, -0.02)),
}
"""The bodies that TWIST looks up in GMR's files, with the body of Unitree's model that carries each"""


def test_gmr_has_the_bodies_that_twist_looks_up(tmp_path):
    robot = load_robot("g1")
    motion = made_up(robot)
    export_motion(motion, robot, tmp_path / "a.pkl", "gmr")
    data = pickle.loads((tmp_path / "a.pkl").read_bytes())
    for name, (parent, offset) in TWIST.items():
        pos, mat = Simulator(robot).bodies(motion, ["pelvis", parent])
        seen = np.einsum("tji,tj->ti", mat[:, 0], pos[:, 1] + mat[:, 1] @ np.array(offset) - pos[:, 0])
        there = data["local_body_pos"][:, data["link_body_list"].index(name)]
        np.testing.assert_allclose(there, seen, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", ["phuma", "gmr"])
def test_pickles_name_arrays_as_every_numpy_knows_them(tmp_path, robot, name):
    export_motion(made_up(robot), robot, tmp_path / "a", name)
    written = (tmp_path / "a").read_bytes()
    assert b"numpy.core.multiarray" in written
    assert b"numpy._core" not in written
