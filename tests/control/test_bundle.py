"""Where a rollout is lost, whatever the simulation makes of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.control.bundle import lost_at
from phuma.sim.reference import at_control_rate
from tests.learning.sample_motions import dip


@pytest.mark.parametrize("wild", [1e12, np.inf, np.nan])
def test_a_rollout_is_lost_where_it_strays_or_diverges(g1, wild):
    motion = at_control_rate(dip(g1)).double()
    assert lost_at(motion.qpos, motion, g1) is None
    strays = motion.qpos.copy()
    strays[12:, 0] += 0.6
    assert lost_at(strays, motion, g1) == 12
    strays[20:] = wild
    assert lost_at(strays, motion, g1) == 12
    diverges = motion.qpos.copy()
    diverges[20:] = wild
    assert lost_at(diverges, motion, g1) == 20
    diverges[:] = wild
    assert lost_at(diverges, motion, g1) == 0
