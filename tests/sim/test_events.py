"""Events of episodes: within their ranges, filling them, and nothing where the scale is zero."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.core import rotations as rot
from phuma.core.tensors import to_numpy
from phuma.sim import events as d
from phuma.sim.state import State
from tests.learning.sample_states import any_states, as_tensors

COUNT = 3000


def rng():
    return np.random.default_rng(0)


def fills(values, half):
    """Within +- half and uniform there: nearly reaching it, with mean 0 and the deviation half / sqrt(3)."""
    half = np.broadcast_to(half, values.shape[1:])
    return (
        (np.abs(values) <= half * (1 + 1e-3)).all()
        and (np.abs(values).max(0) > 0.98 * half).all()
        and (np.abs(values.mean(0)) < 0.1 * half).all()
        and np.allclose(values.std(0), half / np.sqrt(3), rtol=0.1)
    )


def test_pushes_fill_the_table_s_ranges():
    linear, angular = d.pushes(rng(), COUNT)
    assert linear.dtype == angular.dtype == np.float32
    assert fills(linear, d.PUSH_LINEAR)
    assert fills(angular, d.PUSH_ANGULAR)


def test_milder_events_have_smaller_pushes_and_nearer_first_states():
    for own in (d.EventsCfg(pushes=True, start=1.0, noise=1.0), d.EventsCfg(push_linear=(0.1, 0.2, 0.3), start=0.5)):
        milder = d.milder(own, 0.5)
        assert (milder.start, milder.noise, milder.pushes) == (own.start / 2, own.noise, own.pushes)
        for one, other in zip(d.pushes(rng(), COUNT, milder), d.pushes(rng(), COUNT, own)):
            np.testing.assert_allclose(one, other / 2, rtol=1e-6)


def test_pushes_come_after_1_to_3_seconds():
    waits = d.push_waits(rng(), COUNT)
    assert fills((waits - 2.0)[:, None], 1.0)


def far(tensor, start):
    """Limits (N,) beyond anything."""
    joints = start.joint_pos.shape[1]
    return tensor(np.full(joints, -1e3)), tensor(np.full(joints, 1e3))


@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_first_states_are_off_by_the_table_s_ranges(tensor, scale):
    [start] = as_tensors(tensor, any_states(0, COUNT, joints=2, bodies=1))
    found = d.perturbed(rng(), start, scale, *far(tensor, start))

    def off(name):
        return to_numpy(getattr(found, name)).astype(float) - to_numpy(getattr(start, name))

    assert fills(off("root_pos"), scale * np.array(d.START_POS))
    assert fills(off("root_linvel"), scale * np.array(d.START_LINEAR))
    assert fills(off("root_angvel"), scale * np.array(d.START_ANGULAR))
    assert fills(off("joint_pos"), scale * d.START_JOINTS)
    turn = rot.multiply(to_numpy(found.root_quat).astype(float), rot.conjugate(to_numpy(start.root_quat).astype(float)))
    assert fills(rot.to_rotvec(turn), scale * np.array(d.START_ROT))
    np.testing.assert_allclose(np.linalg.norm(to_numpy(found.root_quat), axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(to_numpy(found.joint_vel), to_numpy(start.joint_vel))


def test_states_stay_of_the_library_and_precision_that_they_are_of(tensor):
    [start] = as_tensors(tensor, any_states(0))
    found = d.perturbed(rng(), start, 1.0, *far(tensor, start))
    for f in fields(State):
        assert type(getattr(found, f.name)) is type(getattr(start, f.name))
        assert getattr(found, f.name).dtype == getattr(start, f.name).dtype


def test_with_a_scale_of_nought_nothing_changes(tensor):
    [start] = as_tensors(tensor, any_states(0))
    found = d.perturbed(rng(), start, 0.0, *far(tensor, start))
    for f in fields(State):
        np.testing.assert_allclose(to_numpy(getattr(found, f.name)), to_numpy(getattr(start, f.name)), atol=1e-6)


def test_no_joint_begins_farther_beyond_its_limits_than_the_reference_is(tensor):
    [start] = as_tensors(tensor, any_states(0, COUNT, joints=2, bodies=1))
    lower, upper = np.array([-0.5, 0.0]), np.array([0.5, 0.25])
    found = to_numpy(d.perturbed(rng(), start, 1.0, tensor(lower), tensor(upper)).joint_pos)
    free = to_numpy(d.perturbed(rng(), start, 1.0, *far(tensor, start)).joint_pos)
    asked = to_numpy(start.joint_pos)
    assert (found >= np.minimum(lower, asked)).all()
    assert (found <= np.maximum(upper, asked)).all()
    inside = (free >= lower) & (free <= upper)
    np.testing.assert_array_equal(found[inside], free[inside])
    assert 0.1 < inside.mean() < 0.9
