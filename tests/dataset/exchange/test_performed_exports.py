"""Exports of performances: the simulation's own velocities, contacts and torques, where a layout has room for them."""

from __future__ import annotations

import pickle
from dataclasses import fields

import mujoco
import numpy as np
import pytest

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange import FORMATS, READ, export_motion
from phuma.robots import Robot, load_robot
from tests.dataset.exchange.made_up import FILES, ROBOTS, UNITREE, Simulator, isaaclab_bodies, isaaclab_joints, made_up

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def performed(robot: Robot) -> PerformedMotion:
    """Velocities that differences of the poses would never give, so that nobody can take the one for the other."""
    motion, rng = made_up(robot), np.random.default_rng(5)
    given = {f.name: getattr(motion, f.name) for f in fields(RobotMotion)}
    return PerformedMotion(
        **{**given, "contact": (motion.contact > 0.5).astype(float)},
        velocity=rng.normal(size=(len(motion), 6 + robot.n_joints)),
        torque=rng.normal(size=(len(motion), robot.n_joints)),
        foot_force=rng.normal(size=(len(motion), 2, 3)),
    )


def expected(robot: Robot, motion: PerformedMotion, names: list[str], at: str) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's word on linear and angular velocities (T, B, 3) of bodies in the world, at the motion's own velocity."""
    simulator = Simulator(robot)
    kind = {"frame": mujoco.mjtObj.mjOBJ_XBODY, "mass centre": mujoco.mjtObj.mjOBJ_BODY}[at]
    model, data = simulator.model, simulator.data
    both = np.empty((len(motion), len(names), 6))
    for t in range(len(motion)):
        data.qpos[:], data.qvel[:6] = simulator.qpos(motion, t), motion.velocity[t, :6]
        for name, speed in zip(motion.joint_names, motion.velocity[t, 6:]):
            data.qvel[model.joint(name).dofadr[0]] = speed
        mujoco.mj_forward(model, data)
        for row, name in zip(both[t], names):
            mujoco.mj_objectVelocity(model, data, kind, model.body(name).id, row, 0)
    return both[..., 3:], both[..., :3]


@pytest.mark.parametrize("name", ["mjlab", "beyondmimic"])
def test_trackers_get_the_simulations_velocities(tmp_path, robot, name):
    motion = performed(robot)
    export_motion(motion, robot, tmp_path / "a.npz", name)
    joints = {"mjlab": UNITREE[robot.name], "beyondmimic": isaaclab_joints(robot.name)}[name]
    bodies = {"mjlab": list(robot.body_names), "beyondmimic": isaaclab_bodies(robot.name)}[name]
    linear, angular = expected(robot, motion, bodies, {"mjlab": "frame", "beyondmimic": "mass centre"}[name])
    order = [motion.joint_names.index(j) for j in joints]
    data = dict(np.load(tmp_path / "a.npz"))
    np.testing.assert_allclose(data["body_lin_vel_w"], linear, atol=1e-5)
    np.testing.assert_allclose(data["body_ang_vel_w"], angular, atol=1e-5)
    np.testing.assert_allclose(data["joint_vel"], motion.velocity[:, 6:][:, order], atol=1e-6)
    np.testing.assert_allclose(data["joint_torque"], motion.torque[:, order], atol=1e-6)
    np.testing.assert_array_equal(data["foot_contact"], motion.contact)


def test_protomotions_gets_them_and_the_forces(tmp_path, robot):
    motion = performed(robot)
    export_motion(motion, robot, tmp_path / "a.motion", "protomotions")
    data = {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in torch.load(tmp_path / "a.motion").items()}
    names = FORMATS["protomotions"].names(robot).bodies
    own = [names.index(n) for n in robot.body_names]
    linear, angular = expected(robot, motion, list(robot.body_names), "frame")
    np.testing.assert_allclose(data["rigid_body_vel"][:, own], linear, atol=1e-5)
    np.testing.assert_allclose(data["rigid_body_ang_vel"][:, own], angular, atol=1e-5)
    np.testing.assert_allclose(data["dof_vel"], motion.velocity[:, 6:], atol=1e-6)
    np.testing.assert_allclose(data["dof_forces"], motion.torque, atol=1e-6)
    feet = [names.index(f"{side}_ankle_roll_link") for side in ("left", "right")]
    force = data["rigid_body_contact_forces"]
    np.testing.assert_allclose(force[:, feet], motion.foot_force, atol=1e-6)
    assert not np.delete(force, feet, axis=1).any()
    contacts = motion.contact.reshape(-1, 2, 2).any(axis=2)
    np.testing.assert_array_equal(data["rigid_body_contacts"][:, feet], contacts)


@pytest.mark.parametrize("name", ["phuma", "gmr"])
def test_dictionaries_get_more_keys(tmp_path, robot, name):
    motion = performed(robot)
    export_motion(motion, robot, tmp_path / "a", name)
    if name == "phuma":
        with open(tmp_path / "a", "rb") as f:
            data = np.load(f, allow_pickle=True).item()
    else:
        data = pickle.loads((tmp_path / "a").read_bytes())
    linear, angular = expected(robot, motion, ["pelvis"], "frame")
    np.testing.assert_allclose(data["root_vel"], linear[:, 0], atol=1e-5)
    np.testing.assert_allclose(data["root_ang_vel"], angular[:, 0], atol=1e-5)
    np.testing.assert_allclose(data["dof_vel"], motion.velocity[:, 6:], atol=1e-6)
    np.testing.assert_allclose(data["dof_torque"], motion.torque, atol=1e-6)
    np.testing.assert_array_equal(data["foot_contact"], motion.contact)
    assert data["fps"] == 50


@pytest.mark.parametrize("name", FILES)
def test_poses_are_written_as_of_any_other_motion_whatever_the_order_of_joints(tmp_path, robot, name):
    motion = performed(robot)
    a, b = tmp_path / "a" / "motion", tmp_path / "b" / "motion"
    for path, order in ((a, motion.joint_names), (b, motion.joint_names[::-1])):
        path.parent.mkdir()
        export_motion(motion.reordered(order), robot, path, name)
    assert a.read_bytes() == b.read_bytes()


@pytest.mark.parametrize("name", [n for n in READ if n in FILES])
def test_what_is_read_again_is_the_motion(tmp_path, robot, name):
    motion = performed(robot)
    export_motion(motion, robot, tmp_path / "a", name)
    (again,) = FORMATS[name].read(tmp_path / "a", robot)
    wanted = motion.resampled(30.0) if name == "csv" else motion
    assert again.fps == (30.0 if name == "csv" else 50.0)
    held = [j for j, joint in enumerate(robot.joint_names) if name != "pbhc" or "wrist" not in joint]
    np.testing.assert_allclose(again.joint_pos[:, held], wanted.joint_pos[:, held], atol=1e-6)
