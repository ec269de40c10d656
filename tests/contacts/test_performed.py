"""Contacts of a robot under physics: where the ground bears it, and what part of the foot is down."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from phuma.contacts.performed import BY_FORCE, LEAST_FORCE, LIFTED, force_contacts, performed_motion
from phuma.contacts.robot_soles import JUDGED
from phuma.core.provenance import Provenance
from phuma.core.rollout import Rollout
from phuma.robots import load_robot
from phuma.robots.masses import weight_of
from phuma.sim.model import simulation_model

G1 = load_robot("g1")
FRAMES = 12
WEIGHT = weight_of(G1)


def standing(force, pitch=0.0):
    """A robot that stands, with vertical forces (T - 1, 2) in body weights; `pitch` turns the left foot toe down."""
    joints = np.tile(G1.default_pose, (FRAMES, 1))
    joints[:, G1.joint_names.index("left_ankle_pitch_joint")] += pitch
    root = np.tile([0.0, 0.0, G1.default_height], (FRAMES, 1))
    forces = np.zeros((FRAMES - 1, 2, 3))
    forces[:, :, 2] = WEIGHT * np.asarray(force)
    quat = np.tile([1.0, 0, 0, 0], (FRAMES, 1))
    return Rollout("g1", G1.joint_names, 50.0, root, quat, joints, motion="x", foot_force=forces)


def test_who_stands_flat_on_both_feet_has_both_heels_and_toes_down():
    np.testing.assert_array_equal(force_contacts(G1, standing([[0.5, 0.5]] * (FRAMES - 1))), 1.0)


def test_a_foot_that_bears_nothing_is_in_no_contact_however_low_it_is():
    contact = force_contacts(G1, standing([[1.0, 0.9 * LEAST_FORCE]] * (FRAMES - 1)))
    np.testing.assert_array_equal(contact[:, :2], 1.0)
    np.testing.assert_array_equal(contact[:, 2:], 0.0)


@pytest.mark.parametrize(("pitch", "down"), [(0.3, [0, 1]), (-0.3, [1, 0])])
def test_of_a_foot_on_its_toes_the_heel_is_in_no_contact(pitch, down):
    contact = force_contacts(G1, standing([[0.5, 0.5]] * (FRAMES - 1), pitch))
    np.testing.assert_array_equal(contact, np.tile([*down, 1, 1], (FRAMES, 1)))


def test_a_frame_is_in_contact_if_the_ground_bears_before_or_after_it():
    force = np.zeros((FRAMES - 1, 2))
    force[5:, 0] = 1.0
    contact = force_contacts(G1, standing(force))
    np.testing.assert_array_equal(contact[:, 0], np.arange(FRAMES) >= 5)
    assert not contact[:, 2:].any()


def test_they_are_the_simulations_own_contacts():
    """Dropped from 5 cm, the feet reach the ground when MuJoCo says so."""
    model = simulation_model(G1, 4)
    data, feet = mujoco.MjData(model), G1.sole_body[::2] + 1
    data.qpos = [0, 0, G1.default_height + 0.05, 1, 0, 0, 0, *G1.default_pose]
    states, forces, touched = [data.qpos.copy()], [], [False]
    for _ in range(20):
        data.ctrl = G1.default_pose
        force = np.zeros((2, 3))
        for _ in range(4):
            mujoco.mj_step(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            force += data.cfrc_ext[feet, 3:] / 4
        states.append(data.qpos.copy())
        forces.append(force)
        touched.append(data.ncon > 0)
    qpos = np.array(states)
    quat = qpos[:, 3:7] / np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    path = (50.0, qpos[:, :3], quat, qpos[:, 7:])
    rollout = Rollout("g1", G1.joint_names, *path, motion="drop", foot_force=np.array(forces))
    found = force_contacts(G1, rollout).any(axis=1)
    first = int(np.argmax(touched))
    assert 2 < first < 15, "else this says nothing"
    assert not found[: first - 1].any()
    assert found[first:].all()


def test_the_motion_says_how_its_contacts_were_found_and_keeps_its_origin():
    rollout = standing([[0.5, 0.5]] * (FRAMES - 1))
    origin = Provenance("walk.bvh", "bvh", "free", True, notes=("one",))
    motion = performed_motion(rollout, G1, origin)
    assert motion.provenance == replace(origin, notes=("one", BY_FORCE))
    blind = performed_motion(replace(rollout, foot_force=None), G1, origin)
    assert blind.provenance.notes == ("one", JUDGED)
    assert (blind.foot_force, blind.torque, blind.velocity) == (None, None, None)


def test_what_was_recorded_between_frames_belongs_to_the_frame_before():
    torque = np.arange(FRAMES - 1.0)[:, None] + np.arange(G1.n_joints)
    rollout = replace(standing([[0.5, 0.5]] * (FRAMES - 1)), torque=torque)
    backwards = rollout.reordered(G1.joint_names[::-1])
    for given in (rollout, backwards):
        motion = performed_motion(given, G1, Provenance("x", "y"))
        np.testing.assert_array_equal(motion.torque[:-1], torque)
        np.testing.assert_array_equal(motion.torque[-1], torque[-1])


def test_the_height_that_counts_as_lifted_is_less_than_a_foot_turns_by_when_it_rolls():
    """A G1's sole is about 17 cm long: 1 cm is 3 degrees."""
    length = np.linalg.norm(np.diff(G1.sole_point.reshape(2, 2, 3), axis=1), axis=-1)
    assert (np.degrees(np.arcsin(LIFTED / length)) < 5).all()
