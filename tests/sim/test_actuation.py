"""What reaches the motors: late by as many control steps as said, and off by no more torque than said."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.sim.actuation import Actuation
from phuma.sim.events import EventsCfg

OLD, FRESH = np.zeros(3, dtype=bool), np.ones(3, dtype=bool)


def target(g1, value):
    """Three environments that are told one number."""
    return np.full((3, g1.n_joints), value, dtype=np.float32)


def told(actuation, tensor, values, g1, fresh=OLD):
    return np.asarray(actuation(tensor(values), fresh))[:, 0].tolist()


def test_each_environment_is_late_by_its_own_delay_and_an_episode_begins_with_its_first_target(tensor, g1):
    own = Actuation(g1, EventsCfg(delay=np.array([0, 1, 2])), np.random.default_rng(0))
    assert told(own, tensor, target(g1, 1), g1, FRESH) == [1, 1, 1]
    assert told(own, tensor, target(g1, 2), g1) == [2, 1, 1]
    assert told(own, tensor, target(g1, 3), g1) == [3, 2, 1]
    assert told(own, tensor, target(g1, 4), g1) == [4, 3, 2]
    assert told(own, tensor, target(g1, 5), g1, np.array([False, False, True])) == [5, 4, 5]
    assert told(own, tensor, target(g1, 6), g1) == [6, 5, 5]


def test_one_delay_is_that_of_all_environments(tensor, g1):
    own = Actuation(g1, EventsCfg(delay=1), np.random.default_rng(0))
    assert told(own, tensor, target(g1, 1), g1, FRESH) == [1, 1, 1]
    assert told(own, tensor, target(g1, 2), g1) == [1, 1, 1]
    assert told(own, tensor, target(g1, 3), g1) == [2, 2, 2]


def test_torques_fill_their_share_of_the_limits_and_no_more(tensor, g1):
    own = Actuation(g1, EventsCfg(torque=0.05), np.random.default_rng(0))
    drawn = [np.asarray(own(tensor(target(g1, 1)), OLD)) - 1 for _ in range(300)]
    torque = np.abs(drawn).max(axis=(0, 1)) * g1.stiffness
    assert (torque <= 0.0501 * g1.torque_limit).all()
    assert (torque > 0.045 * g1.torque_limit).all()


def test_without_either_targets_arrive_as_they_are(g1):
    values = target(g1, 1)
    assert Actuation(g1, EventsCfg(), np.random.default_rng(0))(values, OLD) is values
