"""Bones lie between the joints that they join."""

import numpy as np
import pytest

from phuma import rotations as rot
from phuma.skeleton import INDEX, JOINTS, PARENTS
from phuma.view import style
from phuma.view.figure import BONES, HEAD_RADIUS, bone_colours, figure_of, joint_colours

UP = np.array([0.0, 0.0, 1.0])


def test_a_bone_reaches_from_parent_to_joint_in_every_frame(motion):
    joints = motion.pose.position
    figure = figure_of(joints)
    assert figure.middle.shape == (60, 21, 3)
    half = 0.5 * figure.length[None, :, None] * rot.rotate(figure.turn, np.broadcast_to(UP, figure.middle.shape))
    for n, j in enumerate(BONES):
        np.testing.assert_allclose(figure.middle[:, n] - half[:, n], joints[:, PARENTS[j]], atol=1e-9)
        np.testing.assert_allclose(figure.middle[:, n] + half[:, n], joints[:, j], atol=1e-9)


def test_every_joint_but_the_root_has_a_bone_in_the_order_of_joints():
    assert [JOINTS[j] for j in BONES] == list(JOINTS[1:])


def test_joints_are_where_they_were_but_for_the_head_which_is_a_ball_on_the_neck(motion):
    joints = motion.pose.position
    before = joints.copy()
    figure = figure_of(joints)
    np.testing.assert_array_equal(joints, before)
    head, neck = INDEX["head"], INDEX["neck"]
    others = [j for j in range(22) if j != head]
    np.testing.assert_array_equal(figure.joints[:, others], joints[:, others])
    along = joints[:, head] - joints[:, neck]
    moved = figure.joints[:, head] - joints[:, head]
    np.testing.assert_allclose(np.linalg.norm(moved, axis=-1), 0.8 * HEAD_RADIUS)
    np.testing.assert_allclose(np.cross(moved, along), 0, atol=1e-12)
    assert (np.sum(moved * along, axis=-1) > 0).all()


def test_joints_that_coincide_and_bones_that_hang_give_numbers():
    one_point = figure_of(np.ones((3, 22, 3)))
    hanging = figure_of(np.arange(22)[None, :, None] * [[[0.0, 0.0, -0.1]]])
    for figure in (one_point, hanging):
        for values in vars(figure).values():
            assert np.isfinite(values).all()
        np.testing.assert_allclose(np.linalg.norm(figure.turn, axis=-1), 1)
    np.testing.assert_allclose(rot.rotate(hanging.turn, np.broadcast_to(UP, hanging.middle.shape)) + UP, 0, atol=1e-9)
    assert (one_point.length == 0).all()


@pytest.mark.parametrize(("names", "colours"), [(JOINTS[1:], bone_colours()), (JOINTS, joint_colours())])
def test_left_and_right_have_their_colours(names, colours):
    assert len(names) == len(colours)
    of = dict(zip(names, colours))
    assert {of[n] for n in names if "left" in n} == {style.LEFT}
    assert {of[n] for n in names if "right" in n} == {style.RIGHT}
    assert {of[n] for n in names if "left" not in n and "right" not in n} == {style.TRUNK}
    assert len({style.LEFT, style.RIGHT, style.TRUNK}) == 3
