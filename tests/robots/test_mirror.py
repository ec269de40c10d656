"""The mirror image of what a symmetric robot does: the bodies' places are images, and physics does the same to both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core.trajectory import Trajectory, split_qpos
from phuma.robots import built_in_robots, load_robot
from phuma.robots.kinematics import key_body_positions
from phuma.robots.mirror import SIDEWAYS, mirror_of
from phuma.sim.mujoco_cpu import MujocoSimulation


def some_states(robot, count: int = 20):
    """States anywhere within the joints' limits."""
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(count, 4))
    root = np.concatenate([rng.normal(size=(count, 3)), quat / np.linalg.norm(quat, axis=1, keepdims=True)], axis=1)
    qpos = np.concatenate([root, rng.uniform(robot.lower, robot.upper, (count, robot.n_joints))], axis=1)
    return qpos, rng.normal(size=(count, 6 + robot.n_joints))


@pytest.mark.parametrize("name", [*built_in_robots(), "g1-lock-wrist", "h1_2-lock-torso+wrist"])
def test_every_body_has_its_image(name):
    """Key bodies of an image lie where the other side's bodies are seen in a mirror; an image's image is the thing."""
    robot = load_robot(name)
    mirror = mirror_of(robot)
    qpos, qvel = some_states(robot)
    image = mirror.qpos(qpos)

    def positions(values):
        return key_body_positions(robot, Trajectory(robot.name, robot.joint_names, 50.0, *split_qpos(values)))

    swap = {"left": "right", "right": "left"}
    names = ["_".join(swap.get(part, part) for part in body.split("_")) for body in robot.key_bodies]
    partner = [robot.key_bodies.index(body) for body in names]
    np.testing.assert_allclose(positions(image), (SIDEWAYS * positions(qpos))[:, partner], atol=2e-3)
    np.testing.assert_allclose(mirror.qpos(image), qpos)
    np.testing.assert_allclose(mirror.velocity(mirror.velocity(qvel)), qvel)


def test_physics_does_the_same_to_an_image(g1):
    """A tenth of a second in the air from images of states, towards images of targets, leads to images."""
    mirror, (qpos, qvel) = mirror_of(g1), some_states(g1)
    qpos = np.concatenate(
        [qpos[:, :2], np.full((len(qpos), 1), 2.0), qpos[:, 3:7], np.tile(g1.default_pose, (20, 1))], 1
    )
    target = g1.default_pose + 0.2 * np.random.default_rng(1).normal(size=(len(qpos), g1.n_joints))
    ends = []
    for position, velocity, aim in (
        (qpos, qvel, target), (mirror.qpos(qpos), mirror.velocity(qvel), mirror.joints(target)),
    ):  # fmt: skip
        simulation = MujocoSimulation(g1, len(qpos), 4, 1)
        simulation.restore(position, velocity)
        for _ in range(5):
            simulation.step(aim)
        ends.append((simulation.qpos.copy(), simulation.qvel.copy()))
        simulation.close()
    np.testing.assert_allclose(ends[1][0][:, 7:], mirror.qpos(ends[0][0])[:, 7:], atol=5e-3)
    np.testing.assert_allclose(ends[1][0][:, :3], mirror.qpos(ends[0][0])[:, :3], atol=5e-3)
    assert np.abs(ends[0][0] - qpos).max() > 0.1


def test_a_robot_with_one_arm_longer_has_no_image(g1):
    """A joint whose image nobody is: there is no mirror."""
    pos = g1.body_pos.copy()
    pos[g1.joint_body[g1.joint_names.index("left_elbow_joint")]] += [0.05, 0.0, 0.0]
    assert mirror_of(replace(g1, body_pos=pos)) is None
    upper = g1.upper.copy()
    upper[g1.joint_names.index("left_knee_joint")] -= 0.1
    assert mirror_of(replace(g1, upper=upper)) is None


def test_a_robot_with_a_joint_locked_on_one_side_has_no_image():
    assert mirror_of(load_robot("g1", ["left_wrist_yaw*"])) is None
    assert mirror_of(load_robot("g1", ["left_elbow*=90", "right_elbow*=10"])) is None
