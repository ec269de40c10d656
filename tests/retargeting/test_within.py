"""Motions that are solved within a share of the joints' ranges, for trainers that clip joints to it."""

from __future__ import annotations

import numpy as np
import pytest

import phuma
from phuma.errors import ConfigError
from phuma.robots import load_robot
from phuma.synth import generate


@pytest.fixture(scope="module")
def robot():
    return load_robot("g1")


@pytest.fixture(scope="module")
def kick():
    return generate("kick", 3.0, 3).motion


def test_the_middle_of_a_range_is_kept_and_its_ends_are_taken_off_alike(robot):
    lower, upper = robot.middle_range(0.9)
    np.testing.assert_allclose(upper - lower, 0.9 * (robot.upper - robot.lower))
    np.testing.assert_allclose(upper + lower, robot.upper + robot.lower, atol=1e-12)


@pytest.mark.parametrize("method", ["physink", "physink+dynamics"])
def test_joints_stay_within_and_nothing_else_is_lost(robot, kick, method):
    lower, upper = robot.middle_range(0.9)
    free, kept = (phuma.retarget(kick, robot, method, within=within) for within in (1.0, 0.9))
    assert ((free.joint_pos < lower) | (free.joint_pos > upper)).any(), "else this says nothing"
    assert ((kept.joint_pos >= lower) & (kept.joint_pos <= upper)).all()
    for name in ("fidelity", "feasibility"):
        assert kept.report["metrics"][name] > 95
    clipped = np.clip(free.joint_pos, lower, upper)
    assert np.abs(kept.joint_pos - clipped).max() > 1e-3, "they are solved, not clipped: other joints give way"


def test_methods_without_limits_and_shares_without_sense_are_refused(robot, kick):
    for within, method, says in (
        (0.9, "ik", "method 'ik' keeps no limits that could be narrowed; these do: sink\\+feasibility, sink\\+ground"),
        (0.9, "sink", "method 'sink' keeps no limits"),
        (1.2, "physink", "within 1.2 of the joints' ranges; expected between 0.5 and 1"),
    ):
        with pytest.raises(ConfigError, match=says):
            phuma.retarget(kick, robot, method, within=within)
