"""Forward kinematics of all joints at a time is that of one joint after another, to the last bit."""

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.forward_kinematics import FRAMES, forward_kinematics, world_rotations
from phuma.core.human_motion import TOGETHER, pose_together
from phuma.core.skeleton import N_JOINTS, PARENTS
from phuma.synth import generate

RNG = np.random.default_rng(0)


def one_by_one(offsets, root_pos, quat):
    position, rotation = [root_pos], [quat[:, 0]]
    for j in range(1, N_JOINTS):
        p = PARENTS[j]
        position.append(position[p] + rot.rotate(rotation[p], offsets[j]))
        rotation.append(rot.multiply(rotation[p], quat[:, j]))
    return np.stack(position, axis=1), np.stack(rotation, axis=1)


@pytest.mark.parametrize("frames", [1, 2, FRAMES, 2 * FRAMES + 3])
def test_it_is_that_of_one_joint_after_another(frames):
    offsets, root = RNG.normal(size=(N_JOINTS, 3)), RNG.normal(size=(frames, 3))
    quat = rot.normalize(RNG.normal(size=(frames, N_JOINTS, 4)))
    for found, expected in zip(forward_kinematics(offsets, root, quat), one_by_one(offsets, root, quat)):
        np.testing.assert_array_equal(found, expected)
        assert found.flags.c_contiguous
    np.testing.assert_array_equal(world_rotations(quat), one_by_one(offsets, root, quat)[1])


def test_single_precision_is_posed_in_double_and_its_rotations_stay_single():
    offsets, root = RNG.normal(size=(N_JOINTS, 3)), RNG.normal(size=(5, 3))
    quat = rot.normalize(RNG.normal(size=(5, N_JOINTS, 4))).astype(np.float32)
    expected = one_by_one(offsets, root, quat.astype(float))
    for found, wanted in zip(forward_kinematics(offsets, root, quat), expected):
        np.testing.assert_array_equal(found, wanted)
    assert world_rotations(quat).dtype == np.float32


def test_motions_that_are_posed_together_have_the_poses_that_each_has_alone():
    motion = generate("walk", 3.0, 1).motion
    parts = [motion.frames(0, 20), motion.frames(20, 50)]
    alone = [part.body.forward(part.root_pos, part.joint_quat) for part in parts]
    pose_together(parts)
    for part, expected in zip(parts, alone):
        assert "pose" in vars(part)
        np.testing.assert_array_equal(part.pose.position, expected.position)
        np.testing.assert_array_equal(part.pose.rotation, expected.rotation)


def test_long_motions_are_not_posed_together():
    short = generate("walk", 3.0, 1).motion.frames(0, 10)
    motions = [short] * (TOGETHER // 10 + 1)
    pose_together(motions)
    assert "pose" not in vars(short)
