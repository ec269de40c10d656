"""Compiled kinematics: velocities are what poses change by, quaternions are what matrices say."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

import mujoco

from phuma.core import rotations as rot
from phuma.robots.folder import load_robot
from phuma.robots.kinematics import Tree, body_quaternions, move_bodies, pose_bodies, tree_of
from tests.robots.posing import NAMES

RNG = np.random.default_rng(0)
STEP = 1e-6  # s

ODD = """
<mujoco><worldbody><body name="root"><freejoint/><geom size="0.1"/>
  <body name="a" pos="0.1 0.2 0.3" euler="20 30 40"><geom size="0.1"/>
    <joint axis="1 0 0" pos="0.05 -0.1 0.2"/><joint axis="0 0.6 0.8" pos="-0.3 0 0.1"/>
    <body name="b" pos="0 -0.4 0.1" euler="-50 10 0"><geom size="0.1"/>
      <joint axis="0 0 1" pos="0.2 0.1 0"/></body></body>
  <body name="c" pos="-0.2 0 0"><geom size="0.1"/></body>
</body></worldbody></mujoco>"""
"""Two hinges on one body, hinges that miss their body's origin, and a body without any"""


def odd_tree(model) -> Tree:
    return Tree(
        parents=np.array([-1, 0, 1, 0]),
        body_pos=model.body_pos[1:].copy(),
        body_rot=rot.to_matrix(model.body_quat[1:]),
        first_joint=np.array([0, 0, 2, 3, 3]),
        joint_axis=model.jnt_axis[1:].copy(),
        joint_anchor=model.jnt_pos[1:].copy(),
    )


def trees() -> dict[str, Tree]:
    odd = odd_tree(mujoco.MjModel.from_xml_string(ODD))
    return {name: tree_of(load_robot(name)) for name in NAMES} | {"odd": odd}


@pytest.fixture(params=[*NAMES, "odd"])
def tree(request) -> Tree:
    return trees()[request.param]


def any_motion(tree: Tree, count: int = 5) -> tuple[np.ndarray, ...]:
    """Root's pos, rotation wxyz, velocity and angular velocity in the world; joints' angles and speeds."""
    joints = len(tree.joint_axis)
    pos, speed, spin = RNG.normal(size=(3, count, 3))
    return pos, rot.normalize(RNG.normal(size=(count, 4))), speed, spin, *RNG.normal(size=(2, count, joints))


def posed(tree: Tree, pos, quat, joints) -> tuple[np.ndarray, ...]:
    """Bodies' positions and matrices, joints' axes and origins."""
    count, bodies, n = len(pos), len(tree.parents), len(tree.joint_axis)
    out = (
        np.empty((count, bodies, 3)),
        np.empty((count, bodies, 3, 3)),
        np.empty((count, n, 3)),
        np.empty((count, n, 3)),
    )
    pose_bodies(tree, np.arange(bodies), pos, rot.to_matrix(quat), joints, *out)
    return out


def moved(tree: Tree, pos, quat, speed, spin, joints, rates) -> tuple[np.ndarray, np.ndarray]:
    """Bodies' velocities and angular velocities."""
    body_p, _, axis, origin = posed(tree, pos, quat, joints)
    out = np.empty_like(body_p), np.empty_like(body_p)
    move_bodies(tree, np.arange(len(tree.parents)), pos, speed, spin, rates, body_p, axis, origin, *out)
    return out


def test_velocities_are_what_poses_change_by(tree):
    pos, quat, speed, spin, joints, rates = motion = any_motion(tree)
    ends = []
    for t in (-STEP, STEP):
        rotated = rot.multiply(rot.from_rotvec(t * spin), quat)
        ends.append(posed(tree, pos + t * speed, rotated, joints + t * rates)[:2])
    linear, angular = moved(tree, *motion)
    (p0, r0), (p1, r1) = ends
    np.testing.assert_allclose(linear, (p1 - p0) / (2 * STEP), atol=1e-7)
    change = rot.to_rotvec(rot.from_matrix(r1 @ np.swapaxes(r0, -1, -2))) / (2 * STEP)
    np.testing.assert_allclose(angular, change, atol=1e-7)


def test_velocities_of_odd_hinges_are_mujocos():
    model = mujoco.MjModel.from_xml_string(ODD)
    tree, data, velocity = odd_tree(model), mujoco.MjData(model), np.zeros(6)
    motion = any_motion(tree)
    linear, angular = moved(tree, *motion)
    for t, (pos, quat, speed, spin, joints, rates) in enumerate(zip(*motion)):
        own = rot.rotate(rot.conjugate(quat), spin)
        data.qpos[:], data.qvel[:] = np.r_[pos, quat, joints], np.r_[speed, own, rates]
        mujoco.mj_forward(model, data)
        for b in range(4):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, b + 1, velocity, 0)
            np.testing.assert_allclose(angular[t, b], velocity[:3], atol=1e-10)
            np.testing.assert_allclose(linear[t, b], velocity[3:], atol=1e-10)


def test_a_robot_that_only_falls_has_one_velocity(tree):
    pos, quat, speed, spin, joints, rates = any_motion(tree)
    linear, angular = moved(tree, pos, quat, speed, 0 * spin, joints, 0 * rates)
    np.testing.assert_allclose(linear, np.broadcast_to(speed[:, None], linear.shape), atol=1e-12)
    np.testing.assert_array_equal(angular, 0 * angular)


def quaternions_of(quat: np.ndarray) -> np.ndarray:
    """Through the matrix and back, by compiled code."""
    matrix = np.ascontiguousarray(rot.to_matrix(quat))[:, None]
    out = np.empty((len(quat), 1, 4))
    body_quaternions(matrix, np.array([0]), out)
    return out[:, 0]


@pytest.mark.parametrize("largest", [0, 1, 2, 3])
def test_quaternions_are_the_cores_whichever_component_is_largest(largest):
    quat = rot.normalize(RNG.normal(size=(2000, 4)))
    quat = quat[np.argmax(np.abs(quat), axis=1) == largest]
    found = quaternions_of(quat)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(found * quat, axis=1)), 1, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(found * rot.from_matrix(rot.to_matrix(quat)), axis=1)), 1, atol=1e-12)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("less", [0.0, 1e-9, -1e-9, 1e-4])
def test_half_turns_and_their_neighbours_have_their_quaternion(axis, less):
    quat = rot.from_axis(axis, np.array([np.pi - less]))
    apart = rot.to_rotvec(rot.multiply(rot.conjugate(quat), quaternions_of(quat)))
    np.testing.assert_allclose(apart, 0, atol=1e-12)


def test_half_turns_about_slanted_axes_have_their_quaternion():
    axes = np.array([[1, 1, 0], [1, 0, 1], [0, 1, -1], [1, 1, 1], [-1, 1, 1], [0.1, -1, 1]])
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    quat = np.concatenate([np.zeros((6, 1)), axes], axis=1)
    np.testing.assert_allclose(np.abs(np.sum(quaternions_of(quat) * quat, axis=1)), 1, atol=1e-12)


def test_quaternions_are_of_the_bodies_asked_for():
    quat = rot.normalize(RNG.normal(size=(6, 4, 4)))
    out = np.empty((6, 2, 4))
    body_quaternions(np.ascontiguousarray(rot.to_matrix(quat)), np.array([3, 1]), out)
    np.testing.assert_allclose(np.abs(np.sum(out * quat[:, [3, 1]], axis=-1)), 1, atol=1e-12)
