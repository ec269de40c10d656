"""Bones lie between the joints that they join."""

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.skeleton import JOINTS, PARENTS
from phuma.viewer import style
from phuma.viewer.figure import BONES, HEAD_RADIUS, JOINT_RADIUS, bone_colours, bone_mesh, figure_of, soles_of

UP = np.array([0.0, 0.0, 1.0])


def test_a_bone_reaches_from_parent_to_joint_in_every_frame(motion):
    joints = motion.pose.position
    figure = figure_of(joints)
    assert figure.middle.shape == (60, 21, 3)
    half = 0.5 * figure.length[None, :, None] * rot.rotate(figure.rotation, np.broadcast_to(UP, figure.middle.shape))
    for n, j in enumerate(BONES):
        np.testing.assert_allclose(figure.middle[:, n] - half[:, n], joints[:, PARENTS[j]], atol=1e-9)
        np.testing.assert_allclose(figure.middle[:, n] + half[:, n], joints[:, j], atol=1e-9)


def test_every_joint_but_the_root_has_a_bone_in_the_order_of_joints():
    assert [JOINTS[j] for j in BONES] == list(JOINTS[1:])


def test_a_bone_ends_in_its_joint_and_the_heads_ball_is_on_the_neck():
    for n, j in enumerate(BONES):
        vertices, faces = bone_mesh(n, 0.4)
        ball = HEAD_RADIUS if JOINTS[j] == "head" else JOINT_RADIUS
        top = 0.2 + (1.8 if JOINTS[j] == "head" else 1.0) * ball
        assert vertices[:, 2].max() == pytest.approx(top)
        assert np.abs(vertices[:, :2]).max() == pytest.approx(ball, rel=0.02)
        assert vertices[:, 2].min() == pytest.approx(-0.2 - JOINT_RADIUS * (JOINTS[j] == "spine1"))
        assert faces.max() < len(vertices)


def test_soles_are_where_their_points_are(motion):
    points = motion.sole_positions().reshape(len(motion), 4, -1, 3)
    for r, sole in enumerate(soles_of(motion)):
        np.testing.assert_allclose(sole.middle, points[:, r].mean(axis=1), atol=1e-9)
        for t in (0, 31):
            plate = sole.middle[t] + rot.rotate(sole.rotation[t], sole.vertices)
            # The plate is as large as the points are apart, and each corner lies beside one of them.
            away = np.linalg.norm(plate[:, None] - points[t, r], axis=-1).min(axis=1)
            assert away.max() < 0.02
            np.testing.assert_allclose(np.ptp(plate, axis=0), np.ptp(points[t, r], axis=0), atol=0.03)


def test_joints_that_coincide_and_bones_that_hang_give_numbers():
    one_point = figure_of(np.ones((3, 22, 3)))
    hanging = figure_of(np.arange(22)[None, :, None] * [[[0.0, 0.0, -0.1]]])
    for figure in (one_point, hanging):
        for values in vars(figure).values():
            assert np.isfinite(values).all()
        np.testing.assert_allclose(np.linalg.norm(figure.rotation, axis=-1), 1)
    np.testing.assert_allclose(
        rot.rotate(hanging.rotation, np.broadcast_to(UP, hanging.middle.shape)) + UP, 0, atol=1e-9
    )
    assert (one_point.length == 0).all()


def test_left_and_right_have_their_colours():
    of = dict(zip(JOINTS[1:], bone_colours()))
    assert len(of) == len(BONES)
    assert {of[n] for n in of if "left" in n} == {style.LEFT}
    assert {of[n] for n in of if "right" in n} == {style.RIGHT}
    assert {of[n] for n in of if "left" not in n and "right" not in n} == {style.TRUNK}
