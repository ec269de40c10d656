"""Velocities in exports: those of root and joints, carried through the model, and near to what moves there."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.dataset.exchange import export_motion
from phuma.dataset.exchange.bodies import differences
from phuma.robots import Robot, load_robot
from phuma.robots.kinematics import body_poses
from tests.dataset.exchange.made_up import ROBOTS, Simulator, made_up

FINE = 20
"""Frames of a fine motion from one frame of the coarse one to the next"""


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def test_bodies_move_as_mujoco_carries_root_and_joints(tmp_path, robot):
    """In every frame, the ends too: the file's own root and joint velocities give all the others."""
    motion, simulator = made_up(robot), Simulator(robot)
    export_motion(motion, robot, tmp_path / "a.npz", "mjlab")
    data, state, both = dict(np.load(tmp_path / "a.npz")), simulator.data, np.empty(6)
    for t in range(len(motion)):
        state.qpos[:] = simulator.qpos(motion, t)
        state.qvel[:3] = data["body_lin_vel_w"][t, 0]
        state.qvel[3:6] = rot.rotate_back(motion.root_quat[t], data["body_ang_vel_w"][t, 0].astype(float))
        for name, speed in zip(data["joint_names"], data["joint_vel"][t]):
            state.qvel[simulator.model.joint(name).dofadr[0]] = speed
        mujoco.mj_forward(simulator.model, state)
        for b, name in enumerate(data["body_names"]):
            body = simulator.model.body(name).id
            mujoco.mj_objectVelocity(simulator.model, state, mujoco.mjtObj.mjOBJ_XBODY, body, both, 0)
            np.testing.assert_allclose(data["body_lin_vel_w"][t, b], both[3:], atol=1e-5, err_msg=f"{t} {name}")
            np.testing.assert_allclose(data["body_ang_vel_w"][t, b], both[:3], atol=1e-5, err_msg=f"{t} {name}")


def test_bodies_move_as_fast_as_in_a_much_finer_motion(tmp_path, robot):
    """The made-up motion is known at all times, so that differences over two milliseconds tell its velocities."""
    motion = made_up(robot)
    fine = made_up(robot, frames=FINE * (len(motion) - 1) + 1, fps=FINE * motion.fps)
    pos, mat = body_poses(robot, fine)
    inner = np.arange(FINE, len(fine) - FINE, FINE)
    linear = (pos[inner + 1] - pos[inner - 1]) * fine.fps / 2
    spin = (mat[inner + 1] @ np.swapaxes(mat[inner - 1], -1, -2) - np.eye(3)) * fine.fps / 2
    angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    export_motion(motion, robot, tmp_path / "a.npz", "mjlab")
    data = dict(np.load(tmp_path / "a.npz"))
    np.testing.assert_allclose(data["body_lin_vel_w"][1:-1], linear, atol=0.01)
    np.testing.assert_allclose(data["body_ang_vel_w"][1:-1], angular, atol=0.02)
    at_ends = np.stack([(pos[1] - pos[0]) * fine.fps, (pos[-1] - pos[-2]) * fine.fps])
    np.testing.assert_allclose(data["body_lin_vel_w"][[0, -1]], at_ends, atol=0.02)


def test_a_smooth_motion_is_differentiated_to_second_order_at_the_ends_too(robot):
    """Twice the rate leaves a quarter of the error, of root and joints alike."""
    errors = []
    for fps in (25.0, 50.0):
        coarse = made_up(robot, frames=int(0.8 * fps) + 1, fps=fps)
        step = int(1000 / fps)
        fine = made_up(robot, frames=step * (len(coarse) - 1) + 1, fps=step * fps)
        error = np.abs(differences(coarse) - differences(fine)[::step])
        errors.append([error[1:-1].max(), error[[0, -1]].max()])
    inner, ends = np.array(errors[0]) / errors[1]
    assert inner > 3
    assert ends > 3


def test_two_frames_move_alike_and_one_not_at_all(robot):
    two = differences(made_up(robot, frames=2))
    np.testing.assert_array_equal(two[0], two[1])
    assert not differences(made_up(robot, frames=1)).any()
