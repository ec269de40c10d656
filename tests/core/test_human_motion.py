"""Motions are checked when made; mirroring and cutting are what they say."""

import numpy as np
import pytest

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.skeleton import INDEX, MIRROR_JOINTS, MIRROR_SOLE
from phuma.curation import curate
from phuma.errors import PhumaError
from tests.motions import smooth_motion


def remade(motion, **changes):
    parts = {"body": motion.body, "root_pos": motion.root_pos, "joint_quat": motion.joint_quat, "fps": motion.fps}
    return HumanMotion(**(parts | changes), provenance=motion.provenance)


@pytest.mark.parametrize(
    ("field", "spoil", "says"),
    [
        ("root_pos", lambda m: m.root_pos[:, :2], "expected (frames, 3)"),
        ("root_pos", lambda m: m.root_pos[:-1], "same number"),
        ("root_pos", lambda m: np.where(np.arange(60)[:, None] == 7, np.nan, m.root_pos), "nan at index (7, 0)"),
        ("joint_quat", lambda m: m.joint_quat * 1.1, "length 1.1"),
        ("joint_quat", lambda m: m.joint_quat[:, :21], "expected (frames, 22, 4)"),
        ("fps", lambda m: 0.0, "frame rate of 0"),
        ("fps", lambda m: float("inf"), "frame rate of inf"),
    ],
)
def test_what_is_wrong_is_named(motion, field, spoil, says):
    with pytest.raises(PhumaError) as e:
        remade(motion, **{field: spoil(motion)})
    assert says in str(e.value)


def test_arrays_cannot_be_changed(motion):
    with pytest.raises(ValueError, match="read-only"):
        motion.root_pos[0, 0] = 1


def test_whoever_made_the_arrays_cannot_change_them_either(motion):
    mine = motion.root_pos.copy()
    made = remade(motion, root_pos=mine)
    mine[0] = np.nan
    assert np.isfinite(made.root_pos).all()


def test_printing_is_one_line(motion):
    for thing in (motion, motion.body, FootContacts(np.zeros((5, 4)), 30.0), curate(motion), curate(motion).clips[0]):
        assert len(repr(thing)) < 300
        assert "\n" not in repr(thing)


def test_mirror_reflects_every_joint_and_sole_point(motion):
    across = np.array([1.0, -1.0, 1.0])
    mirrored = motion.mirror()
    np.testing.assert_allclose(mirrored.pose.position, motion.pose.position[:, MIRROR_JOINTS] * across, atol=1e-12)
    np.testing.assert_allclose(mirrored.sole_positions(), motion.sole_positions()[:, MIRROR_SOLE] * across, atol=1e-12)


def test_mirroring_twice_is_nothing(motion):
    again = motion.mirror().mirror()
    np.testing.assert_allclose(again.pose.position, motion.pose.position, atol=1e-12)
    assert again.provenance == motion.provenance


def test_contacts_mirror_with_their_feet():
    contact = FootContacts(np.array([[0.1, 0.2, 0.3, 0.4]]), 30.0)
    np.testing.assert_array_equal(contact.mirror().ratio, [[0.3, 0.4, 0.1, 0.2]])


def test_cut_keeps_time():
    motion = smooth_motion(open_body(), frames=300, fps=30.0)
    part = motion.cut(2.0, 5.0).cut(1.0, 2.0)
    np.testing.assert_array_equal(part.root_pos, motion.root_pos[90:120])
    assert part.provenance.start == pytest.approx(3.0)
    assert motion.cut(9.0, 99.0).duration == pytest.approx(1.0)
    with pytest.raises(PhumaError, match=r"lasts 10\.00 s"):
        motion.cut(11.0)


def test_bones_keep_their_lengths(motion):
    """Forward kinematics moves joints, it does not stretch bones."""
    position = motion.pose.position
    thigh = np.linalg.norm(position[:, INDEX["left_knee"]] - position[:, INDEX["left_hip"]], axis=1)
    np.testing.assert_allclose(thigh, np.linalg.norm(motion.body.offsets[INDEX["left_knee"]]), atol=1e-12)


def test_a_turned_frame_turns_everything(motion):
    turn = rot.from_rotvec(np.array([0.3, -0.8, 1.1]))
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    turned = remade(motion, root_pos=rot.rotate(turn, motion.root_pos), joint_quat=quat)
    np.testing.assert_allclose(turned.sole_positions(), rot.rotate(turn, motion.sole_positions()), atol=1e-12)
