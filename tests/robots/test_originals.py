"""The built-in robots are the machines that Unitree's own files describe."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
import mujoco

from phuma.robots import load_robot
from tests.robots.originals import original
from tests.robots.posing import NAMES, compiled, half_extent, posed, some_poses

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
def test_kinematics_are_the_originals(name):
    source = original(name)
    robot, theirs = load_robot(name), mujoco.MjModel.from_xml_path(str(source.mjcf))
    ours = compiled(robot)
    for joints in some_poses(robot, 200):
        a, b = posed(ours, joints), posed(theirs, joints)
        ids = [theirs.body(n).id for n in robot.body_names]
        np.testing.assert_allclose(a.xpos[1:], b.xpos[ids], atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(a.xquat[1:] * b.xquat[ids], axis=1)), 1, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_masses_and_inertias_are_the_originals(name):
    theirs = mujoco.MjModel.from_xml_path(str(original(name).mjcf))
    robot = load_robot(name)
    ours = compiled(robot)
    assert ours.body_mass.sum() == pytest.approx(theirs.body_mass.sum(), rel=1e-9)
    for joints in some_poses(robot, 20):
        a, b = (_mass_matrix(m, joints) for m in (ours, theirs))
        # Relative to what the two coordinates would have each alone: a coupling near zero has no relative error.
        scale = np.sqrt(np.outer(np.diag(b), np.diag(b)))
        assert np.diag(b).min() > 0
        assert (np.abs(a - b) / scale).max() < 1e-3


def _mass_matrix(model, joints) -> np.ndarray:
    data = posed(model, joints)
    mujoco.mj_crb(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full - np.diag(model.dof_armature)


@pytest.mark.parametrize("name", NAMES)
def test_joint_order_and_limits_are_the_originals(name):
    source, robot = original(name), load_robot(name)
    theirs = mujoco.MjModel.from_xml_path(str(source.mjcf))
    limits = source.urdf_limits()
    assert robot.joint_names == tuple(theirs.joint(j).name for j in range(1, theirs.njnt))
    assert sorted(robot.joint_names) == sorted(limits)
    for key, ours in (
        ("lower", robot.lower),
        ("upper", robot.upper),
        ("effort", robot.torque_limit),
        ("velocity", robot.velocity_limit),
    ):
        np.testing.assert_allclose(ours, [limits[n][key] for n in robot.joint_names], atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", NAMES)
def test_soles_are_the_extents_of_the_feet(name):
    source, robot = original(name), load_robot(name)
    for s, side in enumerate(("left", "right")):
        foot = source.mesh(f"{side}_ankle_roll_link")
        sole = robot.sole_corners[s]
        np.testing.assert_allclose(sole.min(axis=0), foot.min(axis=0), atol=2e-3)
        np.testing.assert_allclose(sole.max(axis=0)[:2], foot.max(axis=0)[:2], atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_shapes_lie_within_the_links(name):
    """No shape reaches more than a centimetre beyond the box around the link's real shape."""
    source, robot = original(name), load_robot(name)
    model = compiled(robot)
    data = posed(model, np.zeros(robot.n_joints))
    for body, parts in ((b, source.meshes_of(b)) for b in robot.body_names):
        geoms = np.flatnonzero(model.geom_bodyid == model.body(body).id)
        shape = np.concatenate(parts)
        pos, matrix = data.body(body).xpos, data.body(body).xmat.reshape(3, 3)
        for g in geoms:
            middle, half = data.geom_xpos[g], half_extent(model, data, g)
            real = pos + shape @ matrix.T
            assert (middle - half > real.min(axis=0) - 0.01).all(), (body, g)
            assert (middle + half < real.max(axis=0) + 0.01).all(), (body, g)
