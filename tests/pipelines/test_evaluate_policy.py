"""What a policy learned from and is judged by: the library's motions, by name and content."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("duckdb")

from phuma.core import rotations as rot
from phuma.core.rollout import Rollout
from phuma.pipelines.evaluate_policy import judge_rollouts, library_id
from phuma.robots import load_robot
from tests.learning.sample_motions import dip, library, stand


@pytest.fixture(scope="module")
def g1():
    return load_robot("g1")


def test_a_library_is_known_by_its_names_and_its_coordinates_in_single_precision(g1):
    """Runs store this number, so it stays what it was."""
    found = library(g1, still=stand(g1), down=dip(g1))
    digest = hashlib.sha256(b"g1")
    for name, motion in zip(("still", "down"), found.motions):
        rows = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos], axis=1, dtype=np.float32)
        digest.update(f"\n{name} (51, 36)\n".encode() + rows.tobytes())
    assert library_id(found) == digest.hexdigest()[:16]
    assert library_id(library(g1, still=stand(g1), up=dip(g1))) != library_id(found)
    assert library_id(library(g1, still=stand(g1), down=dip(g1, depth=0.16))) != library_id(found)


def test_a_rollout_is_held_against_the_library_s_own_motion_in_double_precision(g1):
    """The motion itself has no error at all; a step aside is as large an error as the step."""
    found = library(g1, down=dip(g1))
    same = Rollout.of(found.motions[0], motion="down")
    total = judge_rollouts([same], found)["total"]
    assert total["success_0.15"] == 100
    assert total["mpjpe_global_mm"] == total["dof_acceleration_deg_per_frame2"] == 0
    aside = replace(same, root_pos=same.root_pos + [0.0, 0.1, 0.0], root_quat=rot.normalize(same.root_quat))
    assert judge_rollouts([aside], found)["total"]["mpjpe_global_mm"] == pytest.approx(100, abs=1e-6)
